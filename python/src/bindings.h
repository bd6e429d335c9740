#pragma once

#include <nanobind/nanobind.h>

namespace encdec::python {

// Makes nanobind translate errors of the library to the classes of encdec/_errors.py.
void translate_errors();

// Each function below adds classes and functions to the module.
void bind_model(nanobind::module_& module);
void bind_tokenizer(nanobind::module_& module);
void bind_requests(nanobind::module_& module);

}  // namespace encdec::python
