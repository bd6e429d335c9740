#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "encdec/speech/transcription/transcribe_settings.h"
#include "python/src/keywords.h"
#include "python/src/option_rows.h"
#include "speech/python/transcripts.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

constexpr std::string_view kVadPrefix = "vad_";

bool is_vad_parameter(const OptionInfo& row) {
  return row.name.starts_with(kVadPrefix) && row.name != "vad_model";
}

// Reads vad_parameters, a dict with faster-whisper's keys, which are our option names without "vad_".
void read_vad_parameters(Keywords& keywords, TranscribeOptions& options) {
  const nb::object given = keywords.take("vad_parameters");
  if (!given.is_valid()) return;
  if (!nb::isinstance<nb::dict>(given)) refuse_value("vad_parameters", given, "a dict");
  if (options.vad_model.empty()) throw ConfigError("vad_parameters without vad_model, expected both");
  Keywords parameters(nb::cast<nb::dict>(given));
  for (const auto& row : transcribe_settings()) {
    if (is_vad_parameter(row)) read_option(parameters, row, row.value(options), kVadPrefix);
  }
  parameters.finish();
}

}  // namespace

TranscribeOptions transcribe_options(const nb::dict& dict) {
  // "rules", "fp16" and "verbose" are accepted only with a value that has no effect.
  Keywords keywords(dict);
  std::string rules = "openai";
  keywords.read(rules, "rules");
  if (rules != "openai") throw ConfigError(fmt::format("rules is '{}', expected openai", rules));
  TranscribeOptions options;
  for (const auto& row : transcribe_settings()) {
    if (!is_vad_parameter(row)) read_option(keywords, row, row.value(options));
  }
  read_vad_parameters(keywords, options);
  check_ranges(transcribe_settings(), options);
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.workers, "workers");
  for (const char* name : {"fp16", "verbose"}) keywords.check_neutral(name);
  keywords.finish();
  return options;
}

LiveOptions live_options(const nb::dict& dict, const nb::dict& transcribe) {
  Keywords keywords(dict);
  LiveOptions options;
  options.transcribe = transcribe_options(transcribe);
  read_rows(keywords, live_settings(), options);
  check_ranges(live_settings(), options);
  keywords.read(options.finds_utterances, "finds_utterances");
  keywords.finish();
  return options;
}

TranscriptLineOptions transcript_line_options(const nb::dict& dict) {
  Keywords keywords(dict);
  TranscriptLineOptions options;
  read_rows(keywords, transcript_line_settings(), options);
  check_ranges(transcript_line_settings(), options);
  keywords.finish();
  if (options.max_line_count && !options.max_line_width) {
    throw ConfigError("max_line_count without max_line_width, expected both");
  }
  return options;
}

std::vector<std::string> transcribe_option_names() {
  std::vector<std::string> names{"rules", "vad_parameters", "batch_size", "workers", "fp16", "verbose"};
  for (const auto& row : transcribe_settings()) {
    if (!is_vad_parameter(row)) add_names(row, names);
  }
  return names;
}

std::vector<std::string> live_option_names() {
  std::vector<std::string> names{"finds_utterances"};
  for (const auto& row : live_settings()) add_names(row, names);
  return names;
}

}  // namespace encdec::python
