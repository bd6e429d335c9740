#include <encdec/speech/audio/audio_reader.h>
#include <encdec/speech/speech_model.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "command/commands.h"
#include "command/interrupt.h"
#include "command/line_reader.h"
#include "command/lines.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "command/result_json.h"
#include "common/stopwatch.h"
#include "speech/command/transcribe_arguments.h"

namespace encdec::cli {
namespace {

// Minimum number of recordings for each worker, so that its batches are full.
constexpr std::int64_t kFilesPerWorker = 4;

// Returns a hint on other audio formats, to append to the message of `error`; empty for unrelated errors.
std::string_view hint_of(const Error& error) {
  if (dynamic_cast<const AudioFormatError*>(&error) == nullptr) return "";
  return "; for other formats: ffmpeg -i FILE -f wav - | encdec transcribe --model DIR -";
}

// The output files of one recording's transcript. Order of calls: add* end
class Written {
 public:
  // Opens paths[i] for formats[i]. An empty path means standard output.
  Written(const std::vector<TranscriptFormat>& formats, const TranscriptLineOptions& lines,
          const std::vector<std::string>& paths) {
    for (std::size_t i = 0; i < formats.size(); ++i) {
      Part& part = parts_.emplace_back(TranscriptWriter(formats[i], lines));
      part.file = std::make_unique<OutputFile>(paths[i]);
      part.is_line = paths[i].empty() && formats[i] == TranscriptFormat::json;
      part.write(part.writer.begin());
    }
  }

  void add(std::span<const TranscriptSegment> segments) {
    for (Part& part : parts_) {
      for (const TranscriptSegment& segment : segments) part.write(part.writer.add(segment));
      part.file->flush();
    }
  }
  void end(const Transcript& transcript) {
    for (Part& part : parts_) {
      part.write(part.writer.end(transcript));
      if (part.is_line) part.write("\n");
      part.file->commit();
    }
  }
  // Returns a note with the paths of partial output, to append to an error message; empty without partial output.
  std::string partial_output_note() const {
    std::string kept;
    for (const Part& part : parts_) {
      const std::string partial = part.file->partial_path();
      if (!partial.empty()) kept += (kept.empty() ? "; the text so far is in " : ", ") + partial;
    }
    return kept;
  }

 private:
  struct Part {
    explicit Part(TranscriptWriter writer_) : writer(std::move(writer_)) {}
    void write(const std::string& text) {
      if (!text.empty()) file->write(text);
    }
    TranscriptWriter writer;
    std::unique_ptr<OutputFile> file;
    bool is_line = false;  // JSON on standard output: one object per line
  };
  std::vector<Part> parts_;
};

// One run of the command. With --output-dir, each segment is written to its file at once. On standard
// output, the segments of a recording are written after all earlier recordings are complete.
class Transcription final : TranscribeStream {
 public:
  explicit Transcription(const TranscribeArguments& arguments)
      : arguments_(arguments), options_(transcribe_options(arguments)) {
    arguments_.lines.word_times = options_.word_timestamps;
    arguments_.formats = formats_of(arguments_);
    if (!arguments_.output_dir.empty()) name_outputs();
    if (!arguments_.draft.empty()) drafts_ = std::make_unique<LineReader>(arguments_.draft);
    if (!arguments_.stats.empty()) stats_file_.emplace(arguments_.stats, OutputFile::Unfinished::remove);
    options_.workers = arguments_.model.share_cpus(options_.workers, std::ssize(arguments_.files) / kFilesPerWorker);
  }

