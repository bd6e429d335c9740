#include "encdec/transcribe_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "encdec/commands.h"
#include "encdec/lines.h"

namespace encdec::cli {
namespace {

using Ranges = TranscribeRanges;

// Parts of "a,b,c".
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
  return expecting("token ids separated by commas, -1 among them for what is not spoken", [](const std::string& text) {
    for (const std::string& part : split(text)) {
      if (!integer_from(-1, kMaxTokens)(part).empty()) return false;
    }
    return true;
  });
}

// Adds options in groups, each with the value that it has if it is not given.
class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  void group(std::string name) { group_ = std::move(name); }

  CLI::Option* flag(const char* name, bool& value, const char* help) {
    return command_.add_flag(name, value, help)->group(group_);
  }
  // Switches off what is on.
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
  // "none" is nothing.
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
  command.add_option("FILE", arguments.files, "Recordings: WAV, FLAC, MP3, Ogg and more; - for standard input")
      ->required()
      ->type_name("");
  add_output_option(command, arguments.output, "The transcript of one recording");
  command
      .add_option("--output-dir", arguments.output_dir,
                  "Folder for transcripts, made if it is missing: one for each recording and format")
      ->type_name("DIR");
  add_file_option(command, "--stats", arguments.stats, "Times and speed as one JSON object");
  const std::vector<std::string> words = {"txt", "vtt", "srt", "tsv", "json", "lrc", "all"};
  take_words(command.add_option_function<std::string>(
                 "--output-format",
                 [&formats = arguments.formats, words](const std::string& name) {
                   formats.clear();
                   for (const std::string& word : words) {
                     if (word != "all" && (name == "all" || name == word)) {
                       formats.push_back(*transcript_format_named(word));
                     }
                   }
                 },
                 "How transcripts are written; if not given, by the ending of --output, else txt"),
             words);
  arguments.model.add_load_options(command);
  Options options(command);
  TranscribeOptions& speech = arguments.options;
  options.group("Speech");
  // Before all others: those that are given change what it sets.
  take_words(options.add(
                 "--rules",
                 [&arguments](const std::string& name) {
                   arguments.options = TranscribeOptions::of(*speech_rules_named(name));
                   if (name == "transformers") arguments.temperature_increment.reset();
                 },
                 "Whose rules; with transformers, options that are not given are those of its generate()"),
             {"openai", "transformers"})
      ->default_str("openai");
  add_number_option(command, "--batch-size", speech.batch_size,
                    "Recordings decoded together, 0 for what suits the machine; results do not depend on it")
      ->check(integer_from(0, kMaxBatchSize));
  arguments.model.add_workers_option(command, speech.workers);
  arguments.model.add_quiet_option(command, "No progress bar and no notes");

  options.text("--language", speech.language, "What is spoken: en, German; the model listens if not given")
      ->type_name("LANG");
  take_words(options.add(
                 "--task",
                 [&speech](const std::string& text) {
                   speech.task = text == "translate" ? SpeechTask::translate : SpeechTask::transcribe;
                 },
                 "Write what is spoken, or write it in English"),
             {"transcribe", "translate"})
      ->default_str("transcribe");
  options.text("--initial-prompt", speech.initial_prompt, "Text before the recording: names and how they are spelled");
  options.flag("--carry-initial-prompt", speech.carry_initial_prompt, "Tell it to all windows, not only the first");
  options.text("--hotwords", speech.hotwords, "Words that all windows are told first");
  options.flag("--condition-on-previous-text", speech.condition_on_previous_text,
               "Tell windows the text of those before, as openai's rules do if not told otherwise");
  options.no_flag("--no-condition-on-previous-text", speech.condition_on_previous_text, "Do not");
  options
      .add(
          "--clip-timestamps",
          [&speech](const std::string& text) {
            speech.clip_timestamps.clear();
            for (const std::string& part : split(text)) speech.clip_timestamps.push_back(*parse_number<double>(part));
          },
          "What of the recordings is transcribed: start,end,start,end,... in seconds")
      ->check(number_list())
      ->type_name("LIST");

  options.number("--chunk-length", speech.chunk_length, Ranges::chunk_length,
                 "Cut recordings into chunks of so many seconds that know nothing of one another, and decode them "
                 "together; 0 for none");

