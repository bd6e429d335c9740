#include <nanobind/nanobind.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "compute.h"
#include "encdec/encoders/embedder.h"
#include "encdec/engine/base/error.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/models/model/generate_request.h"
#include "encdec/models/model/request_queue.h"
#include "encdec/speech/live/live_session.h"
#include "encdec/speech/speech_model.h"
#include "inbox.h"
#include "inputs.h"
#include "options.h"
#include "results.h"
#include "tools/speech/python/recordings.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// A request queue that Python closes before the interpreter ends, even if objects still refer to it.
class ClosableQueue {
 public:
  ClosableQueue(Model model, const RequestQueueOptions& options)
      : queue_(std::make_shared<RequestQueue>(std::move(model), options)) {}
  ~ClosableQueue() { close(); }
  ClosableQueue(const ClosableQueue&) = delete;
  ClosableQueue& operator=(const ClosableQueue&) = delete;

  std::shared_ptr<RequestQueue> get() const {
    exit_after_end();
    if (queue_ == nullptr) throw Error("the interpreter is shutting down, expected no more requests");
    return queue_;
  }
  // Stops the queue and waits for its workers. They cannot be waiting for the interpreter's lock: their callbacks only
  // add events to inboxes.
  void close() {
    std::shared_ptr<RequestQueue> last = std::exchange(queue_, nullptr);
    const LockReleased released;
    last = nullptr;
  }

 private:
  std::shared_ptr<RequestQueue> queue_;
};

// Calls `submit`, which tokenizes the inputs, without the interpreter's lock. For few inputs it runs on the calling
// thread: that is faster than a helper thread, with which compute() reacts to signals.
template <class Submit>
Request submit_without_lock(std::size_t inputs, const Submit& submit) {
  constexpr std::size_t kFew = 64;
  if (inputs > kFew) return compute(submit);
  const EngineCall call;
  return submit();
}

Request submit(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, nb::list sources,
               nb::object known, nb::dict keywords, bool with_tokens, bool null_on_error) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  const GenerateOptions options = generate_options(keywords);
  const std::vector<GenerateInput> inputs = inputs_from(sources, known, null_on_error ? OnError::null : OnError::raise);
  return submit_without_lock(
      inputs.size(), [&] { return queue->submit(inputs, options, inbox.generate_handlers(number, with_tokens)); });
}

// Submits texts to an Embedder or a Classifier.
template <class Result, class Face, class Texts, class Options>
Request submit_texts(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, const Face& face,
                     const Texts& texts, const Options& options) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  return submit_without_lock(texts.size(),
                             [&] { return face.submit(*queue, texts, options, inbox.handlers<Result>(number)); });
}

Request embed(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number, const Model& model, nb::list texts,
              nb::dict keywords) {
  const EmbedOptions options = embed_options(keywords);
  return submit_texts<VectorResult>(queue, inbox, number, Embedder(model), texts_from(texts), options);
}

Request classify(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number, const Classifier& classifier,
                 nb::list texts, nb::object seconds, nb::dict keywords) {
  const ClassifyOptions options = classify_options(keywords);
  return submit_texts<VectorResult>(queue, inbox, number, classifier, pairs_from(texts, seconds), options);
}

Request tag(const ClosableQueue& queue, const Inbox& inbox, std::uint64_t number, const Classifier& classifier,
            nb::list texts, nb::dict keywords) {
  const TagOptions options = tag_options(keywords);
  return submit_texts<std::vector<Entity>>(queue, inbox, number, classifier, texts_from(texts), options);
}

Request submit_sound(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, const SpeechModel& model,
                     const Sound& sound, nb::dict keywords) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  const TranscribeOptions options = transcribe_options(keywords);
  return compute([&] { return model.submit(*queue, sound.recording, options, inbox.transcribe_handlers(number)); });
}

// A request with a queue of its own, to which Python adds sources one by one.
class SourceQueue {
 public:
  SourceQueue(Model model, const Inbox& inbox, const GenerateOptions& options)
      : request_(std::make_shared<GenerateRequest>(model, options, inbox.generate_handlers(0, false))),
        queue_(std::move(model), request_->queue_options(options)) {
    queue_.get()->submit(request_, {});
  }

