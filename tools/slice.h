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

// The functions by which the hosts (command, server, Python package) use a slice. ARCHITECTURE.md defines slices.
// The build writes slices.inc, with a line ENCDEC_SLICE(name) for each slice of ENCDEC_SLICES. A host loops over the
// slices: it defines this macro and includes slices.inc. A slice NAME defines three functions:
// - NAME_command_slice(), in NAME/command/: its subcommands of `encdec`; see CommandSlice in command/commands.h
// - NAME_server_slice(), in NAME/server/: its routes, options and state in `encdec serve`; see server/server_slice.h
// - bind_NAME(module), in NAME/python/: its classes and functions in the extension module of the Python package
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
