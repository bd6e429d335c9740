#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <variant>

#include "bindings.h"
#include "compute.h"
#include "encdec/models/speech/speech_model.h"
#include "encdec/models/speech/transcript/transcript_format.h"
#include "inputs.h"
#include "job.h"
#include "on_error.h"
#include "options.h"
#include "recordings.h"
#include "transcripts.h"
#include "values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// A stream that collects the segments of each recording and writes whole transcripts.
class WholeTranscripts : public TranscribeStream {
 public:
  explicit WholeTranscripts(OnError on_error) : on_error_(on_error) {}

  // Returns the options with a callback that passes segments to this stream.
  TranscribeOptions options_with_callbacks(TranscribeOptions options) {
    options.on_segments = [this](std::size_t recording, std::span<const TranscriptSegment> segments) {
      add(recording, segments);
    };
    return options;
  }

 protected:
  // Writes a transcript; nullopt if the recording cannot be read.
  virtual void write_whole(std::size_t recording, std::optional<Transcript> transcript) = 0;
  virtual void add(std::size_t recording, std::span<const TranscriptSegment> segments) {
    std::vector<TranscriptSegment>& all = segments_[recording];
    all.insert(all.end(), segments.begin(), segments.end());
  }

 private:
  void write(std::size_t recording, Transcript transcript) final {
    transcript.segments = std::move(segments_[recording]);
    segments_.erase(recording);
    write_whole(recording, std::move(transcript));
  }
  bool skips(std::size_t recording, const Error& /*error*/) final {
    if (on_error_ == OnError::raise) return false;
    segments_.erase(recording);
    write_whole(recording, std::nullopt);
    return true;
  }

  OnError on_error_;
  std::map<std::size_t, std::vector<TranscriptSegment>> segments_;
};

// A stream whose recordings and transcripts are all in memory.
class ListStream final : public WholeTranscripts {
 public:
  ListStream(std::vector<Recording> recordings, OnError on_error)
      : WholeTranscripts(on_error), transcripts(recordings.size()), recordings_(std::move(recordings)) {}

  std::optional<Recording> next() override {
    return read_ < recordings_.size() ? std::optional(std::move(recordings_[read_++])) : std::nullopt;
  }
  void write_whole(std::size_t recording, std::optional<Transcript> transcript) override {
    transcripts[recording] = std::move(transcript);
  }

  std::vector<std::optional<Transcript>> transcripts;

 private:
  std::vector<Recording> recordings_;
  std::size_t read_ = 0;
};

// Returns the bytes of a file name, which may not be UTF-8.
std::string plain(const nb::bytes& bytes) {
  return {bytes.c_str(), bytes.size()};
}

Words words_of(const TranscribeOptions& options) {
  return options.word_timestamps ? Words::yes : Words::no;
}

OnError on_error(bool null_on_error) {
  return null_on_error ? OnError::null : OnError::raise;
}

// Returns the transcripts in the order of the recordings, None for recordings that cannot be read.
nb::list transcribe(const SpeechModel& model, nb::list sounds, nb::dict keywords, bool null_on_error) {
  const TranscribeOptions options = transcribe_options(keywords);
  std::vector<Recording> recordings;
  for (const nb::handle sound : sounds) recordings.push_back(nb::cast<const Sound&>(sound).recording);
  const auto transcripts = compute([&] {
    // Opens all files first, so that a missing one is an error now and not after hours.
    if (!null_on_error) {
      for (const Recording& recording : recordings) recording.open();
    }
    ListStream stream(std::move(recordings), on_error(null_on_error));
    model.transcribe_stream(stream, stream.options_with_callbacks(options));
    return std::move(stream.transcripts);
  });
  nb::list list;
  for (const std::optional<Transcript>& transcript : transcripts) {
    list.append(transcript ? to_python(*transcript, words_of(options)) : nb::none());
  }
  return list;
}

struct TranscribeNews {
  std::size_t recording = 0;
  // Segments come only if they were requested. std::monostate: the recording cannot be read.
  std::variant<std::monostate, std::vector<TranscriptSegment>, Transcript> what = {};
};

// A job that transcribes recordings as Python adds them.
class TranscribeJob final : public Job<Sound, TranscribeNews> {
 public:
  TranscribeJob(const SpeechModel& model, const TranscribeOptions& options, OnError on_error, bool wants_segments)
      : Job("transcribe_iter", room_for(options), work(model, options, on_error, wants_segments)),
        words_(words_of(options)) {}

  Words words() const { return words_; }

 private:
  class Stream final : public WholeTranscripts {
   public:
    Stream(Desk& desk, OnError on_error, bool wants_segments)
        : WholeTranscripts(on_error), desk_(desk), tells_segments_(wants_segments) {}

