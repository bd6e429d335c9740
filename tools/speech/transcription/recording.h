#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/engine/base/tensor.h"
#include "encdec/speech/audio/audio_reader.h"

namespace encdec {

// A recording that can be read from its beginning more than once: 16,000 samples per second, one channel.
struct Recording {
  // Fills `samples` and returns the number of samples read, which is smaller only at the end. Throws FileError.
  using Read = std::function<std::size_t(std::span<float> samples)>;
  static constexpr std::size_t kReadTogether = 1 << 14;  // samples to read in one step: about a second

  std::string name = {};               // for messages
  std::function<Read()> open;          // returns a reader from the beginning
  std::optional<double> seconds = {};  // duration; unset if unknown
  // Set by a reader at its end: see AudioReader::is_cut().
  std::shared_ptr<std::atomic<bool>> is_cut = std::make_shared<std::atomic<bool>>(false);
  std::string draft = {};  // expected text, such as an earlier transcript, for draft tokens; empty if unknown
  // Returns the encoder's rows for the first samples, if another reader of the recording keeps them; else an empty
  // tensor. Optional.
  std::function<Tensor(std::span<const float> samples)> encode = {};
  // Known text, to align with the recording (see SpeechModel::align). If unset, the recording is transcribed.
  std::optional<std::string> text = {};

  // Makes a recording from what `open_reader` opens. Readers may have views of what that function keeps.
  static Recording of_readers(std::string name, std::function<AudioReader()> open_reader);
  // Makes a recording from a file. Throws FileError if AudioReader cannot open the file.
  static Recording of_file(const std::string& path);
  // Makes a recording from samples between -1 and 1.
  static Recording of_samples(std::vector<float> samples, std::string name = "samples");
  // Makes a recording from the bytes of a file. Throws FileError if AudioReader cannot open them.
  static Recording of_bytes(std::shared_ptr<const std::string> bytes, std::string name);
  // Makes a recording from an input that can be read only once, such as a pipe. Copies all samples to a temporary file
  // without a name. Throws FileError.
  static Recording of_stream(AudioReader& reader, std::string name);
};

}  // namespace encdec
