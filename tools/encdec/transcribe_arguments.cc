#include "encdec/transcribe_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "encdec/commands.h"
#include "encdec/lines.h"

namespace encdec::cli {
namespace {

using Ranges = TranscribeRanges;

// Returns the parts of "a,b,c".
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

bool is_in(const TranscribeRange& range, const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && range.has(*value);
}

CLI::Validator number_list() {
  return expecting("seconds separated by commas", [](const std::string& text) {
    for (const std::string& part : split(text)) {
      if (!is_in(Ranges::clip_timestamps, part)) return false;
    }
    return true;
  });
}

CLI::Validator suppressed_list() {
  return expecting("token ids separated by commas, or -1 for all tokens that are not speech",
                   [](const std::string& text) {
                     for (const std::string& part : split(text)) {
                       if (!integer_from(-1, kMaxTokens)(part).empty()) return false;
                     }
                     return true;
                   });
}

// A builder that adds options to the current group. The help shows the default of each option.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  void group(std::string name) { group_ = std::move(name); }

  CLI::Option* flag(const char* name, bool& value, const char* help) {
    return command_.add_flag(name, value, help)->group(group_);
  }
  // Adds a flag that sets `value` to false.
  CLI::Option* no_flag(const char* name, bool& value, const char* help) {
    return command_
        .add_flag_callback(
            name, [&value] { value = false; }, help)
        ->group(group_);
  }
  CLI::Option* number(const char* name, double& value, const TranscribeRange& range, const char* help) {
    return add(
               name, [&value](const std::string& text) { value = *parse_number<double>(text); }, help)
        ->check(expecting(range.expected(), [range](const std::string& text) { return is_in(range, text); }))
        ->type_name("X")
        ->default_str(fmt::format("{}", value));
  }
  // Adds a number whose value may also be "none", which unsets `value`.
  CLI::Option* number(const char* name, std::optional<double>& value, const TranscribeRange& range, const char* help) {
    const auto take = [&value](const std::string& text) {
      value = text == "none" ? std::nullopt : parse_number<double>(text);
    };
    CLI::Option* option =
        add(name, take, help)
            ->check(expecting(range.expected() + ", or none",
                              [range](const std::string& text) { return text == "none" || is_in(range, text); }))
            ->type_name("X");
    return value ? option->default_str(fmt::format("{}", *value)) : option;
  }
  CLI::Option* integer(const char* name, int& value, int min, int max, const char* help) {
    return add_number_option(command_, name, value, help)->check(integer_from(min, max))->group(group_);
  }
  CLI::Option* integer(const char* name, std::optional<int>& value, const char* help) {
    return add(
               name, [&value](const std::string& text) { value = parse_number<int>(text); }, help)
        ->check(integer_from(1, kMaxTokens))
        ->type_name("N");
  }
  CLI::Option* text(const char* name, std::string& value, const char* help) {
    return command_.add_option(name, value, help)->type_name("TEXT")->group(group_);
  }
  template <class Take>
  CLI::Option* add(const char* name, const Take& take, const char* help) {
    return command_.add_option_function<std::string>(name, take, help)->group(group_);
  }

 private:
  CLI::App& command_;
  std::string group_ = "Options";
};

}  // namespace

