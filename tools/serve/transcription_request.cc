#include "serve/transcription_request.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <charconv>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace encdec::serve {
namespace {

using Ranges = TranscribeRanges;

constexpr std::size_t kMaxBytes = 64 << 10;  // maximum size of a text; models read about 200 tokens of it
constexpr int kMaxWords = 10'000;            // maximum of characters, lines or words of a subtitle

using Names = std::initializer_list<const char*>;

// Returns a text of at most kMaxBytes: only recordings may be large.
std::string short_text(const Parameters& parameters, const char* name) {
  std::string text = parameters.text(name);
  if (text.size() <= kMaxBytes) return text;
  throw HttpError(400, fmt::format("'{}' has {} bytes, expected at most {}", name, text.size(), kMaxBytes));
}

void read_text(const Parameters& parameters, Names names, std::string& value) {
  for (const char* name : names) {
    std::string text = short_text(parameters, name);
    if (!text.empty()) value = std::move(text);
  }
}

void read_real(const Parameters& parameters, Names names, const TranscribeRange& range, double& value) {
  const double min = range.or_zero ? 0 : range.min;  // the library refuses what lies between
  for (const char* name : names) value = parameters.real(name, min, range.max).value_or(value);
}

// Reads a number, or "none", which resets `value`.
void read_optional(const Parameters& parameters, Names names, const TranscribeRange& range,
                   std::optional<double>& value) {
  for (const char* name : names) {
    if (parameters.has(name) && parameters.text(name) == "none") {
      value.reset();
    } else if (const auto number = parameters.real(name, range.min, range.max)) {
      value = number;
    }
  }
}

// Reads a count. -1, which whisper.cpp's clients send, keeps the default.
void read_count(const Parameters& parameters, const char* name, int max, int& value) {
  const std::string text = parameters.text(name);
  if (!text.empty() && text != "-1") value = parameters.number(name, value, 1, max);
}

void read_lines(const Parameters& parameters, const char* name, std::optional<int>& value) {
  if (!parameters.text(name).empty()) value = parameters.number(name, 0, 1, kMaxWords);
}

void read_milliseconds(const Parameters& parameters, const char* name, int& value) {
  if (!parameters.text(name).empty()) value = parameters.number(name, value, 0, std::numeric_limits<int>::max());
}

// Reads numbers separated by commas: "1,2.5".
template <class Number>
std::vector<Number> numbers_of(const Parameters& parameters, const char* name) {
  const std::string text = short_text(parameters, name);
  std::vector<Number> numbers;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    Number& number = numbers.emplace_back();
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || (stop != end && (*stop != ',' || stop + 1 == end))) {
      throw HttpError(400, fmt::format("'{}' is '{}', expected numbers separated by commas", name, shown(text)));
    }
    at = stop == end ? end : stop + 1;
  }
  return numbers;
}

// Reads the language of a recording. Returns an empty text for "auto", and "pt" for "pt-BR": Whisper has no countries.
std::string language_of(const Parameters& parameters) {
  const std::string language = short_text(parameters, "language");
  return language == "auto" ? std::string() : language.substr(0, language.find_first_of("-_"));
}

SpeechRules rules_of(const Parameters& parameters) {
  const std::string name = parameters.text("rules");
  if (name.empty()) return SpeechRules::openai;
  if (const auto rules = speech_rules_named(name)) return *rules;
  throw HttpError(400, fmt::format("'rules' is '{}', expected openai or transformers", shown(name)));
}

// Returns the temperatures to try one after the other: the given one, then higher ones up to 1.
std::vector<double> temperatures_of(const Parameters& parameters, SpeechRules rules) {
  const double first = parameters.real("temperature", 0, 1).value_or(0);
  double step = rules == SpeechRules::openai ? 0.2 : 0;
  read_real(parameters, {"temperature_increment_on_fallback", "temperature_inc"}, {0, 1}, step);
  constexpr double kLeastStep = 1e-3;
  return fallback_temperatures(first, step < kLeastStep ? std::nullopt : std::optional(step));
}

// Reads the options of voice activity detection. `detector` is the file of --vad-model.
void read_voice_activity(const Parameters& parameters, const std::string& detector, TranscribeOptions& options) {
  if (!parameters.flag("vad_filter", parameters.flag("vad", false))) return;
  if (detector.empty())
    throw HttpError(400, "'vad_filter' is true, expected false: the server was started without --vad-model");
  options.vad_model = detector;
  read_real(parameters, {"vad_threshold"}, {0, 1}, options.vad.threshold);
  read_milliseconds(parameters, "vad_min_speech_duration_ms", options.vad.min_speech_duration_ms);
  read_milliseconds(parameters, "vad_min_silence_duration_ms", options.vad.min_silence_duration_ms);
  read_milliseconds(parameters, "vad_speech_pad_ms", options.vad.speech_pad_ms);
}

HttpError recording_too_long(std::size_t seconds) {
  return {413, fmt::format("a recording of more than {} s (--max-recording-seconds)", seconds)};
}

}  // namespace

