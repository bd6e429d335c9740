#include "speech/python/recordings.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "encdec/engine/base/error.h"
#include "python/src/values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

using Bytes = std::vector<std::byte>;

void check_samples(const std::string& name, const Bytes& bytes) {
  for (std::size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    float sample = 0;
    std::memcpy(&sample, &bytes[i], sizeof(float));
    if (!std::isfinite(sample)) throw InputError(fmt::format("{}: a sample is {}, expected a number", name, sample));
  }
}

}  // namespace

Bytes bytes_of_buffer(nb::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&view, &PyBuffer_Release);
  const auto* first = static_cast<const std::byte*>(view.buf);
  return {first, first + view.len};
}

Sound sound_of_file(const std::string& path) {
  return {.recording = Recording::of_readers(path, [path] { return AudioReader::open(path); })};
}

Sound sound_of_bytes(nb::object bytes, std::string name) {
  const auto kept = std::make_shared<const Bytes>(bytes_of_buffer(bytes));
  const auto open = [kept, name] { return AudioReader(AudioInput(bytes_of(*kept), name)); };
  return {.recording = Recording::of_readers(name, open), .bytes = kept->size()};
}

Sound sound_of_samples(nb::object samples, std::string name, nb::object sampling_rate, bool is_int16) {
  RawAudio raw{.samples = is_int16 ? RawAudio::Samples::int16 : RawAudio::Samples::float32};
  read_value("sampling_rate", sampling_rate, raw.sample_rate);
  if (raw.sample_rate < AudioDecoder::kMinSampleRate || raw.sample_rate > AudioDecoder::kMaxSampleRate) {
    throw ConfigError(fmt::format("sampling_rate is {}, expected {} to {}", raw.sample_rate,
                                  AudioDecoder::kMinSampleRate, AudioDecoder::kMaxSampleRate));
  }
  const auto kept = std::make_shared<const Bytes>(bytes_of_buffer(samples));
  if (!is_int16) check_samples(name, *kept);
  const auto open = [kept, name, raw] { return AudioReader(open_raw(AudioInput(bytes_of(*kept), name), raw)); };
  return {.recording = Recording::of_readers(name, open), .bytes = kept->size()};
}

}  // namespace encdec::python
