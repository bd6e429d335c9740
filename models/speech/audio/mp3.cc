// Decodes MP3 with libmpg123. libsndfile uses it too and gives the same bits, but cannot stop it from writing to
// standard error: it wrote 91 lines for 61 damaged files, where this file's flags make it write none.
#include <mpg123.h>

#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/speech/audio/audio_decoder.h"
#include "encdec/models/speech/audio/seekable_input.h"

namespace encdec {
namespace {

class Mp3 final : public AudioDecoder {
 public:
  explicit Mp3(AudioInput input)
      : states_length_(has_length(input)),
        input_(std::move(input)),
        handle_(mpg123_new(nullptr, nullptr), mpg123_delete) {
    if (handle_ == nullptr) throw std::bad_alloc();
    constexpr long kFlags =
        MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS | MPG123_SKIP_ID3V2 | MPG123_FUZZY | MPG123_NO_FRANKENSTEIN;
    check(mpg123_param(handle_.get(), MPG123_ADD_FLAGS, kFlags, 0));
    check(mpg123_param(handle_.get(), MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0));
    const auto read = [](void* handle, void* to, std::size_t count) {
      return static_cast<mpg123_ssize_t>(SeekableInput::of(handle).read(to, static_cast<std::int64_t>(count)));
    };
    const auto seek = [](void* handle, off_t offset, int from) {
      return off_t{SeekableInput::of(handle).seek(offset, from)};
    };
    check(mpg123_replace_reader_handle(handle_.get(), read, seek, nullptr));
    check(mpg123_open_handle(handle_.get(), &input_));
    long rate = 0;
    int channels = 0, encoding = 0;
    check(mpg123_getformat(handle_.get(), &rate, &channels, &encoding));
    format_ = checked_format(input_.name(), rate, channels);
    // Keeps rate, channels and sample type even if the file changes them.
    check(mpg123_format_none(handle_.get()));
    check(mpg123_format(handle_.get(), rate, channels, MPG123_ENC_FLOAT_32));
    if (const off_t frames = mpg123_length(handle_.get()); frames > 0) {
      format_.frames = static_cast<std::uint64_t>(frames);
    }
  }

  std::size_t read(std::span<float> samples) override {
    check_cancelled();
    const auto channels = static_cast<std::size_t>(format_.channels);
    const std::size_t frame_bytes = channels * sizeof(float);
    const std::size_t wanted = samples.size() / channels * frame_bytes;
    std::size_t done = 0;
    int status = MPG123_OK;
    while (done < wanted && (status == MPG123_OK || status == MPG123_NEW_FORMAT)) {
      std::size_t count = 0;
      status =
          mpg123_read(handle_.get(), reinterpret_cast<unsigned char*>(samples.data()) + done, wanted - done, &count);
      done += count;
    }
    input_.rethrow();
    const std::size_t frames = done / frame_bytes;
    read_ += frames;
    if (done < wanted) {
      if (read_ == 0) refuse(input_.name(), "an MP3 without one frame that can be decoded");
      is_cut_ = status != MPG123_DONE || (states_length_ && read_ + kInexact < format_.frames.value_or(0));
    }
    check_samples(input_.name(), samples.first(frames * channels));
    return frames;
  }

 private:
  static constexpr std::uint64_t kInexact = 3 * 1152;  // encoders state one or two frames too many

  // Returns whether the first frame states the length (Xing's header). Otherwise libmpg123 estimates it.
  static bool has_length(AudioInput& input) {
    const auto frame = input.peek(40);
    const std::string_view text(reinterpret_cast<const char*>(frame.data()), frame.size());
    return text.find("Xing") != text.npos || text.find("Info") != text.npos;
  }

  void check(int status) {
    input_.rethrow();
    if (status != MPG123_OK) refuse(input_.name(), "damaged MP3: {}", mpg123_strerror(handle_.get()));
  }

  bool states_length_;
  SeekableInput input_;
  std::unique_ptr<mpg123_handle, void (*)(mpg123_handle*)> handle_;
  std::uint64_t read_ = 0;
};

}  // namespace

bool is_mp3(AudioInput& input) {
  const auto begin = input.peek(2);
  const auto byte = [&](std::size_t i) { return i < begin.size() ? std::to_integer<int>(begin[i]) : 0; };
  // Eleven ones begin a frame; the layer must not be the reserved value 0.
  return byte(0) == 0xFF && (byte(1) & 0xE0) == 0xE0 && (byte(1) & 0x06) != 0;
}

std::unique_ptr<AudioDecoder> open_mp3(AudioInput input) {
  return std::make_unique<Mp3>(std::move(input));
}

}  // namespace encdec
