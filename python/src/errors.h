#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace encdec::python {

// The package's exception that stands for one of the library's, or Python's own for others.
nanobind::object to_python(const std::exception_ptr& failure);

// From now on, what the library throws arrives in Python as one of the classes of encdec/_errors.py.
void translate_errors();

}  // namespace encdec::python
