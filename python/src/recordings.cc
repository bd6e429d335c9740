#include "recordings.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "encdec/engine/base/error.h"
#include "values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

using Bytes = std::vector<std::byte>;

std::shared_ptr<const Bytes> copied(nb::handle object) {
  return std::make_shared<const Bytes>(bytes_of_buffer(object));
}

Recording::Read read_with(AudioReader reader) {
  const auto shared = std::make_shared<AudioReader>(std::move(reader));
  return [shared](std::span<float> samples) { return shared->read(samples); };
}

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
  return {.recording = {.name = path, .open = [path] { return read_with(AudioReader::open(path)); }}};
}

Sound sound_of_bytes(nb::object bytes, std::string name) {
  const std::shared_ptr<const Bytes> kept = copied(bytes);
  // The reader has only a view of the bytes, so the function that reads keeps them.
  const auto open = [kept, name] {
    return [kept, read = read_with(AudioReader(AudioInput(bytes_of(*kept), name)))](std::span<float> samples) {
      return read(samples);
    };
  };
  return {.recording = {.name = std::move(name), .open = open}, .bytes = kept->size()};
}

Sound sound_of_samples(nb::object samples, std::string name, nb::object sampling_rate, bool is_int16) {
  RawAudio raw{.samples = is_int16 ? RawAudio::Samples::int16 : RawAudio::Samples::float32};
  read_value("sampling_rate", sampling_rate, raw.sample_rate);
  if (raw.sample_rate < AudioDecoder::kMinSampleRate || raw.sample_rate > AudioDecoder::kMaxSampleRate) {
    throw ConfigError(fmt::format("sampling_rate is {}, expected {} to {}", raw.sample_rate,
                                  AudioDecoder::kMinSampleRate, AudioDecoder::kMaxSampleRate));
  }
  const std::shared_ptr<const Bytes> kept = copied(samples);
  if (!is_int16) check_samples(name, *kept);
  const auto open = [kept, name, raw] {
    return [kept, read = read_with(AudioReader(open_raw(AudioInput(bytes_of(*kept), name), raw)))](
               std::span<float> to) { return read(to); };
  };
  return {.recording = {.name = std::move(name), .open = open}, .bytes = kept->size()};
}

}  // namespace encdec::python