  options.group("Search");
  options.integer("--beam-size,--num-beams", speech.beam_size, 1, kMaxBeams, "Beams at temperature 0");
  options.integer("--best-of", speech.best_of, 1, kMaxBeams, "Samples at other temperatures");
  options.number("--patience", speech.patience, Ranges::patience, "Finished beams to wait for, in beam sizes");
  options.number("--length-penalty", speech.length_penalty, Ranges::length_penalty,
                 "Alpha of Wu et al. 2016; by mean if not given");
  options.number("--temperature", arguments.temperature, Ranges::temperature,
                 "0 for the likeliest text; above, tokens are drawn");
  options.number("--temperature-increment-on-fallback", arguments.temperature_increment,
                 {1e-3, Ranges::temperature.max}, "More of it each time that a window's text is no good, up to 1");
  options
      .add(
          "--seed", [&speech](const std::string& text) { speech.seed = *parse_number<std::uint64_t>(text); },
          "Of what is drawn")
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
          "Tokens that must not be produced")
      ->check(suppressed_list())
      ->type_name("LIST")
      ->default_str("-1");

  options.group("Guards");
  options.number("--compression-ratio-threshold", speech.compression_ratio_threshold,
                 Ranges::compression_ratio_threshold,
                 "A text that zlib makes smaller than this repeats itself: it is no good");
  options.number("--logprob-threshold", speech.logprob_threshold, Ranges::logprob_threshold,
                 "A text whose mean log-probability is lower is no good");
  options.number("--no-speech-threshold", speech.no_speech_threshold, Ranges::no_speech_threshold,
                 "A window that is likelier than this to have no speech, and whose text is improbable, is silence");
  options.number("--hallucination-silence-threshold", speech.hallucination_silence_threshold,
                 Ranges::hallucination_silence_threshold,
                 "Skip longer silence around improbable text, and that text; needs --word-timestamps");

  options
      .add(
          "--vad-model", [&speech](const std::string& path) { speech.vad_model = path; },
          "Silero's voice activity detector (.safetensors): only what it takes for speech is transcribed")
      ->type_name("FILE");
  options.number("--vad-threshold", speech.vad.threshold, {0, 1}, "Speech is what is likelier than this to be");
  options.integer("--vad-min-silence-duration-ms", speech.vad.min_silence_duration_ms, 0, kMaxTokens,
                  "Shorter pauses belong to the speech");
  options.integer("--vad-min-speech-duration-ms", speech.vad.min_speech_duration_ms, 0, kMaxTokens,
                  "Shorter speech is none");
  options.integer("--vad-speech-pad-ms", speech.vad.speech_pad_ms, 0, kMaxTokens, "Heard before and behind speech");

  options.group("Times");
  options.no_flag("--no-timestamps", speech.timestamps, "Segments are windows: the model writes no times");
  options.number("--max-initial-timestamp", speech.max_initial_timestamp, Ranges::max_initial_timestamp,
                 "Seconds until which a window's first segment begins");
  options.flag("--word-timestamps", speech.word_timestamps, "Times of each word");
  options.text("--prepend-punctuations", speech.prepend_punctuations, "Marks that belong to the next word");
  options.text("--append-punctuations", speech.append_punctuations, "Marks that belong to the word before");
  options.flag("--highlight-words", arguments.lines.highlight_words,
               "Underline each word as it is spoken, in srt and vtt; needs --word-timestamps");
  options.integer("--max-line-width", arguments.lines.max_line_width, "Characters of a line; needs --word-timestamps");
  options.integer("--max-line-count", arguments.lines.max_line_count, "Lines of a subtitle; needs --max-line-width");
  options.integer("--max-words-per-line", arguments.lines.max_words_per_line,
                  "Words of a subtitle; needs --word-timestamps");

  options.group("Samples without a header");
  take_words(options.add(
                 "--raw",
                 [&arguments](const std::string& text) {
                   arguments.is_raw = true;
                   arguments.raw.samples = text == "float32" ? RawAudio::Samples::float32 : RawAudio::Samples::int16;
                 },
                 "Standard input is samples alone, little endian"),
             {"int16", "float32"});
  options.integer("--sample-rate", arguments.raw.sample_rate, AudioDecoder::kMinSampleRate,
                  AudioDecoder::kMaxSampleRate, "Of these, a second");
  options.integer("--channels", arguments.raw.channels, 1, AudioDecoder::kMaxChannels, "Of these, side by side");
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
