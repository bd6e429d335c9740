#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "encdec/models/speech/transcription/recording.h"

namespace encdec::python {

// A recording from Python, which needs no Python any more. It is opened when it is read.
struct Sound {
  Recording recording;
  std::size_t bytes = 0;  // of memory
};

// What AudioReader reads.
Sound sound_of_file(const std::string& path);
// Likewise, from memory: a buffer, which is copied.
Sound sound_of_bytes(nanobind::object bytes, std::string name);
// A buffer of little-endian samples, which are copied: float32, or int16. Throws InputError for what is no number,
// ConfigError for a sampling rate that no recording has.
Sound sound_of_samples(nanobind::object samples, std::string name, nanobind::object sampling_rate, bool is_int16);

}  // namespace encdec::python