void add_transcribe_options(CLI::App& command, TranscribeArguments& arguments) {
  add_model_option(command, arguments.model.folder);
  command.add_option("FILE", arguments.files, "Recordings: WAV, FLAC, MP3, Ogg and more; -: standard input")
      ->required()
      ->type_name("");
  add_output_option(command, arguments.output, "Transcript of one recording");
  command
      .add_option("--output-dir", arguments.output_dir,
                  "Folder for transcripts, one file for each recording and format; created if missing")
      ->type_name("DIR");
  add_file_option(command, "--stats", arguments.stats, "Write times and speed to this file, as a JSON object");
  std::vector<std::string> words = names_of(kTranscriptFormats);
  words.emplace_back("all");
  take_words(command.add_option_function<std::string>(
                 "--output-format",
                 [&formats = arguments.formats](const std::string& name) {
                   formats.clear();
                   for (const auto& format : kTranscriptFormats) {
                     if (name == "all" || name == format.name) formats.push_back(format.value);
                   }
                 },
                 "Format of transcripts; if not given, by the ending of --output, else txt"),
             words);
  arguments.model.add_load_options(command);
  Options options(command);
  TranscribeOptions& speech = arguments.options;
  options.group("Speech");
  // Declared before the other options: --rules sets all of them, and those that are given are applied after it.
  take_words(options.add(
                 "--rules",
                 [&arguments](const std::string& name) {
                   arguments.options = TranscribeOptions::of(*speech_rules_named(name));
                   if (name == "transformers") arguments.temperature_increment.reset();
                 },
                 "Decode as openai-whisper does, or as transformers' generate() does, with its defaults"),
             {"openai", "transformers"})
      ->default_str("openai");
  add_number_option(command, "--batch-size", speech.batch_size,
                    "Recordings decoded together; 0: chosen for this machine. Results do not depend on it")
      ->check(integer_from(0, kMaxBatchSize));
  arguments.model.add_workers_option(command, speech.workers);
  arguments.model.add_quiet_option(command, "No progress bar and no notes");

  options.text("--language", speech.language, "Spoken language, such as en or German; detected if not given")
      ->type_name("LANG");
  take_words(options.add(
                 "--task",
                 [&speech](const std::string& text) {
                   speech.task = text == "translate" ? SpeechTask::translate : SpeechTask::transcribe;
                 },
                 "Write the text in the spoken language, or translate it into English"),
             {"transcribe", "translate"})
      ->default_str("transcribe");
  options.text("--initial-prompt", speech.initial_prompt,
               "Previous text for the first window, for instance names and their spelling");
  options.flag("--carry-initial-prompt", speech.carry_initial_prompt, "Use the initial prompt for every window");
  options.text("--hotwords", speech.hotwords, "Words to put before the previous text of every window");
  options.flag("--condition-on-previous-text", speech.condition_on_previous_text,
               "Give each window the text of the windows before it; default with --rules openai");
  options.no_flag("--no-condition-on-previous-text", speech.condition_on_previous_text,
                  "Decode each window without the text of the windows before it");
  options
      .add(
          "--clip-timestamps",
          [&speech](const std::string& text) {
            speech.clip_timestamps.clear();
            for (const std::string& part : split(text)) speech.clip_timestamps.push_back(*parse_number<double>(part));
          },
          "Parts of the recordings to transcribe: start,end,start,end,... in seconds")
      ->check(number_list())
      ->type_name("LIST");

  options.number("--chunk-length", speech.chunk_length, Ranges::chunk_length,
                 "Cut recordings into independent chunks of X seconds and decode them together; 0: no chunks");

  options.group("Search");
  options.integer("--beam-size,--num-beams", speech.beam_size, 1, kMaxBeams, "Beams at temperature 0");
  options.integer("--best-of", speech.best_of, 1, kMaxBeams, "Samples at temperatures above 0");
  options.number("--patience", speech.patience, Ranges::patience,
                 "Finished beams to wait for, as a multiple of the beam size");
  options.number("--length-penalty", speech.length_penalty, Ranges::length_penalty,
                 "Alpha of the length penalty (Wu et al. 2016); if not given, beams are compared by mean "
                 "log-probability");
  options.number("--temperature", arguments.temperature, Ranges::temperature,
                 "0: the most likely text; above 0, tokens are sampled");
  options.number("--temperature-increment-on-fallback", arguments.temperature_increment,
                 {1e-3, Ranges::temperature.max},
                 "Added to the temperature each time the text of a window is rejected, up to 1");
  options
      .add(
          "--seed", [&speech](const std::string& text) { speech.seed = *parse_number<std::uint64_t>(text); },
          "Seed of the samples")
      ->check(integer_from(0, std::numeric_limits<std::int64_t>::max()))
      ->type_name("N")
      ->default_str("0");
  options
      .add(
          "--suppress-tokens",
          [&speech](const std::string& text) {
            speech.suppress_tokens.clear();
            for (const std::string& part : split(text)) speech.suppress_tokens.push_back(*parse_number<int>(part));
          },
          "Token ids never to generate; -1: all tokens that are not speech")
      ->check(suppressed_list())
      ->type_name("LIST")
      ->default_str("-1");

  options.group("Guards");
  options.number("--compression-ratio-threshold", speech.compression_ratio_threshold,
                 Ranges::compression_ratio_threshold,
                 "Reject a text with a higher compression ratio (by zlib), because it repeats itself");
  options.number("--logprob-threshold", speech.logprob_threshold, Ranges::logprob_threshold,
                 "Reject a text with a lower mean log-probability");
  options.number("--no-speech-threshold", speech.no_speech_threshold, Ranges::no_speech_threshold,
                 "A window is silent if its no-speech probability is above this and its mean log-probability below "
                 "--logprob-threshold");
  options.number("--hallucination-silence-threshold", speech.hallucination_silence_threshold,
                 Ranges::hallucination_silence_threshold,
                 "Skip improbable text together with the silence around it if that is longer than X seconds; needs "
                 "--word-timestamps");

  options
      .add(
          "--vad-model", [&speech](const std::string& path) { speech.vad_model = path; },
          "Silero's voice activity detector (.safetensors); only the speech that it detects is transcribed")
      ->type_name("FILE");
  options.number("--vad-threshold", speech.vad.threshold, {0, 1}, "Probability above which audio counts as speech");
  options.integer("--vad-min-silence-duration-ms", speech.vad.min_silence_duration_ms, 0, kMaxTokens,
                  "Shorter pauses do not end a speech segment");
  options.integer("--vad-min-speech-duration-ms", speech.vad.min_speech_duration_ms, 0, kMaxTokens,
                  "Discard shorter speech segments");
  options.integer("--vad-speech-pad-ms", speech.vad.speech_pad_ms, 0, kMaxTokens,
                  "Padding kept before and after each speech segment");

  options.group("Times");
  options.no_flag("--no-timestamps", speech.timestamps, "Generate no times: each window is one segment");
  options.number("--max-initial-timestamp", speech.max_initial_timestamp, Ranges::max_initial_timestamp,
                 "Latest start of a window's first segment, in seconds");
  options.flag("--word-timestamps", speech.word_timestamps, "Compute the times of each word");
  options.text("--prepend-punctuations", speech.prepend_punctuations, "Marks that belong to the word after them");
  options.text("--append-punctuations", speech.append_punctuations, "Marks that belong to the word before them");
  options.flag("--highlight-words", arguments.lines.highlight_words,
               "Underline each word as it is spoken, in srt and vtt; needs --word-timestamps");
  options.integer("--max-line-width", arguments.lines.max_line_width,
                  "Maximum characters of a line; needs --word-timestamps");
  options.integer("--max-line-count", arguments.lines.max_line_count,
                  "Maximum lines of a subtitle; needs --max-line-width");
  options.integer("--max-words-per-line", arguments.lines.max_words_per_line,
                  "Maximum words of a subtitle; needs --word-timestamps");

  options.group("Samples without a header");
  take_words(options.add(
                 "--raw",
                 [&arguments](const std::string& text) {
                   arguments.is_raw = true;
                   arguments.raw.samples = text == "float32" ? RawAudio::Samples::float32 : RawAudio::Samples::int16;
                 },
                 "Standard input has no header, only little-endian samples"),
             {"int16", "float32"});
  options.integer("--sample-rate", arguments.raw.sample_rate, AudioDecoder::kMinSampleRate,
                  AudioDecoder::kMaxSampleRate, "Samples per second of --raw");
  options.integer("--channels", arguments.raw.channels, 1, AudioDecoder::kMaxChannels,
                  "Channels of --raw, interleaved");
}

