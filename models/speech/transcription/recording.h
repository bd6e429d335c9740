#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/speech/audio/audio_reader.h"

namespace encdec {

// Something to listen to, from the beginning as often as it takes: 16,000 samples a second, one channel.
struct Recording {
  // Gives the next samples, fewer only at the end. Throws FileError.
  using Read = std::function<std::size_t(std::span<float> samples)>;

  std::string name = {};               // for messages
  std::function<Read()> open;          // from the beginning
  std::optional<double> seconds = {};  // as far as it is known

  // A file that AudioReader reads. It is opened once to see whether it is one. Throws FileError.
  static Recording of_file(const std::string& path);
  // Samples from -1 to 1.
  static Recording of_samples(std::vector<float> samples, std::string name = "samples");
  // The bytes of a file. It is opened once to see whether it is one. Throws FileError.
  static Recording of_bytes(std::shared_ptr<const std::string> bytes, std::string name);
  // What can be read only once, such as a pipe: read to its end, into a temporary file that nobody else sees. Throws
  // FileError.
  static Recording of_stream(AudioReader& reader, std::string name);
};

}  // namespace encdec