    std::optional<Recording> next() override {
      std::optional<Sound> sound = desk_.take(Desk::Wait::yes);
      return sound ? std::optional(std::move(sound->recording)) : std::nullopt;
    }
    void write_whole(std::size_t recording, std::optional<Transcript> transcript) override {
      TranscribeNews news{.recording = recording};
      if (transcript) news.what = *std::move(transcript);
      desk_.put(std::move(news));
    }
    void add(std::size_t recording, std::span<const TranscriptSegment> segments) override {
      if (!tells_segments_) return WholeTranscripts::add(recording, segments);
      desk_.put({.recording = recording, .what = std::vector(segments.begin(), segments.end())});
    }

   private:
    Desk& desk_;
    bool tells_segments_;
  };

  // Limits the number and the memory of the recordings that wait. One recording may always wait, whatever its size,
  // because the work needs it to go on.
  static HasRoom room_for(const TranscribeOptions& options) {
    constexpr std::size_t kMaxBytes = std::size_t{64} << 20, kMaxOfWorker = 16;
    const std::size_t most = kMaxOfWorker * static_cast<std::size_t>(std::max(options.workers, 1));
    return [most](const std::deque<Sound>& waiting, std::size_t /*unanswered*/) {
      const auto add = [](std::size_t sum, const Sound& sound) { return sum + sound.bytes; };
      const std::size_t bytes = std::accumulate(waiting.begin(), waiting.end(), std::size_t{0}, add);
      return waiting.empty() || (waiting.size() < most && bytes < kMaxBytes);
    };
  }
  static Work work(const SpeechModel& model, const TranscribeOptions& options, OnError on_error, bool wants_segments) {
    return [model, options, on_error, wants_segments](Desk& desk) {
      Stream stream(desk, on_error, wants_segments);
      model.transcribe_stream(stream, stream.options_with_callbacks(options));
    };
  }

  Words words_;
};

void start(TranscribeJob* job, const SpeechModel& model, const nb::dict& keywords, bool null_on_error,
           bool wants_segments) {
  new (job) TranscribeJob(model, transcribe_options(keywords), on_error(null_on_error), wants_segments);
}

// Waits for the next event. Returns one of:
// - (recording, [segment...]),
// - (recording, transcript),
// - (recording, None) for a recording that cannot be read,
// - True if the job can take another recording,
// - False at the end.
nb::object wait(TranscribeJob& job) {
  const auto [event, news] = job.wait();
  if (event != TranscribeJob::Event::news) return nb::bool_(event == TranscribeJob::Event::room);
  nb::object what = nb::none();
  if (const auto* segments = std::get_if<std::vector<TranscriptSegment>>(&news->what)) {
    nb::list list;
    for (const TranscriptSegment& segment : *segments) list.append(to_python(segment, job.words()));
    what = list;
  } else if (const auto* transcript = std::get_if<Transcript>(&news->what)) {
    what = to_python(*transcript, job.words());
  }
  return nb::make_tuple(news->recording, what);
}

nb::object format_transcript(nb::tuple parts, nb::object format_name, nb::dict lines) {
  std::string name;
  read_value("format", format_name, name);
  const std::optional<TranscriptFormat> format = transcript_format_named(name);
  if (!format) throw ConfigError(fmt::format("format is '{}', expected txt, vtt, srt, tsv, json or lrc", name));
  return text_of(encdec::format(transcript_from(parts), *format, transcript_line_options(lines)));
}

}  // namespace

void bind_transcribe(nb::module_& module) {
  nb::class_<Sound>(module, "Sound")
      .def_static(
          "of_file", [](nb::bytes path) { return sound_of_file(plain(path)); }, nb::arg("path"))
      .def_static(
          "of_bytes", [](nb::object bytes, nb::bytes name) { return sound_of_bytes(bytes, plain(name)); },
          nb::arg("bytes"), nb::arg("name"))
      .def_static(
          "of_samples",
          [](nb::object samples, nb::bytes name, nb::object sampling_rate, bool is_int16) {
            return sound_of_samples(samples, plain(name), sampling_rate, is_int16);
          },
          nb::arg("samples"), nb::arg("name"), nb::arg("sampling_rate"), nb::arg("is_int16"));
  nb::class_<SpeechModel>(module, "SpeechModel").def(nb::init<Model>(), nb::arg("model"));
  module.def("transcribe", &transcribe, nb::arg("model"), nb::arg("sounds"), nb::arg("options"),
             nb::arg("null_on_error"));
  module.def("format_transcript", &format_transcript, nb::arg("parts"), nb::arg("format").none(), nb::arg("lines"));
  nb::class_<TranscribeJob>(module, "TranscribeJob", nb::is_weak_referenceable())
      .def("__init__", &start, nb::arg("model"), nb::arg("options"), nb::arg("null_on_error"),
           nb::arg("wants_segments"))
      .def("wait", &wait)
      .def("add", &TranscribeJob::add, nb::arg("sound"))
      .def("finish", [](TranscribeJob& job) { job.finish(); })
      .def("close", [](TranscribeJob& job) { job.close(); });
}

}  // namespace encdec::python
