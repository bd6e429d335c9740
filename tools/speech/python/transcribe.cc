#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <utility>

#include "encdec/engine/base/mutex.h"
#include "encdec/speech/live/live_session.h"
#include "encdec/speech/speech_model.h"
#include "encdec/speech/transcript/alignment_format.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "python/src/closable_queue.h"
#include "python/src/compute.h"
#include "python/src/inbox.h"
#include "python/src/inputs.h"
#include "python/src/values.h"
#include "slice.h"
#include "speech/python/recordings.h"
#include "speech/python/transcripts.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

template <class Format>
Format format_named(const auto& table, const nb::object& given) {
  std::string name;
  read_value("format", given, name);
  if (const auto format = value_named<Format>(table, name)) return *format;
  throw ConfigError(fmt::format("format is '{}', expected one of {}", name, fmt::join(names_of(table), ", ")));
}

nb::object format_transcript(nb::dict fields, nb::object name, nb::dict lines) {
  const auto format = format_named<TranscriptFormat>(kTranscriptFormats, name);
  return text_of(encdec::format(transcript_from(fields), format, transcript_line_options(lines)));
}

nb::object format_lines(nb::dict fields, nb::object name) {
  return text_of(format_alignment(transcript_from(fields), format_named<AlignmentFormat>(kAlignmentFormats, name)));
}

// Returns handlers that convert results to Python objects and put them into the inbox of the caller's thread.
TranscribeHandlers transcribe_handlers(const Inbox& inbox, std::uint64_t request) {
  const auto to_object = [](const auto& news) { return to_python(news); };
  const auto put_result = inbox.put<Transcript>(request, "result", to_object);
  const auto put_segments = inbox.put<std::vector<TranscriptSegment>>(request, "segments", to_object);
  const auto put_failure = inbox.put_failure(request);
  return {.on_result = [put_result](Transcript transcript) { put_result(0, std::move(transcript)); },
          .on_failure = [put_failure](std::exception_ptr failure) { put_failure(0, std::move(failure)); },
          .on_segments =
              [put_segments](auto segments) {
                put_segments(0, {segments.begin(), segments.end()});
              }};
}

Request submit_sound(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, const SpeechModel& model,
                     const Sound& sound, nb::dict keywords) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  const TranscribeOptions options = transcribe_options(keywords);
  return compute([&] { return model.submit(*queue, sound.recording, options, transcribe_handlers(inbox, number)); });
}

std::unique_ptr<ClosableQueue> queue_for(const SpeechModel& model, nb::dict keywords) {
  const TranscribeOptions options = transcribe_options(keywords);
  return std::make_unique<ClosableQueue>(model.model(), compute([&] { return model.queue_options(options); }));
}

// A live session. Python code closes the session before its queue. Functions release the GIL.
class Live {
 public:
  Live(const ClosableQueue& holder, const Inbox& inbox, const SpeechModel& model, const LiveOptions& options)
      : queue_(holder.get()) {
    const auto to_object = [](const LiveEvent& event) { return to_python(event); };
    const auto on_event = [put = inbox.put<LiveEvent>(0, "live", to_object)](LiveEvent event) {
      put(0, std::move(event));
    };
    session_ = compute([&] { return std::make_unique<LiveSession>(model, *queue_, options, on_event); });
  }
  ~Live() { close(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Adds a buffer of samples in the format int16 or float32.
  void feed(nb::object samples, bool is_int16) {
    const std::vector<std::byte> bytes = bytes_of_buffer(samples);
    const EngineCall call;
    const MutexLock lock(mutex_);
    if (is_int16) return session().feed(bytes);
    std::vector<float> floats(bytes.size() / sizeof(float));
    std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
    session().feed(floats);
  }
  bool commit() {
    const EngineCall call;
    const MutexLock lock(mutex_);
    return session().commit();
  }
  void clear() {
    const EngineCall call;
    const MutexLock lock(mutex_);
    session().clear();
  }
  void finish() {
    const EngineCall call;
    const MutexLock lock(mutex_);
    session().finish();
    is_finished_ = true;
  }
  void close() {
    const LockReleased released;
    const MutexLock lock(mutex_);
    session_ = nullptr;
    queue_ = nullptr;
  }

 private:
  LiveSession& session() ENCDEC_REQUIRES(mutex_) {
    if (session_ == nullptr || is_finished_) throw InputError("the session is over, expected no more calls");
    return *session_;
  }

  std::shared_ptr<RequestQueue> queue_;
  Mutex mutex_;
  std::unique_ptr<LiveSession> session_ ENCDEC_GUARDED_BY(mutex_);
  bool is_finished_ ENCDEC_GUARDED_BY(mutex_) = false;
};

}  // namespace

void bind_speech(nb::module_& module) {
  nb::class_<Sound>(module, "Sound")
      .def_ro("size", &Sound::bytes)
      .def("set_draft", [](Sound& sound, std::string draft) { sound.recording.draft = std::move(draft); })
      .def("set_text", [](Sound& sound, std::string text) { sound.recording.text = std::move(text); })
      .def("open", [](const Sound& sound) { compute([&] { return sound.recording.open() != nullptr; }); })
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
  nb::class_<Live>(module, "Live", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Live* live, const ClosableQueue& queue, const Inbox& inbox, const SpeechModel& model, nb::dict options,
             nb::dict transcribe, int sampling_rate) {
            LiveOptions read = live_options(options, transcribe);
            read.format.sample_rate = sampling_rate;
            new (live) Live(queue, inbox, model, read);
          },
          nb::arg("queue"), nb::arg("inbox"), nb::arg("model"), nb::arg("options"), nb::arg("transcribe"),
          nb::arg("sampling_rate"))
      .def("feed", &Live::feed, nb::arg("samples"), nb::arg("is_int16"))
      .def("commit", &Live::commit)
      .def("clear", &Live::clear)
      .def("finish", &Live::finish)
      .def("close", &Live::close);
  module.def("transcribe_option_names", &transcribe_option_names);
  module.def("live_option_names", &live_option_names);
  module.def("queue_for", &queue_for, nb::arg("model"), nb::arg("options"));
  module.def("submit_sound", &submit_sound, nb::arg("queue"), nb::arg("inbox"), nb::arg("number"), nb::arg("model"),
             nb::arg("sound"), nb::arg("options"));
  module.def("format_transcript", &format_transcript, nb::arg("fields"), nb::arg("format").none(), nb::arg("lines"));
  module.def("format_alignment", &format_lines, nb::arg("fields"), nb::arg("format").none());
}

}  // namespace encdec::python
