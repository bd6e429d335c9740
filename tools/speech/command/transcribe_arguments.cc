#include "speech/command/transcribe_arguments.h"

#include <encdec/engine/base/refuse.h>
#include <encdec/speech/transcription/transcribe_settings.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string_view>

#include "command/commands.h"
#include "command/option_rows.h"
#include "command/output_file.h"

namespace encdec::cli {
namespace {

constexpr OptionInfo kIncrement(
    "temperature_increment_on_fallback", kTemperatureIncrement, "Search", "X",
    "Added to the temperature each time a window's text is rejected, up to 1; 0 or none: decode each window once");

// Adds the options of one group of transcribe_settings() and transcript_line_settings().
void add_speech_group(CLI::App& command, std::string_view group, TranscribeArguments& arguments) {
  for (const OptionRow<TranscribeOptions>& row : transcribe_settings()) {
    if (row.group != group) continue;
    const bool is_temperature = row.name == "temperature";
    add_option(command, row, is_temperature ? OptionValue(&arguments.temperature) : row.value(arguments.options));
    if (is_temperature) add_option(command, kIncrement, &arguments.temperature_increment);
  }
  add_group(command, group, transcript_line_settings(), arguments.lines);
}

}  // namespace

void add_transcribe_options(CLI::App& command, TranscribeArguments& arguments) {
  add_model_option(command, arguments.model.folder);
  add_value_option(command, "FILE", arguments.files, "", "Recordings: WAV, FLAC, MP3, Ogg and more; -: standard input");
  add_output_option(command, arguments.output, "Transcript of one recording");
  add_value_option(command, "--output-dir", arguments.output_dir, "DIR",
                   "Folder for transcripts: one file for each recording and format; created if missing");
  add_file_option(command, "--stats", arguments.stats, "Write times and speed to this file, as a JSON object");
  std::vector<std::string> words = names_of(kTranscriptFormats);
  words.emplace_back("all");
  words.emplace_back("jsonl");
  take_words(command.add_option_function<std::string>(
                 "--output-format",
                 [&formats = arguments.formats, &has_json_lines = arguments.has_json_lines](const std::string& name) {
                   formats.clear();
                   has_json_lines = name == "jsonl";
                   for (const auto& format : kTranscriptFormats) {
                     if (name == "all" || name == format.name) formats.push_back(format.value);
                   }
                 },
                 "Format of transcripts; jsonl: with --live, one JSON object for each event; default: the extension of "
                 "--output, else txt"),
             words);
  arguments.model.add_load_options(command);
  add_file_option(command, "--draft-file", arguments.draft,
                  "File of draft texts, such as earlier transcripts: line N for recording N; an empty line for none")
      ->group("Speculative decoding");
  arguments.model.add_draft_options(command);
  const auto check_rules = [](const std::string& name) {
    if (name != "openai") throw UsageError(fmt::format("--rules: '{}', expected openai", printable(name)));
  };
  command.add_option_function<std::string>("--rules", check_rules, "Ignored: openai is the only decoding mode")
      ->type_name("openai")
      ->group("Speech");
  TranscribeOptions& speech = arguments.options;
  add_number_option(command, "--batch-size", speech.batch_size, 0, kMaxBatchSize,
                    "Recordings decoded together; 0: chosen for this machine. Results do not depend on it");
  arguments.model.add_workers_option(command, speech.workers);
  arguments.model.add_quiet_option(command, "No progress bar and no notes");
  for (const std::string_view group : {"Speech", "Search", "Speculative decoding", "Fallback and silence", "Times"})
    add_speech_group(command, group, arguments);

  command
      .add_flag("--live", arguments.is_live,
                "Transcribe one input while it is read, and write the text of each utterance at the pause after it")
      ->group("Live");
  add_group(command, "Live", live_settings(), arguments.live);
  add_raw_options(command, arguments);
}

void add_raw_options(CLI::App& command, TranscribeArguments& arguments) {
  const std::string raw = "Samples without a header";
  const auto set_raw = [&arguments](const std::string& text) {
    arguments.is_raw = true;
    arguments.raw.samples = text == "float32" ? RawAudio::Samples::float32 : RawAudio::Samples::int16;
  };
  take_words(command
                 .add_option_function<std::string>("--raw", set_raw,
                                                   "Standard input is little-endian samples without a header")
                 ->group(raw),
             {"int16", "float32"});
  add_number_option(command, "--sample-rate", arguments.raw.sample_rate, AudioDecoder::kMinSampleRate,
                    AudioDecoder::kMaxSampleRate, "Samples per second of --raw")
      ->group(raw);
  add_number_option(command, "--channels", arguments.raw.channels, 1, AudioDecoder::kMaxChannels,
                    "Channels of --raw, interleaved")
      ->group(raw);
}

std::vector<TranscriptFormat> formats_of(const TranscribeArguments& arguments) {
  if (!arguments.formats.empty()) return arguments.formats;
  return {
      value_named<TranscriptFormat>(kTranscriptFormats, name_ending(arguments.output)).value_or(TranscriptFormat::txt)};
}

AudioReader open_standard_input(const TranscribeArguments& arguments) {
  AudioInput input(bytes_of(STDIN_FILENO, "standard input"), "standard input");
  return arguments.is_raw ? AudioReader(open_raw(std::move(input), arguments.raw)) : AudioReader(std::move(input));
}

Recording recording_of(const std::string& file, const TranscribeArguments& arguments) {
  if (file != "-") return Recording::of_file(file);
  AudioReader reader = open_standard_input(arguments);
  return Recording::of_stream(reader, "standard input");
}

TranscribeOptions transcribe_options(const TranscribeArguments& arguments) {
  TranscribeOptions options = arguments.options;
  // Refuse options that have no effect or that exclude each other.
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
  if (arguments.files.empty() && !arguments.is_live) throw UsageError("FILE is required");
  if (arguments.has_json_lines && !arguments.is_live) {
    throw UsageError("--output-format jsonl without --live, expected both");
  }
  if (arguments.is_live) {
    for (const auto& [name, is_given] : {std::pair{"several recordings", arguments.files.size() > 1},
                                         {"--output-dir", !arguments.output_dir.empty()},
                                         {"--draft-file", !arguments.draft.empty()},
                                         {"--clip-timestamps", !options.clip_timestamps.empty()}}) {
      if (is_given) throw UsageError(fmt::format("--live with {}, expected one of them", name));
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
