#include <encdec/speech/speech_model.h>
#include <encdec/speech/transcript/alignment_format.h>
#include <encdec/speech/transcription/transcribe_settings.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "command/commands.h"
#include "command/line_reader.h"
#include "command/option_rows.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "speech/command/transcribe_arguments.h"

namespace encdec::cli {
namespace {

struct AlignArguments {
  TranscribeArguments audio;
  std::string file;
  std::string text;  // path
  std::optional<AlignmentFormat> format = {};
};

// Returns the contents of a file. An empty path means standard input.
std::string read_text(const std::string& path) {
  LineReader reader(path);
  std::string text;
  for (std::string line; reader.next(line);) text.append(line) += '\n';
  return text;
}

void align(AlignArguments arguments) {
  TranscribeArguments& audio = arguments.audio;
  const ModelArguments& settings = audio.model;
  if (arguments.file == "-" && (arguments.text == "-" || arguments.text == "/dev/stdin")) {
    throw UsageError("--text and FILE are both standard input, expected one of them");
  }
  // Read the text and open the recording before loading the model, so that their errors come first.
  audio.model.share_cpus(0, 1);
  const std::string text = read_text(arguments.text == "-" ? "" : arguments.text);
  const auto by_ending = value_named<AlignmentFormat>(kAlignmentFormats, name_ending(audio.output));
  const AlignmentFormat format = arguments.format.value_or(by_ending.value_or(AlignmentFormat::json));
  Recording recording = recording_of(arguments.file, audio);
  const SpeechModel model(settings.load());
  ProgressBar bar = settings.quiet ? ProgressBar::none() : ProgressBar();
  TranscribeOptions options = audio.options;
  options.on_progress = [&, length = recording.seconds](std::size_t /*recording*/, double seconds) {
    Progress progress{.audio_seconds = seconds};
    if (length && *length > 0) progress.fraction = seconds / *length;
    if (bar.due()) bar.show(progress);
  };
  OutputFile output(audio.output);
  const Transcript alignment = model.align(std::move(recording), text, options);
  bar.clear();
  output.write(format_alignment(alignment, format));
  if (format == AlignmentFormat::json) output.write("\n");
  output.commit();
  if (alignment.is_cut && !settings.quiet) spdlog::warn("{}: {}", arguments.file, kCutRecording);

  std::size_t aligned = 0, unaligned = 0;
  for (const TranscriptSegment& line : alignment.segments) {
    for (const TranscriptWord& word : line.words) ++(std::isnan(word.start) ? unaligned : aligned);
  }
  if (unaligned == 0) return;
  const std::string found =
      fmt::format("{}: {} of {} words are unaligned", arguments.text, unaligned, unaligned + aligned);
  if (unaligned > aligned) throw Error(found + ", expected at most half; does the text match the recording?");
  if (!settings.quiet) spdlog::warn("{}", found);
}

}  // namespace

Action add_align(CLI::App& command) {
  const auto arguments = std::make_shared<AlignArguments>();
  TranscribeArguments& audio = arguments->audio;
  add_model_option(command, audio.model.folder);
  add_file_option(command, "--text", arguments->text,
                  "Text of the recording, in UTF-8; each line becomes a segment; -: standard input")
      ->required();
  add_value_option(command, "FILE", arguments->file, "", "Recording: WAV, FLAC, MP3, Ogg and more; -: standard input")
      ->required();
  add_output_option(command, audio.output, "Words or lines with their times");
  add_words_option(command, "--output-format", kAlignmentFormats, arguments->format,
                   "json and textgrid contain words and lines, the others only lines; default: the extension of "
                   "--output, else json");
  audio.model.add_load_options(command);
  audio.model.add_quiet_option(command, "No progress bar and no notes");
  for (const OptionRow<TranscribeOptions>& row : transcribe_settings()) {
    constexpr std::string_view kNames[] = {"language", "vad_model", "vad_threshold", "vad_neg_threshold"};
    if (std::ranges::find(kNames, row.name) != std::end(kNames)) add_option(command, row, row.value(audio.options));
  }
  add_raw_options(command, audio);
  command.footer(
      R"(Words that are not found are "unaligned" in json. If more than half are unaligned, the exit status is 1.

Examples:
  encdec align --model whisper-tiny --text talk.txt talk.wav --output talk.srt
  encdec align --model whisper-tiny --text talk.txt talk.wav --output talk.TextGrid)");
  return [arguments] { align(*arguments); };
}

}  // namespace encdec::cli
