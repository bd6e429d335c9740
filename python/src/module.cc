#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/thread_team.h"
#include "errors.h"
#include "options.h"

namespace nb = nanobind;

NB_MODULE(_encdec, module) {
  using namespace encdec::python;

  translate_errors();
  module.attr("__version__") = ENCDEC_VERSION;
  module.def("generate_option_names", &generate_option_names);
  module.def("default_threads", &encdec::default_threads);
  module.def("build_info", [] {
    nb::dict info;
    info["version"] = ENCDEC_VERSION;
    info["onednn"] = ENCDEC_ONEDNN_VERSION;
    info["instructions"] = encdec::kernels::vector_target();
    info["compiler"] = __VERSION__;
    info["cpus"] = encdec::available_cpus();
    info["threads"] = encdec::default_threads();
    return info;
  });
  bind_tokenizer(module);
  bind_model(module);
  bind_generate_job(module);
  bind_requests(module);
  bind_transcribe(module);
}
