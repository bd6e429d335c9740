// encdec transcribe --live: transcribes speech while it is read.
#include <encdec/engine/base/cancellation.h>
#include <encdec/models/model/mailbox.h>
#include <encdec/speech/transcript/transcript_format.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "command/commands.h"
#include "command/interrupt.h"
#include "command/lines.h"
#include "command/output_file.h"
#include "command/progress_bar.h"
#include "speech/command/transcribe_arguments.h"

namespace encdec::cli {
namespace {

constexpr double kLongestBacklog = 60;  // maximum LiveSession::backlog() at which reading continues

using Json = nlohmann::ordered_json;

// Writes final texts to standard output or a file, and shows partial texts in the terminal.
class LiveOutput {
 public:
  explicit LiveOutput(const TranscribeArguments& arguments)
      : format_(formats_of(arguments).front()),
        has_json_lines_(arguments.has_json_lines),
        writer_(format_, arguments.lines),
        file_(arguments.output),
        bar_(arguments.model.quiet || has_json_lines_ ? ProgressBar::none() : ProgressBar()) {
    if (!has_lines()) write(writer_.begin());
  }

  // Returns true if partial texts are shown or written.
  bool shows_partials() const { return has_json_lines_ || bar_.is_enabled(); }
  bool has_failed() const { return has_failed_; }

  // Shows or writes an event. Returns true for the last event.
  bool add(const LiveEvent& event) {
    using Kind = LiveEvent::Kind;
    if (event.kind == Kind::partial && !has_json_lines_) {
      bar_.show_end(without_controls(event.text + event.tail));
      return false;
    }
    if (event.kind == Kind::started || event.kind == Kind::stopped) return false;
    bar_.clear();
    if (event.kind == Kind::failed) report(event);
    if (event.kind == Kind::final_text) add_text(event);
    if (has_json_lines_) write(json_of(event) + "\n");
    if (event.kind == Kind::ended) {
      if (!has_lines()) write(writer_.end(whole_));
      file_.commit();
    }
    return event.kind == Kind::ended;
  }

 private:
  // Returns true if each utterance is written as one line, and false for a transcript file such as SRT.
  bool has_lines() const { return has_json_lines_ || format_ == TranscriptFormat::txt; }
  void write(const std::string& text) {
    if (text.empty()) return;
    file_.write(text);
    file_.flush();
  }
  void report(const LiveEvent& event) {
    has_failed_ = true;
    try {
      std::rethrow_exception(event.failure);
    } catch (const std::exception& error) {
      print_error(fmt::format("speech from {:.2f} s to {:.2f} s: {}", event.start, event.end, error.what()));
    }
  }
  void add_text(const LiveEvent& event) {
    whole_.language = event.transcript.language;
    whole_.duration = event.end;
    if (has_json_lines_) return;
    if (has_lines()) return write(event.text.empty() ? "" : without_controls(event.text) + "\n");
    whole_.text += event.transcript.text;
    for (TranscriptSegment segment : event.transcript.segments) {
      segment.id = segments_++;
      write(writer_.add(segment));
    }
  }
  static std::string json_of(const LiveEvent& event) {
    using Kind = LiveEvent::Kind;
    if (event.kind == Kind::ended) {
      return python_text({{"type", "end"},
                          {"duration", event.counts.audio_seconds},
                          {"utterances", event.counts.utterances},
                          {"passes", event.counts.passes},
                          {"passes_skipped", event.counts.skipped}});
    }
    Json json = {{"type", name_of(kLiveEventKinds, event.kind)},
                 {"id", event.utterance},
                 {"start", event.start},
                 {"end", event.end},
                 {"text", event.text}};
    if (event.kind == Kind::partial) json["tail"] = event.tail;
    if (event.kind != Kind::final_text) return python_text(json);
    if (!event.transcript.language.empty()) json["language"] = event.transcript.language;
    for (const TranscriptSegment& segment : event.transcript.segments) {
      const Json of_segment = segment_json(segment, SegmentWords::with_probabilities);
      if (!of_segment.contains("words")) continue;
      for (const Json& word : of_segment["words"]) json["words"].push_back(word);
    }
    return python_text(json);
  }

  TranscriptFormat format_;
  bool has_json_lines_;
  TranscriptWriter writer_;
  OutputFile file_;
  ProgressBar bar_;
  Transcript whole_;
  std::size_t segments_ = 0;
  bool has_failed_ = false;
};

// Opens the recording or standard input. Throws UsageError if standard input is a terminal.
AudioReader open_input(const TranscribeArguments& arguments) {
  const std::string& file = arguments.files.empty() ? "-" : arguments.files.front();
  if (file != "-") return AudioReader::open(file);
  if (::isatty(STDIN_FILENO) == 1) {
    throw UsageError(
        "standard input is a terminal, expected audio, for example from: "
        "arecord -q -t raw -f S16_LE -r 16000 -c 1 | encdec transcribe --model DIR --live --raw int16");
  }
  return open_standard_input(arguments);
}

}  // namespace

bool transcribe_live(const TranscribeArguments& given) {
  TranscribeArguments arguments = given;
  LiveOptions live = arguments.live;
  live.transcribe = transcribe_options(arguments);
  arguments.lines.word_times = live.transcribe.word_timestamps;
  live.transcribe.workers = arguments.model.share_cpus(live.transcribe.workers, 1);
  const SpeechModel model(arguments.model.load());
  LiveOutput output(arguments);
  if (!output.shows_partials()) live.partials = Partials::none;
  AudioReader reader = open_input(arguments);
  reader.read_live();

  // Workers write the output. A message in `ends` wakes this thread: at the end of the session or after an exception.
  RequestQueue queue(model.model(), model.queue_options(live.transcribe));
  Mailbox<std::exception_ptr> ends;  // null: the session has ended
  LiveSession session(model, queue, live, [&](const LiveEvent& event) {
    try {
      if (output.add(event)) ends.put(nullptr);
    } catch (...) {
      ends.put(std::current_exception());
    }
  });
  const auto is_over = [&](std::chrono::milliseconds time) {
    const auto ended = ends.take(time);
    if (!ended.empty() && ended.front()) std::rethrow_exception(ended.front());
    return !ended.empty();
  };
  // Feed 20 ms at a time. Pause while the backlog is long, for example because a file is read faster than decoded.
  std::vector<float> chunk(AudioReader::kSampleRate / 50);
  try {
    for (std::size_t count = chunk.size(); count == chunk.size();) {
      count = reader.read(chunk);
      session.feed(std::span(chunk).first(count));
      is_over({});
      while (session.backlog() > kLongestBacklog) is_over(kCancellationInterval);
    }
  } catch (const Interrupted&) {
    // Transcribe the speech that was read. A second signal ends the command.
  }
  const CancellationScope goes_on(nullptr);  // the work below continues after the first signal
  session.finish();
  while (!is_over(kCancellationInterval)) {
  }
  if (reader.is_cut() && !arguments.model.quiet) spdlog::warn("{}", kCutRecording);
  return !output.has_failed();
}

}  // namespace encdec::cli
