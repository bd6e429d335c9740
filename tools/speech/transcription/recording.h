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

// A recording that can be read more than once: 16,000 samples per second, one channel.
struct Recording {
  // Fills `samples`. Returns the number of samples read, which is smaller only at the end. Throws FileError.
  using Read = std::function<std::size_t(std::span<float> samples)>;
  static constexpr std::size_t kReadTogether = 1 << 14;  // number of samples per step: about a second

  std::string name = {};               // name of the recording in messages
  std::function<Read()> open;          // starts a new pass from the first sample
  std::optional<double> seconds = {};  // duration; unset if unknown
  // The value of AudioReader::is_cut(), set at the end of a pass.
  std::shared_ptr<std::atomic<bool>> is_cut = std::make_shared<std::atomic<bool>>(false);
  std::string draft = {};  // expected text, such as an earlier transcript, for draft tokens
  // Optional. Returns the encoder output for the first samples if it is known, else an empty tensor.
  std::function<Tensor(std::span<const float> samples)> encode = {};
  // Text to align; see SpeechModel::align(). If this text is unset, the recording is transcribed.
  std::optional<std::string> text = {};

  // These functions throw FileError if AudioReader cannot open the input.
  // Each pass calls `open_reader`. Readers may refer to objects that `open_reader` owns.
  static Recording of_readers(std::string name, std::function<AudioReader()> open_reader);
  static Recording of_file(const std::string& path);
  // REQUIRES: `samples` are between -1 and 1.
  static Recording of_samples(std::vector<float> samples, std::string name = "samples");
  // `bytes` are the contents of an audio file.
  static Recording of_bytes(std::shared_ptr<const std::string> bytes, std::string name);
  // Copies an input that can be read only once, such as a pipe, to an anonymous temporary file.
  static Recording of_stream(AudioReader& reader, std::string name);
};

}  // namespace encdec