  // Returns true if all recordings were transcribed.
  bool run() {
    const SpeechModel model(arguments_.model.load());
    stats_.load_seconds = stopwatch_.seconds();
    arguments_.model.note_unused_drafts(options_.beam_size,
                                        drafts_ != nullptr || options_.prompt_lookup_num_tokens > 0);
    bar_ = arguments_.model.quiet ? ProgressBar::none() : ProgressBar();
    options_.on_segments = [this](std::size_t number, std::span<const TranscriptSegment> segments) {
      bar_.clear();
      if (arguments_.output_dir.empty() && number != front_) {
        auto& waiting = waiting_[number].segments;
        waiting.insert(waiting.end(), segments.begin(), segments.end());
      } else {
        written(number).add(segments);
      }
    };
    options_.on_progress = [this](std::size_t number, double seconds) {
      done_[number] = seconds;
      show();
    };
    options_.on_work = [this](const GenerateProgress& work) { stats_.work = work; };
    // Transcribe all recordings. Add the paths of partial output to an error message.
    try {
      const Stopwatch stopwatch;
      model.transcribe_stream(*this, options_);
      stats_.generate_seconds = stopwatch.seconds();
    } catch (const Interrupted& stop) {
      bar_.clear();
      throw Interrupted(stop.signal(), partial_output_note());
    } catch (const Error& error) {
      bar_.clear();
      throw Error(fmt::format("{}{}{}", error.what(), hint_of(error), partial_output_note()));
    }
    bar_.clear();
    if (stats_file_) {
      stats_.total_seconds = stopwatch_.seconds();
      stats_.audio_seconds = 0;
      for (const auto& [number, seconds] : done_) *stats_.audio_seconds += seconds;
      stats_file_->write(to_json(stats_) + "\n");
      stats_file_->commit();
    }
    return failed_ == 0;
  }

 private:
  // Output of a recording, kept until all earlier recordings are written.
  struct Waiting {
    std::vector<TranscriptSegment> segments = {};
    std::optional<Transcript> transcript = {};
    bool has_failed = false;
  };

  // Sets names_. Throws UsageError if two names are equal, or if an output file would replace a recording.
  void name_outputs() {
    std::error_code failure;
    std::filesystem::create_directories(arguments_.output_dir, failure);
    if (failure) throw FileError(fmt::format("{}: {}", arguments_.output_dir, failure.message()));
    std::set<std::string> names;
    std::set<std::pair<dev_t, ino_t>> recordings;
    for (const std::string& file : arguments_.files) {
      if (const auto id = file_id(file)) recordings.insert(*id);
      const std::string name = file == "-" ? "stdin" : std::filesystem::path(file).stem().string();
      if (!names.insert(name).second) {
        throw UsageError(fmt::format("two recordings are called '{}', expected different names in --output-dir", name));
      }
      names_.push_back((std::filesystem::path(arguments_.output_dir) / name).string());
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      for (const std::string& path : paths_of(i)) {
        const auto id = file_id(path);
        if (!id || !recordings.contains(*id)) continue;
        throw UsageError(fmt::format("--output-dir {}: {} is a recording, which would be lost; expected another folder",
                                     arguments_.output_dir, path));
      }
    }
  }

  std::optional<Recording> next() override {
    if (read_ == arguments_.files.size()) return std::nullopt;
    const std::string& file = arguments_.files[read_++];
    Recording recording = recording_of(file, arguments_);
    if (drafts_) recording.draft = next_draft();
    seconds_ = seconds_ && recording.seconds ? std::optional(*seconds_ + *recording.seconds) : std::nullopt;
    return recording;
  }

  std::string next_draft() {
    std::string draft;
    if (!drafts_->next(draft)) {
      throw InputError(fmt::format("{}: {} lines, expected one for each of {} recordings", drafts_->name(),
                                   drafts_->lines(), arguments_.files.size()));
    }
    check_utf8(draft, drafts_->position());
    return draft;
  }

  void write(std::size_t number, Transcript transcript) override {
    bar_.clear();
    if (transcript.is_cut && !arguments_.model.quiet) spdlog::warn("{}: {}", arguments_.files[number], kCutRecording);
    if (!arguments_.output_dir.empty()) {
      written(number).end(transcript);
      open_.erase(number);
      return;
    }
    waiting_[number].transcript = std::move(transcript);
    write_waiting();
  }

