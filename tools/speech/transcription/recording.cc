#include "encdec/speech/transcription/recording.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {

Recording Recording::of_readers(std::string name, std::function<AudioReader()> open_reader) {
  Recording recording{.name = std::move(name), .open = {}};
  recording.open = [open_reader = std::move(open_reader), is_cut = recording.is_cut]() -> Read {
    return [open_reader, is_cut, reader = std::make_shared<AudioReader>(open_reader())](std::span<float> samples) {
      const std::size_t count = reader->read(samples);
      if (count < samples.size()) *is_cut = reader->is_cut();
      return count;
    };
  };
  return recording;
}

Recording Recording::of_file(const std::string& path) {
  Recording recording = of_readers(path, [path] { return AudioReader::open(path); });
  recording.seconds = AudioReader::open(path).seconds();  // throws FileError if the file is not a recording
  return recording;
}

Recording Recording::of_samples(std::vector<float> samples, std::string name) {
  const double seconds = static_cast<double>(samples.size()) / AudioReader::kSampleRate;
  const auto shared = std::make_shared<const std::vector<float>>(std::move(samples));
  return {.name = std::move(name),
          .open =
              [shared] {
                return [shared, next = std::size_t{0}](std::span<float> to) mutable {
                  const std::size_t count = std::min(to.size(), shared->size() - next);
                  std::copy_n(shared->begin() + static_cast<std::ptrdiff_t>(next), count, to.begin());
                  next += count;
                  return count;
                };
              },
          .seconds = seconds};
}

Recording Recording::of_bytes(std::shared_ptr<const std::string> bytes, std::string name) {
  const auto open = [bytes, name] { return AudioReader(AudioInput(bytes_of(std::as_bytes(std::span(*bytes))), name)); };
  Recording recording = of_readers(name, open);
  recording.seconds = open().seconds();
  return recording;
}

Recording Recording::of_stream(AudioReader& reader, std::string name) {
  // The operating system deletes the file when the last reader closes the file.
  const std::shared_ptr<std::FILE> file(std::tmpfile(), [](std::FILE* stream) {
    if (stream != nullptr) std::fclose(stream);
  });
  const auto fail = [&] { refuse(name, "cannot copy it to a temporary file: {}", std::strerror(errno)); };
  if (file == nullptr) fail();
  constexpr std::size_t kSamplesAtOnce = 1 << 16;
  std::vector<float> chunk(kSamplesAtOnce);
  std::size_t total = 0;
  for (std::size_t count = kSamplesAtOnce; count == kSamplesAtOnce; total += count) {
    count = reader.read(chunk);
    if (std::fwrite(chunk.data(), sizeof(float), count, file.get()) != count) fail();
  }
  if (std::fflush(file.get()) != 0) fail();
  // All passes share one file position, so a pass must end before the next one begins.
  return {.name = name,
          .open =
              [file, name] {
                std::rewind(file.get());
                return [file, name](std::span<float> samples) {
                  const std::size_t count = std::fread(samples.data(), sizeof(float), samples.size(), file.get());
                  if (std::ferror(file.get()) != 0)
                    refuse(name, "cannot read its temporary file: {}", std::strerror(errno));
                  return count;
                };
              },
          .seconds = static_cast<double>(total) / AudioReader::kSampleRate,
          .is_cut = std::make_shared<std::atomic<bool>>(reader.is_cut())};
}

}  // namespace encdec
