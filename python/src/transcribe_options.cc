#include <nanobind/nanobind.h>

#include <limits>

#include "keywords.h"
#include "options.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// Reads an option for which None means no value.
template <class T>
void read_or_reset(Keywords& keywords, std::optional<T>& value, std::string_view name, std::string_view other = {}) {
  if (keywords.is_none(name) || (!other.empty() && keywords.is_none(other))) value.reset();
  keywords.read(value, name, other);
}

void read_task(Keywords& keywords, SpeechTask& task) {
  std::string word = "transcribe";
  keywords.read(word, "task");
  if (word != "transcribe" && word != "translate") {
    throw ConfigError(fmt::format("task is '{}', expected transcribe or translate", word));
  }
  task = word == "translate" ? SpeechTask::translate : SpeechTask::transcribe;
}

SpeechRules read_rules(Keywords& keywords) {
  std::string word = "openai";
  keywords.read(word, "rules");
  if (const auto rules = speech_rules_named(word)) return *rules;
  throw ConfigError(fmt::format("rules is '{}', expected openai or transformers", word));
}

// Reads one token id or a list of them; -1 is allowed too. None means no tokens.
void read_suppressed(Keywords& keywords, std::vector<std::int32_t>& tokens) {
  constexpr std::string_view kName = "suppress_tokens";
  if (keywords.is_none(kName)) tokens.clear();
  nb::object value = keywords.take(kName);
  if (!value.is_valid()) return;
  if (nb::hasattr(value, "tolist")) value = value.attr("tolist")();
  if (PyIndex_Check(value.ptr()) != 0) value = nb::make_tuple(value);
  if (PyList_Check(value.ptr()) == 0 && PyTuple_Check(value.ptr()) == 0) refuse_value(kName, value, "token ids or -1");
  tokens.clear();
  for (const nb::handle id : value) {
    const std::int64_t number = integer_from(id, kName);
    if (number < -1 || number > std::numeric_limits<std::int32_t>::max()) {
      throw ConfigError(fmt::format("{}: {}, expected -1 or a token id", kName, number));
    }
    tokens.push_back(static_cast<std::int32_t>(number));
  }
}

void read_timestamps(Keywords& keywords, bool& timestamps) {
  bool without = !timestamps;
  const nb::object given = keywords.take("without_timestamps");
  if (given.is_valid()) read_value("without_timestamps", given, without);
  timestamps = !without;
  const nb::object other = keywords.take("timestamps");
  if (!other.is_valid()) return;
  if (given.is_valid()) throw nb::type_error("without_timestamps and timestamps are the same option");
  read_value("timestamps", other, timestamps);
}

// Reads vad_model, the path of a detector's file as bytes, and vad_parameters, a dict with the keys of faster-whisper.
void read_voice_activity(Keywords& keywords, TranscribeOptions& options) {
  if (const nb::object file = keywords.take("vad_model"); file.is_valid()) {
    if (PyBytes_Check(file.ptr()) == 0) refuse_value("vad_model", file, "a path");
    options.vad_model = std::string(PyBytes_AsString(file.ptr()), static_cast<std::size_t>(PyBytes_Size(file.ptr())));
  }
  const nb::object given = keywords.take("vad_parameters");
  if (!given.is_valid()) return;
  if (!nb::isinstance<nb::dict>(given)) refuse_value("vad_parameters", given, "a dict");
  if (options.vad_model.empty()) throw ConfigError("vad_parameters without vad_model, expected both");
  Keywords parameters(nb::cast<nb::dict>(given));
  parameters.read(options.vad.threshold, "threshold");
  parameters.read(options.vad.neg_threshold, "neg_threshold");
  parameters.read(options.vad.min_silence_duration_ms, "min_silence_duration_ms");
  parameters.read(options.vad.min_speech_duration_ms, "min_speech_duration_ms");
  parameters.read(options.vad.max_speech_duration_s, "max_speech_duration_s");
  parameters.read(options.vad.speech_pad_ms, "speech_pad_ms");
  parameters.finish();
}

void read_lines(Keywords& keywords, std::optional<int>& value, std::string_view name) {
  keywords.read(value, name);
  if (value && *value < 1) throw ConfigError(fmt::format("{} is {}, expected 1 or more", name, *value));
}

}  // namespace

TranscribeOptions transcribe_options(const nb::dict& dict) {
  Keywords keywords(dict);
  TranscribeOptions options = TranscribeOptions::of(read_rules(keywords));
  keywords.read(options.language, "language");
  read_task(keywords, options.task);
  keywords.read(options.temperatures, "temperature");
  // None means 1, as in openai-whisper.
  if (keywords.is_none("beam_size")) options.beam_size = 1;
  keywords.read(options.beam_size, "beam_size");
  if (keywords.is_none("best_of")) options.best_of = 1;
  keywords.read(options.best_of, "best_of");
  keywords.read(options.patience, "patience");
  keywords.read(options.length_penalty, "length_penalty");
  read_suppressed(keywords, options.suppress_tokens);
  keywords.read(options.seed, "seed");
  keywords.read(options.initial_prompt, "initial_prompt");
  keywords.read(options.carry_initial_prompt, "carry_initial_prompt");
  keywords.read(options.hotwords, "hotwords");
  keywords.read(options.condition_on_previous_text, "condition_on_previous_text");
  keywords.read(options.prompt_reset_on_temperature, "prompt_reset_on_temperature");
  read_or_reset(keywords, options.compression_ratio_threshold, "compression_ratio_threshold");
  read_or_reset(keywords, options.logprob_threshold, "logprob_threshold", "log_prob_threshold");
  read_or_reset(keywords, options.no_speech_threshold, "no_speech_threshold");
  read_timestamps(keywords, options.timestamps);
  read_or_reset(keywords, options.max_initial_timestamp, "max_initial_timestamp");
  keywords.read(options.word_timestamps, "word_timestamps");
  keywords.read(options.prepend_punctuations, "prepend_punctuations");
  keywords.read(options.append_punctuations, "append_punctuations");
  keywords.read(options.hallucination_silence_threshold, "hallucination_silence_threshold");
  keywords.read(options.clip_timestamps, "clip_timestamps");
  keywords.read(options.chunk_length, "chunk_length");
  read_voice_activity(keywords, options);
  keywords.read(options.batch_size, "batch_size");
  keywords.read(options.workers, "workers");
  for (const char* name : {"fp16", "verbose"}) keywords.check_neutral(name);
  keywords.finish();
  return options;
}

TranscriptLineOptions transcript_line_options(const nb::dict& dict) {
  Keywords keywords(dict);
  TranscriptLineOptions options;
  keywords.read(options.highlight_words, "highlight_words");
  read_lines(keywords, options.max_line_width, "max_line_width");
  read_lines(keywords, options.max_line_count, "max_line_count");
  read_lines(keywords, options.max_words_per_line, "max_words_per_line");
  keywords.finish();
  if (options.max_line_count && !options.max_line_width) {
    throw ConfigError("max_line_count without max_line_width, expected both");
  }
  return options;
}

}  // namespace encdec::python
