#pragma once

#include <nanobind/nanobind.h>

namespace encdec::python {

// Makes nanobind translate the library's errors to the classes in encdec/_errors.py.
void translate_errors();

// Functions that add classes and functions to the module.
void bind_model(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);
void bind_requests(nanobind::module_& module);

}  // namespace encdec::python
