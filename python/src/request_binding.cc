#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "closable_queue.h"
#include "compute.h"
#include "encdec/models/model/generate_request.h"
#include "encdec/models/model/request_queue.h"
#include "inbox.h"
#include "inputs.h"
#include "options.h"
#include "results.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// Returns callbacks that add results, failures and, if `with_tokens`, tokens to the inbox.
GenerateHandlers generate_handlers(const Inbox& inbox, std::uint64_t request, bool with_tokens) {
  const auto to_object = [](const auto& news) { return to_python(news); };
  GenerateHandlers handlers = inbox.handlers<GenerateResult>(request, to_object);
  if (with_tokens) {
    handlers.on_tokens = [put = inbox.put<TokenIds>(request, "tokens", to_object)](std::size_t source,
                                                                                   std::span<const std::int32_t> tokens,
                                                                                   std::span<const float> /*scores*/) {
      put(source, TokenIds(tokens.begin(), tokens.end()));
    };
  }
  return handlers;
}

Request submit(const ClosableQueue& holder, const Inbox& inbox, std::uint64_t number, nb::list sources,
               nb::object known, nb::dict keywords, bool with_tokens, bool null_on_error) {
  const std::shared_ptr<RequestQueue> queue = holder.get();
  const GenerateOptions options = generate_options(keywords);
  const std::vector<GenerateInput> inputs = inputs_from(sources, known, null_on_error ? OnError::null : OnError::raise);
  return submit_without_lock(
      inputs.size(), [&] { return queue->submit(inputs, options, generate_handlers(inbox, number, with_tokens)); });
}

// A request in a separate queue. Python adds sources to the request one by one.
class SourceQueue {
 public:
  SourceQueue(Model model, const Inbox& inbox, const GenerateOptions& options)
      : request_(std::make_shared<GenerateRequest>(model, options, generate_handlers(inbox, 0, false))),
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

// Returns all events as tuples (request, source, kind, value).
nb::list take(Inbox& inbox) {
  nb::list list;
  for (const Event& event : inbox.take()) {
    list.append(nb::make_tuple(event.request, event.source, event.kind, event.value()));
  }
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
  // The queues are weakly referenceable, so that _lifetime.py can close them at exit.
  nb::class_<ClosableQueue>(module, "RequestQueue", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](ClosableQueue* queue, const Model& model, int workers) {
            new (queue) ClosableQueue(model, {.workers = workers});
          },
          nb::arg("model"), nb::arg("workers"))
      .def("submit", &submit, nb::arg("inbox"), nb::arg("number"), nb::arg("sources"), nb::arg("known").none(),
           nb::arg("options"), nb::arg("with_tokens"), nb::arg("null_on_error"))
      .def("close", &ClosableQueue::close);
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