  void add(nb::object source, std::size_t index, bool null_on_error) {
    const auto queue = queue_.get();
    const GenerateInput input =
        input_from(source, nb::none(), index + 1, null_on_error ? OnError::null : OnError::raise);
    const EngineCall call;
    request_->enqueue(request_->task().job(input, index));
  }
  void close() { queue_.close(); }

 private:
  std::shared_ptr<GenerateRequest> request_;
  ClosableQueue queue_;
};

// A live session in a queue. Python closes it before the queue.
class Live {
 public:
  Live(const ClosableQueue& holder, const Inbox& inbox, const SpeechModel& model, const LiveOptions& options)
      : queue_(holder.get()) {
    const auto on_event = [put = inbox.put(0)](LiveEvent event) { put(0, std::move(event)); };
    session_ = compute([&] { return std::make_unique<LiveSession>(model, *queue_, options, on_event); });
  }
  ~Live() { close(); }
  Live(const Live&) = delete;
  Live& operator=(const Live&) = delete;

  // Adds a buffer of samples, int16 or float32.
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

const char* kind_of(const Event& event) {
  if (std::holds_alternative<TokenIds>(event.news)) return "tokens";
  if (std::holds_alternative<std::vector<TranscriptSegment>>(event.news)) return "segments";
  if (std::holds_alternative<LiveEvent>(event.news)) return "live";
  return std::holds_alternative<std::exception_ptr>(event.news) ? "failure" : "result";
}

// Returns (request, source, kind, value).
nb::object to_tuple(Event event) {
  const nb::object value = std::visit([](auto& news) { return to_python(std::move(news)); }, event.news);
  return nb::make_tuple(event.request, event.source, kind_of(event), value);
}

nb::list take(Inbox& inbox) {
  nb::list list;
  for (Event& event : inbox.take()) list.append(to_tuple(std::move(event)));
  return list;
}

}  // namespace

void bind_requests(nb::module_& module) {
  nb::class_<Inbox>(module, "Inbox")
      .def(nb::init<>())
      .def("fileno", &Inbox::descriptor)
      .def("take", &take)
      .def("end", &Inbox::end)
      .def("wait", &Inbox::wait);
  nb::class_<Request>(module, "Request").def("cancel", &Request::cancel, nb::call_guard<LockReleased>());
  nb::class_<ClosableQueue>(module, "RequestQueue", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](ClosableQueue* queue, const Model& model, int workers) {
            new (queue) ClosableQueue(model, {.workers = workers});
          },
          nb::arg("model"), nb::arg("workers"))
      .def_static(
          "for_sounds",
          [](const SpeechModel& model, nb::dict keywords) {
            const TranscribeOptions options = transcribe_options(keywords);
            return std::make_unique<ClosableQueue>(model.model(),
                                                   compute([&] { return model.queue_options(options); }));
          },
          nb::arg("model"), nb::arg("options"))
      .def("submit", &submit, nb::arg("inbox"), nb::arg("number"), nb::arg("sources"), nb::arg("known").none(),
           nb::arg("options"), nb::arg("with_tokens"), nb::arg("null_on_error"))
      .def("embed", &embed, nb::arg("inbox"), nb::arg("number"), nb::arg("model"), nb::arg("texts"), nb::arg("options"))
      .def("classify", &classify, nb::arg("inbox"), nb::arg("number"), nb::arg("classifier"), nb::arg("texts"),
           nb::arg("seconds").none(), nb::arg("options"))
      .def("tag", &tag, nb::arg("inbox"), nb::arg("number"), nb::arg("classifier"), nb::arg("texts"),
           nb::arg("options"))
      .def("submit_sound", &submit_sound, nb::arg("inbox"), nb::arg("number"), nb::arg("model"), nb::arg("sound"),
           nb::arg("options"))
      .def("close", &ClosableQueue::close);
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
  nb::class_<SourceQueue>(module, "SourceQueue", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](SourceQueue* queue, const Model& model, const Inbox& inbox, nb::dict options) {
            new (queue) SourceQueue(model, inbox, generate_options(options));
          },
          nb::arg("model"), nb::arg("inbox"), nb::arg("options"))
      .def("add", &SourceQueue::add, nb::arg("source").none(), nb::arg("index"), nb::arg("null_on_error"))
      .def("close", &SourceQueue::close);
}

}  // namespace encdec::python
