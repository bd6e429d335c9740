#pragma once

#include <memory>

namespace nanobind {
class module_;
}  // namespace nanobind

namespace encdec {
namespace cli {
struct CommandSlice;
}  // namespace cli
namespace serve {
class ServerSlice;
}  // namespace serve

// What a slice gives to the programs that host it. A slice is what can be done with a model besides generation: a
// folder beside this file, with library, subcommands, HTTP handlers, Python binding, tests and a page of documentation.
// The build writes slices.inc, a line ENCDEC_SLICE(name) for each slice of ENCDEC_SLICES. A host loops over the slices
// by defining this macro and including slices.inc. For each slice NAME:
// - NAME_command_slice(), in NAME/command/: its subcommands of `encdec`;
// - NAME_server_slice(), in NAME/server/: its routes, options and state in `encdec serve`;
// - bind_NAME(module), in NAME/python/: its classes and functions in the extension module of the Python package. Its
//   Python code is python/encdec/NAME.py or python/encdec/NAME/.
#define ENCDEC_SLICE(name)                            \
  namespace cli {                                     \
  CommandSlice name##_command_slice();                \
  }                                                   \
  namespace serve {                                   \
  std::unique_ptr<ServerSlice> name##_server_slice(); \
  }                                                   \
  namespace python {                                  \
  void bind_##name(nanobind::module_& module);        \
  }
#include "slices.inc"
#undef ENCDEC_SLICE

}  // namespace encdec
