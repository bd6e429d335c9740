// Reads arbitrary bytes as a recording. The first byte chooses between a file with a header and raw samples.
#include <cmath>
#include <cstdint>

#include "encdec/engine/base/error.h"
#include "encdec/speech/audio/audio_reader.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  try {
    AudioInput input(bytes_of(bytes), "x.wav");
    AudioReader reader =
        data[0] % 4 == 1
            ? AudioReader(open_raw(std::move(input), {.samples = RawAudio::Samples::float32, .channels = 2}))
            : AudioReader(std::move(input));
    std::vector<float> samples(1 << 12);
    constexpr int kMost = 256;  // reads per input: a few compressed bytes can be seconds of audio
    for (int i = 0; i < kMost; ++i) {
      const std::size_t count = reader.read(samples);
      for (std::size_t k = 0; k < count; ++k) require(!std::isnan(samples[k]), "samples are numbers");
      if (count < samples.size()) break;
    }
  } catch (const FileError& error) {
    require_good_message(error.what(), "x.wav");
  }
  return 0;
}