TranscribeOptions transcribe_options(const TranscribeArguments& arguments) {
  TranscribeOptions options = arguments.options;
  const TranscriptLineOptions& lines = arguments.lines;
  if (!options.word_timestamps) {
    for (const auto& [name, is_given] :
         {std::pair{"--highlight-words", lines.highlight_words},
          {"--max-line-width", lines.max_line_width.has_value()},
          {"--max-line-count", lines.max_line_count.has_value()},
          {"--max-words-per-line", lines.max_words_per_line.has_value()},
          {"--hallucination-silence-threshold", options.hallucination_silence_threshold.has_value()}}) {
      if (is_given) throw UsageError(fmt::format("{} without --word-timestamps, expected both", name));
    }
  }
  if (lines.max_line_count && !lines.max_line_width) {
    throw UsageError("--max-line-count without --max-line-width, expected both");
  }
  if (arguments.output_dir.empty() && arguments.formats.size() > 1) {
    throw UsageError("--output-format all without --output-dir, expected both");
  }
  if (!arguments.output.empty() && (arguments.files.size() > 1 || !arguments.output_dir.empty())) {
    throw UsageError(arguments.files.size() > 1 ? "--output with several recordings, expected --output-dir"
                                                : "--output with --output-dir, expected one of them");
  }
  options.temperatures = fallback_temperatures(arguments.temperature, arguments.temperature_increment);
  return options;
}

}  // namespace encdec::cli
