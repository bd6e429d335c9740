#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>

#include "bindings.h"
#include "compute.h"
#include "encdec/engine/base/machine.h"
#include "encdec/engine/kernels/matmul_kernels.h"
#include "encdec/engine/thread_team.h"
#include "encdec/models/model/hub_cache.h"
#include "options.h"
#include "slice.h"

namespace nb = nanobind;

NB_MODULE(encdec_bindings, module) {
  using namespace encdec::python;

  // nanobind registers a type once per process. If the module was removed from sys.modules and is imported again, the
  // new module therefore gets the contents of the first module.
  static nb::handle first;
  if (first.is_valid()) {
    for (auto [name, value] : nb::borrow<nb::dict>(first.attr("__dict__"))) {
      if (!nb::hasattr(module, name)) nb::setattr(module, name, value);
    }
    return;
  }
  // At exit, daemon threads and forked processes still refer to objects, which nanobind would report as leaks.
  nb::set_leak_warnings(false);
  translate_errors();
  find_main_thread();
  module.attr("__version__") = ENCDEC_VERSION;
  module.def("generate_option_names", &generate_option_names);
  module.def("end_calls", &end_calls);
  module.def("default_threads", &encdec::default_threads);
  module.def("is_hub_name", [](nb::bytes model) { return encdec::is_hub_name({model.c_str(), model.size()}); });
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
  bind_requests(module);
  // Each slice gets a submodule with its name.
  nb::list slices;
  [[maybe_unused]] const auto bind = [&](const char* name, void (*bind_slice)(nb::module_&)) {
    nb::module_ own = module.def_submodule(name);
    bind_slice(own);
    slices.append(name);
  };
#define ENCDEC_SLICE(name) bind(#name, &bind_##name);
#include "slices.inc"
#undef ENCDEC_SLICE
  module.attr("slices") = slices;
  first = module.inc_ref();
}

namespace {

// Raises ImportError in any interpreter but the main interpreter.
int refuse_subinterpreters(PyObject* /*module*/) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return 0;
  PyErr_SetString(PyExc_ImportError,
                  "encdec: imported in a subinterpreter, expected the main interpreter of the process "
                  "(mod_wsgi: WSGIApplicationGroup %{GLOBAL})");
  return -1;
}

}  // namespace

// Initialises the module, with refuse_subinterpreters() as the first step. In a subinterpreter, nanobind's own step
// would replace the types that the main interpreter uses.
extern "C" NB_EXPORT PyObject* PyInit__encdec() {  // NOLINT(bugprone-reserved-identifier)
  static std::array<PyModuleDef_Slot, 8> slots = {{{Py_mod_exec, reinterpret_cast<void*>(&refuse_subinterpreters)}}};
  if (refuse_subinterpreters(nullptr) != 0) return nullptr;
  PyObject* result = PyInit_encdec_bindings();
  if (result == nullptr) return nullptr;
  if (PyModule_Check(result)) {           // nanobind before 2.8 uses single-phase initialisation
    PyModule_GetDef(result)->m_size = 0;  // makes Python call this function in every interpreter
    return result;
  }
  // Multi-phase initialisation: put our step before nanobind's steps.
  auto* definition = reinterpret_cast<PyModuleDef*>(result);
  if (definition->m_slots == slots.data()) return result;
  std::size_t count = 1;
  for (const PyModuleDef_Slot* slot = definition->m_slots; slot->slot != 0; ++slot) slots[count++] = *slot;
  definition->m_slots = slots.data();
  return result;
}
