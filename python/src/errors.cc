#include <nanobind/nanobind.h>

#include <new>

#include "bindings.h"
#include "compute.h"
#include "encdec/engine/base/error.h"
#include "inputs.h"
#include "results.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// Returns a message as a str. The message may contain file names that are not valid UTF-8.
nb::object message_text(const char* message) {
  return text_of(message, "backslashreplace");
}

// Returns the name of the error's class in encdec/_errors.py. Tests derived classes before their base classes.
const char* class_of(const Error& error) {
  if (dynamic_cast<const FileError*>(&error) != nullptr) return "FileError";
  if (dynamic_cast<const UnsupportedModelError*>(&error) != nullptr) return "UnsupportedModelError";
  if (dynamic_cast<const ConfigError*>(&error) != nullptr) return "ConfigError";
  if (dynamic_cast<const InputError*>(&error) != nullptr) return "InputError";
  if (dynamic_cast<const WeightError*>(&error) != nullptr) return "WeightError";
  if (dynamic_cast<const TokenizerError*>(&error) != nullptr) return "TokenizerError";
  if (dynamic_cast<const BackendError*>(&error) != nullptr) return "BackendError";
  if (dynamic_cast<const ResourceError*>(&error) != nullptr) return "ResourceError";
  if (dynamic_cast<const ShapeError*>(&error) != nullptr) return "ShapeError";
  return "Error";
}

nb::object exception_of(const Error& error) {
  return nb::module_::import_("encdec._errors").attr(class_of(error))(message_text(error.what()));
}

nb::object builtin(PyObject* type, const char* message) {
  return nb::borrow(type)(message_text(message));
}

}  // namespace

nb::object to_python(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return exception_of(error);
  } catch (const std::bad_alloc& error) {
    return builtin(PyExc_MemoryError, message_of(error));
  } catch (const std::exception& error) {
    return builtin(PyExc_RuntimeError, error.what());
  }
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
    // `failure` is null if a function called Python code that ended the thread with pthread_exit(); see take_lock().
    if (failure == nullptr) wait_for_ever();
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      const nb::object exception = exception_of(error);
      PyErr_SetObject(exception.type().ptr(), exception.ptr());
    }
  });
}

}  // namespace encdec::python
