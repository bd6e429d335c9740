#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace encdec::python {

// Returns the Python exception for a C++ exception: a class of encdec/_errors.py for an error of the library, else
// MemoryError or RuntimeError.
nanobind::object to_python(const std::exception_ptr& failure);

// Makes nanobind translate errors of the library to the classes of encdec/_errors.py.
void translate_errors();

}  // namespace encdec::python
