#include <nanobind/nanobind.h>

#include "bindings.h"
#include "generate_job.h"
#include "inputs.h"
#include "options.h"
#include "results.h"

namespace encdec::python {

namespace nb = nanobind;

void bind_generate_job(nb::module_& module) {
  nb::class_<GenerateJob>(module, "GenerateJob", nb::is_weak_referenceable())
      .def(
          "__init__",
          [](GenerateJob* self, const Model& model, const nb::dict& keywords, bool null_on_error,
             std::size_t most_unanswered) {
            new (self) GenerateJob(model, generate_options(keywords), null_on_error ? OnError::null : OnError::raise,
                                   most_unanswered);
          },
          nb::arg("model"), nb::arg("options"), nb::arg("null_on_error"), nb::arg("most_unanswered"))
      // (result,) for a result; True where there is room for another source, False at the end.
      .def("wait",
           [](GenerateJob& self) -> nb::object {
             const auto [event, result] = self.wait();
             if (event != GenerateJob::Event::result) return nb::bool_(event == GenerateJob::Event::room);
             return nb::make_tuple(to_python(*result));
           })
      .def(
          "add",
          [](GenerateJob& self, nb::object source, nb::object prefix, std::size_t number, bool null_on_error) {
            self.add(input_from(source, prefix, number, null_on_error ? OnError::null : OnError::raise));
          },
          nb::arg("source").none(), nb::arg("prefix").none(), nb::arg("number"), nb::arg("null_on_error"))
      .def("finish", &GenerateJob::finish)
      .def("close", &GenerateJob::close);
}

}  // namespace encdec::python
