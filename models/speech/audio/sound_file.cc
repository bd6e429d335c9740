#include <sndfile.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/speech/audio/audio_decoder.h"
#include "encdec/models/speech/audio/seekable_input.h"

namespace encdec {
namespace {

SNDFILE* open(SeekableInput& input, SF_INFO& info) {
  static SF_VIRTUAL_IO calls = {
      [](void* file) { return sf_count_t{SeekableInput::of(file).size()}; },
      [](sf_count_t offset, int from, void* file) { return sf_count_t{SeekableInput::of(file).seek(offset, from)}; },
      [](void* to, sf_count_t count, void* file) { return sf_count_t{SeekableInput::of(file).read(to, count)}; },
      nullptr, [](void* file) { return sf_count_t{SeekableInput::of(file).place()}; }};
  return sf_open_virtual(&calls, SFM_READ, &info, &input);
}

// Returns whether an Ogg stream ends within or before its last page (RFC 3533, section 6); libsndfile does not tell.
bool is_cut_ogg(SeekableInput& input) {
  constexpr std::int64_t kLargestPage = 65'307;
  const std::int64_t place = input.place();
  std::string end(kLargestPage, '\0');
  input.seek(-std::min(kLargestPage, input.size()), SEEK_END);
  end.resize(static_cast<std::size_t>(input.read(end.data(), kLargestPage)));
  input.seek(place, SEEK_SET);
  const std::size_t page = std::min(end.rfind("OggS"), end.size());
  const auto byte = [&](std::size_t i) {
    return page + i < end.size() ? static_cast<unsigned char>(end[page + i]) : 0U;
  };
  std::size_t size = 27 + byte(26);  // the header, then the sizes of the segments
  for (std::size_t i = 0; i < byte(26); ++i) size += byte(27 + i);
  return (byte(5) & 4U) == 0 || page + size > end.size();
}

class SoundFile final : public AudioDecoder {
 public:
  explicit SoundFile(AudioInput input) : input_(std::move(input)) {
    SF_INFO info = {};
    file_.reset(open(input_, info));
    input_.rethrow();
    if (file_ == nullptr) {
      refuse<AudioFormatError>(input_.name(),
                               "{}, expected WAV, FLAC, MP3, Ogg or another format that libsndfile reads",
                               problem_of(nullptr));
    }
    format_ = checked_format(input_.name(), info.samplerate, info.channels);
    is_cut_ = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_OGG && is_cut_ogg(input_);
    if (info.frames > 0 && info.frames < SF_COUNT_MAX) format_.frames = static_cast<std::uint64_t>(info.frames);
  }

  std::size_t read(std::span<float> samples) override {
    check_cancelled();
    const auto frames = static_cast<sf_count_t>(samples.size()) / format_.channels;
    const sf_count_t count = std::max<sf_count_t>(sf_readf_float(file_.get(), samples.data(), frames), 0);
    input_.rethrow();
    read_ += static_cast<std::uint64_t>(count);
    if (count < frames) {
      const bool has_failed = sf_error(file_.get()) != SF_ERR_NO_ERROR || read_ < format_.frames.value_or(0);
      is_cut_ = is_cut_ || has_failed;
      if (has_failed && read_ == 0) refuse(input_.name(), "{}", problem_of(file_.get()));
    }
    check_samples(input_.name(), samples.first(static_cast<std::size_t>(count * format_.channels)));
    return static_cast<std::size_t>(count);
  }

 private:
  // Returns libsndfile's error message on one line.
  static std::string problem_of(SNDFILE* file) {
    std::string text = sf_strerror(file);
    while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text;
  }

  SeekableInput input_;
  std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> file_{nullptr, sf_close};
  std::uint64_t read_ = 0;
};

}  // namespace

std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input) {
  return std::make_unique<SoundFile>(std::move(input));
}

}  // namespace encdec
