#include <mpg123.h>
#include <sndfile.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/speech/audio/audio_decoder.h"

namespace encdec {
namespace {

// The bytes of an audio file, for C decoders that seek. The constructor reads a pipe into memory. Exceptions
// must not pass through C code, so read() stores an exception until rethrow() is called.
class SeekableInput {
 public:
  // Position 0 is the next byte of `input`. Throws FileError on failure, and for a pipe with more than 1 GiB.
  explicit SeekableInput(AudioInput input) : input_(std::move(input)), begin_(input_.position()) {
    if (input_.stream().size()) return;
    constexpr std::size_t kPiece = 1 << 20, kMost = std::size_t{1} << 30;
    while (kept_.size() < kMost) {
      const std::size_t had = kept_.size();
      kept_.resize(had + kPiece);
      const std::size_t count = input_.read(std::span(kept_).subspan(had));
      kept_.resize(had + count);
      if (count == 0) break;
    }
    if (kept_.size() >= kMost) refuse(name(), "more than 1 GiB from a pipe, expected a file or WAV");
    input_ = AudioInput(bytes_of(kept_), name());
    begin_ = 0;
  }

  // Returns the object that `handle`, the argument of a C decoder's callback, points to.
  static SeekableInput& of(void* handle) { return *static_cast<SeekableInput*>(handle); }

  const std::string& name() const { return input_.name(); }
  std::int64_t size() noexcept { return static_cast<std::int64_t>(*input_.stream().size() - begin_); }
  std::int64_t position() const noexcept { return position_; }
  // Seeks like lseek(). Returns the new position, from 0 to size().
  std::int64_t seek(std::int64_t offset, int from) noexcept {
    const std::int64_t begin = from == SEEK_SET ? 0 : from == SEEK_CUR ? position_ : size();
    position_ = std::clamp<std::int64_t>(begin + offset, 0, size());
    return position_;
  }
  // Returns the number of bytes read, or 0 after a failure.
  std::int64_t read(void* to, std::int64_t count) noexcept {
    if (failure_ || count <= 0) return 0;
    try {
      ByteStream& stream = input_.stream();
      stream.seek(begin_ + static_cast<std::uint64_t>(position_));
      const std::size_t done = stream.read({static_cast<std::byte*>(to), static_cast<std::size_t>(count)});
      position_ += static_cast<std::int64_t>(done);
      return static_cast<std::int64_t>(done);
    } catch (...) {
      failure_ = std::current_exception();
      return 0;
    }
  }
  // Throws and clears the exception of a failed read(), if there is one.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  AudioInput input_;
  std::uint64_t begin_;          // offset of position 0 in the stream, in bytes
  std::vector<std::byte> kept_;  // contents of a pipe
  std::int64_t position_ = 0;
  std::exception_ptr failure_;
};

// Decodes MP3 with libmpg123. libsndfile also uses libmpg123, with bitwise identical results, but
// writes messages about damaged files to standard error. kFlags prevents these messages.
class Mp3 final : public AudioDecoder {
 public:
  explicit Mp3(AudioInput input)
      : states_length_(has_length(input)),
        input_(std::move(input)),
        handle_(mpg123_new(nullptr, nullptr), mpg123_delete) {
    if (handle_ == nullptr) throw std::bad_alloc();
    // Configure the decoder: float samples, no messages, no resampling.
    constexpr long kFlags =
        MPG123_QUIET | MPG123_FORCE_FLOAT | MPG123_GAPLESS | MPG123_SKIP_ID3V2 | MPG123_FUZZY | MPG123_NO_FRANKENSTEIN;
    check(mpg123_param(handle_.get(), MPG123_ADD_FLAGS, kFlags, 0));
    check(mpg123_param(handle_.get(), MPG123_REMOVE_FLAGS, MPG123_AUTO_RESAMPLE, 0));
    // Open the input and find the first frame.
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
    // Keep the rate, channels and sample type of the first frame, even if later frames differ.
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
    // At the end, check whether the file had any audio, and whether it is truncated.
    if (done < wanted) {
      if (read_ == 0) refuse(input_.name(), "an MP3 without a frame that can be decoded");
      is_cut_ = status != MPG123_DONE || (states_length_ && read_ + kInexact < format_.frames.value_or(0));
    }
    check_samples(input_.name(), samples.first(frames * channels));
    return frames;
  }

 private:
  // Tolerance for the stated length, in samples. Encoders overstate the length by one or two frames of 1152 samples.
  static constexpr std::uint64_t kInexact = 3 * 1152;

  // Returns true if the first frame has a Xing or Info header, which states the length. Without
  // this header libmpg123 estimates the length.
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

// Opens the input with libsndfile, whose callbacks receive the address of `input`. Returns null on failure.
SNDFILE* open(SeekableInput& input, SF_INFO& info) {
  static SF_VIRTUAL_IO calls = {
      [](void* file) { return sf_count_t{SeekableInput::of(file).size()}; },
      [](sf_count_t offset, int from, void* file) { return sf_count_t{SeekableInput::of(file).seek(offset, from)}; },
      [](void* to, sf_count_t count, void* file) { return sf_count_t{SeekableInput::of(file).read(to, count)}; },
      nullptr, [](void* file) { return sf_count_t{SeekableInput::of(file).position()}; }};
  return sf_open_virtual(&calls, SFM_READ, &info, &input);
}

// Returns true if an Ogg stream is truncated: the last page is incomplete, or lacks the flag for a
// last page (RFC 3533, section 6). libsndfile does not detect this.
bool is_cut_ogg(SeekableInput& input) {
  constexpr std::int64_t kLargestPage = 65'307;
  // Read the last bytes, up to the maximum size of a page, then restore the position.
  const std::int64_t position = input.position();
  std::string end(kLargestPage, '\0');
  input.seek(-std::min(kLargestPage, input.size()), SEEK_END);
  end.resize(static_cast<std::size_t>(input.read(end.data(), kLargestPage)));
  input.seek(position, SEEK_SET);
  // Byte 5 holds flags (4: last page). Byte 26 holds the number of segments; then come the segment sizes.
  const std::size_t page = std::min(end.rfind("OggS"), end.size());
  const auto byte = [&](std::size_t i) {
    return page + i < end.size() ? static_cast<unsigned char>(end[page + i]) : 0U;
  };
  std::size_t size = 27 + byte(26);
  for (std::size_t i = 0; i < byte(26); ++i) size += byte(27 + i);
  return (byte(5) & 4U) == 0 || page + size > end.size();
}

// Decodes all formats except MP3 and plain WAV, with libsndfile.
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

bool is_mp3(AudioInput& input) {
  const auto begin = input.peek(2);
  const auto byte = [&](std::size_t i) { return i < begin.size() ? std::to_integer<int>(begin[i]) : 0; };
  // A frame begins with eleven 1 bits. The layer bits are not 0, which is reserved.
  return byte(0) == 0xFF && (byte(1) & 0xE0) == 0xE0 && (byte(1) & 0x06) != 0;
}

std::unique_ptr<AudioDecoder> open_mp3(AudioInput input) {
  return std::make_unique<Mp3>(std::move(input));
}

std::unique_ptr<AudioDecoder> open_sound_file(AudioInput input) {
  return std::make_unique<SoundFile>(std::move(input));
}

}  // namespace encdec
