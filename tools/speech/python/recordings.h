#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "encdec/speech/transcription/recording.h"

namespace encdec::python {

// A recording from Python. Holds no references to Python objects. A file is opened when it is read.
struct Sound {
  Recording recording;
  std::size_t bytes = 0;  // memory of the copied buffer
};

// These functions return a recording from an audio file, or from a copy of the bytes of an audio file.
Sound sound_of_file(const std::string& path);
Sound sound_of_bytes(nanobind::object bytes, std::string name);
// Copies the bytes of a buffer.
std::vector<std::byte> bytes_of_buffer(nanobind::handle object);
// Returns a recording of little-endian samples, float32 or int16. Throws InputError for a sample
// that is not finite, and ConfigError for a sampling rate out of range.
Sound sound_of_samples(nanobind::object samples, std::string name, nanobind::object sampling_rate, bool is_int16);

}  // namespace encdec::python