  bool skips(std::size_t number, const Error& error) override {
    bar_.clear();
    ++failed_;
    if (arguments_.files.size() == 1) return false;
    print_error(fmt::format("{}{}", error.what(), hint_of(error)));
    if (arguments_.output_dir.empty()) {
      waiting_[number].has_failed = true;
      write_waiting();
    }
    return true;
  }

  // Writes the waiting output of recording front_. While recording front_ is complete, continues with the next one.
  void write_waiting() {
    for (auto first = waiting_.find(front_); first != waiting_.end(); first = waiting_.find(front_)) {
      const Waiting waiting = std::move(first->second);
      waiting_.erase(first);
      if (!waiting.has_failed) {
        if (!waiting.segments.empty()) written(front_).add(waiting.segments);
        if (!waiting.transcript) return;
        written(front_).end(*waiting.transcript);
      }
      open_.erase(front_++);
    }
  }

  // Returns the path of each format's output file. An empty path means standard output.
  std::vector<std::string> paths_of(std::size_t number) const {
    std::vector<std::string> paths(arguments_.formats.size(), arguments_.output);
    for (std::size_t i = 0; i < paths.size() && !names_.empty(); ++i) {
      paths[i] = fmt::format("{}.{}", names_[number], name_of(kTranscriptFormats, arguments_.formats[i]));
    }
    return paths;
  }

  // Returns the output of a recording. The first call for a recording opens the output.
  Written& written(std::size_t number) {
    const auto known = open_.find(number);
    if (known != open_.end()) return *known->second;
    auto written = std::make_unique<Written>(arguments_.formats, arguments_.lines, paths_of(number));
    return *open_.emplace(number, std::move(written)).first->second;
  }

  void show() {
    if (!bar_.due()) return;
    double seconds = 0;
    for (const auto& [number, done] : done_) seconds += done;
    Progress progress{.audio_seconds = seconds};
    if (seconds_ && *seconds_ > 0 && read_ == arguments_.files.size()) progress.fraction = seconds / *seconds_;
    bar_.show(progress);
  }

  std::string partial_output_note() const {
    std::string kept;
    for (const auto& [number, written] : open_) kept += written->partial_output_note();
    return kept;
  }

  Stopwatch stopwatch_;
  TranscribeArguments arguments_;
  TranscribeOptions options_;
  std::unique_ptr<LineReader> drafts_;
  std::optional<OutputFile> stats_file_;
  Stats stats_;
  std::vector<std::string> names_;  // paths without extension; empty for standard output
  ProgressBar bar_ = ProgressBar::none();
  std::size_t read_ = 0;
  std::size_t failed_ = 0;
  // The keys of the maps are the numbers of recordings.
  std::size_t front_ = 0;  // recording that is being written to standard output
  std::map<std::size_t, Waiting> waiting_;
  std::map<std::size_t, std::unique_ptr<Written>> open_;
  std::optional<double> seconds_ = 0.0;  // total length of opened recordings; unset if a length is unknown
  std::map<std::size_t, double> done_;   // seconds that were transcribed
};

}  // namespace

Action add_transcribe(CLI::App& command) {
  const auto arguments = std::make_shared<TranscribeArguments>();
  add_transcribe_options(command, *arguments);
  command.footer(
      R"(Text is written as soon as it is recognised. An output file is called NAME.XXXXXX.partial until it is complete, and
keeps that name after a failure.

Other containers and codecs:
  ffmpeg -i FILE -f wav - | encdec transcribe --model DIR -

A microphone, until Ctrl-C:
  arecord -q -t raw -f S16_LE -r 16000 -c 1 | encdec transcribe --model DIR --live --raw int16)");
  return [arguments] {
    const bool is_complete = arguments->is_live ? transcribe_live(*arguments) : Transcription(*arguments).run();
    if (!is_complete) throw Error("not all recordings were transcribed");
  };
}

}  // namespace encdec::cli