AnswerFormat read_answer_format(const Parameters& parameters) {
  const std::string name = parameters.text("response_format");
  if (name.empty() || name == "json") return AnswerFormat::json;
  if (name == "text") return AnswerFormat::text;
  if (name == "srt") return AnswerFormat::srt;
  if (name == "vtt") return AnswerFormat::vtt;
  if (name == "verbose_json") return AnswerFormat::verbose_json;
  throw HttpError(400,
                  fmt::format("'response_format' is '{}', expected json, text, srt, verbose_json or vtt", shown(name)));
}

Parameters read_form(const Call& call) {
  const std::string type = media_type(call.request().headers["content-type"]);
  if (type == "multipart/form-data") return Parameters(call);
  throw HttpError(
      415, fmt::format("the body has {}, expected multipart/form-data", type.empty() ? "no type" : "type " + type));
}

Recording read_recording(Parameters& parameters, const ServiceLimits& limits) {
  auto bytes = parameters.take_file("file");
  if (!bytes || bytes->empty()) {
    throw HttpError(400, "'file' is missing or empty, expected a recording as a file of multipart/form-data");
  }
  try {
    Recording recording = Recording::of_bytes(std::make_shared<const std::string>(*std::move(bytes)), "'file'");
    const std::size_t longest = limits.recording_seconds;
    if (recording.seconds && *recording.seconds > static_cast<double>(longest)) throw recording_too_long(longest);
    recording.open = [open = std::move(recording.open), longest]() -> Recording::Read {
      return [read = open(), longest, left = longest * AudioReader::kSampleRate](std::span<float> samples) mutable {
        const std::size_t count = read(samples);
        if (count > left) throw recording_too_long(longest);
        left -= count;
        return count;
      };
    };
    return recording;
  } catch (const FileError& error) {
    throw HttpError(400, error.what());
  }
}

TranscribeOptions read_transcribe_options(const Parameters& parameters, const ServeSettings& settings) {
  TranscribeOptions options = TranscribeOptions::of(rules_of(parameters));
  const ServiceLimits& limits = settings.limits;
  options.language = language_of(parameters);
  options.temperatures = temperatures_of(parameters, options.rules);
  read_count(parameters, "beam_size", limits.beams, options.beam_size);
  read_count(parameters, "best_of", limits.beams, options.best_of);
  read_real(parameters, {"patience"}, Ranges::patience, options.patience);
  read_optional(parameters, {"length_penalty"}, Ranges::length_penalty, options.length_penalty);
  if (parameters.has("suppress_tokens"))
    options.suppress_tokens = numbers_of<std::int32_t>(parameters, "suppress_tokens");
  if (!parameters.text("seed").empty()) {
    options.seed = static_cast<std::uint64_t>(parameters.number("seed", 0, 0, std::numeric_limits<int>::max()));
  }

  read_text(parameters, {"initial_prompt", "prompt"}, options.initial_prompt);
  read_text(parameters, {"hotwords"}, options.hotwords);
  options.carry_initial_prompt = parameters.flag("carry_initial_prompt", false);
  options.condition_on_previous_text =
      parameters.flag("condition_on_previous_text", options.condition_on_previous_text);
  read_real(parameters, {"prompt_reset_on_temperature"}, Ranges::prompt_reset_on_temperature,
            options.prompt_reset_on_temperature);

  read_optional(parameters, {"compression_ratio_threshold"}, Ranges::compression_ratio_threshold,
                options.compression_ratio_threshold);
  read_optional(parameters, {"logprob_threshold", "log_prob_threshold", "logprob_thold"}, Ranges::logprob_threshold,
                options.logprob_threshold);
  read_optional(parameters, {"no_speech_threshold", "no_speech_thold"}, Ranges::no_speech_threshold,
                options.no_speech_threshold);
  read_optional(parameters, {"hallucination_silence_threshold"}, Ranges::hallucination_silence_threshold,
                options.hallucination_silence_threshold);

  options.timestamps = !parameters.flag("without_timestamps", false) && !parameters.flag("no_timestamps", false);
  read_optional(parameters, {"max_initial_timestamp"}, Ranges::max_initial_timestamp, options.max_initial_timestamp);
  options.word_timestamps = parameters.flag("word_timestamps", false);
  read_text(parameters, {"prepend_punctuations"}, options.prepend_punctuations);
  read_text(parameters, {"append_punctuations"}, options.append_punctuations);
  options.clip_timestamps = numbers_of<double>(parameters, "clip_timestamps");
  read_real(parameters, {"chunk_length"}, Ranges::chunk_length, options.chunk_length);
  read_voice_activity(parameters, settings.vad_model, options);
  return options;
}

TranscriptLineOptions read_line_options(const Parameters& parameters, const TranscribeOptions& options) {
  TranscriptLineOptions lines{.word_times = options.word_timestamps};
  lines.highlight_words = parameters.flag("highlight_words", false);
  read_lines(parameters, "max_line_width", lines.max_line_width);
  read_lines(parameters, "max_line_count", lines.max_line_count);
  read_lines(parameters, "max_words_per_line", lines.max_words_per_line);
  return lines;
}

}  // namespace encdec::serve
