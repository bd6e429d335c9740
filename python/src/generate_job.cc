#include <nanobind/nanobind.h>

#include "bindings.h"
#include "encdec/models/model.h"
#include "inputs.h"
#include "job.h"
#include "options.h"
#include "results.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

using GenerateJob = Job<GenerateInput, GenerateResult>;

class JobStream final : public GenerateStream {
 public:
  JobStream(GenerateJob::Desk& desk, OnError on_error) : desk_(desk), on_error_(on_error) {}

  std::optional<GenerateInput> next(Wait wait) override {
    return desk_.take(wait == Wait::yes ? GenerateJob::Desk::Wait::yes : GenerateJob::Desk::Wait::no);
  }
  void write(GenerateResult result) override { desk_.put(std::move(result)); }
  bool skips(const Error& /*error*/) override { return on_error_ == OnError::null; }

 private:
  GenerateJob::Desk& desk_;
  OnError on_error_;
};

// Starts a job that takes at most `most_unanswered` sources for which no result was returned.
void start(GenerateJob* job, const Model& model, const nb::dict& keywords, bool null_on_error,
           std::size_t most_unanswered) {
  const auto generate = [model, options = generate_options(keywords), null_on_error](GenerateJob::Desk& desk) {
    JobStream stream(desk, null_on_error ? OnError::null : OnError::raise);
    model.generate_stream(stream, options);
  };
  const auto has_room = [most_unanswered](const auto& /*waiting*/, std::size_t unanswered) {
    return unanswered < most_unanswered;
  };
  new (job) GenerateJob("generate_iter", has_room, generate);
}

// Waits for the next event. Returns (result,) for a result, True if the job can take another source, and False at the
// end.
nb::object wait(GenerateJob& job) {
  const auto [event, result] = job.wait();
  if (event != GenerateJob::Event::news) return nb::bool_(event == GenerateJob::Event::room);
  return nb::make_tuple(to_python(*result));
}

}  // namespace

void bind_generate_job(nb::module_& module) {
  nb::class_<GenerateJob>(module, "GenerateJob", nb::is_weak_referenceable())
      .def("__init__", &start, nb::arg("model"), nb::arg("options"), nb::arg("null_on_error"),
           nb::arg("most_unanswered"))
      .def("wait", &wait)
      .def(
          "add",
          [](GenerateJob& job, nb::object source, nb::object prefix, std::size_t number, bool null_on_error) {
            job.add(input_from(source, prefix, number, null_on_error ? OnError::null : OnError::raise));
          },
          nb::arg("source").none(), nb::arg("prefix").none(), nb::arg("number"), nb::arg("null_on_error"))
      .def("finish", &GenerateJob::finish)
      .def("close", &GenerateJob::close);
}

}  // namespace encdec::python
