#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "encdec/speech/transcription/recording.h"

namespace encdec::python {

// A recording from Python. It refers to no Python object, and is opened when it is read.
struct Sound {
  Recording recording;
  std::size_t bytes = 0;  // memory that it takes
};

// Returns a recording in a file of any format that AudioReader reads.
Sound sound_of_file(const std::string& path);
// Returns a recording in a buffer with the content of such a file. Copies the buffer.
Sound sound_of_bytes(nanobind::object bytes, std::string name);
// Copies the bytes of a buffer.
std::vector<std::byte> bytes_of_buffer(nanobind::handle object);
// Returns a recording in a buffer of little-endian samples, float32 or int16. Copies the buffer. Throws InputError for
// a sample that is not finite, and ConfigError for a sampling rate out of range.
Sound sound_of_samples(nanobind::object samples, std::string name, nanobind::object sampling_rate, bool is_int16);

}  // namespace encdec::python
