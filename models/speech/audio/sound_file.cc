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

struct CloseSoundFile {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

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
    if (info.frames > 0 && info.frames < SF_COUNT_MAX) format_.frames = static_cast<std::uint64_t>(info.frames);
  }

  const AudioFormat& format() const override { return format_; }
  bool is_cut() const override { return is_cut_; }

  std::size_t read(std::span<float> samples) override {
    check_cancelled();
    const auto frames = static_cast<sf_count_t>(samples.size()) / format_.channels;
    const sf_count_t count = std::max<sf_count_t>(sf_readf_float(file_.get(), samples.data(), frames), 0);
    input_.rethrow();
    read_ += static_cast<std::uint64_t>(count);
    if (count < frames) {
      is_cut_ = sf_error(file_.get()) != SF_ERR_NO_ERROR || read_ < format_.frames.value_or(0);
      if (is_cut_ && read_ == 0) refuse(input_.name(), "{}", problem_of(file_.get()));
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
  std::unique_ptr<SNDFILE, CloseSoundFile> file_;
  AudioFormat format_;
  std::uint64_t read_ = 0;
  bool is_cut_ = false;
};

}  // namespace

std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input) {
  return std::make_unique<SoundFile>(std::move(input));
}

}  // namespace encdec
