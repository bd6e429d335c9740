#include <sndfile.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/audio/audio_decoder.h"
#include "encdec/models/checkpoint/refuse.h"

namespace encdec {
namespace {

// The bytes of an input as libsndfile wants them: those of a pipe are all read first, since it goes back and forth. It
// is C: nothing is thrown through it.
class VirtualFile {
 public:
  explicit VirtualFile(AudioInput input) : input_(std::move(input)) {
    if (input_.source().size()) return;
    constexpr std::size_t kPiece = 1 << 20, kMost = std::size_t{1} << 30;
    while (kept_.size() < kMost) {
      const std::size_t had = kept_.size();
      kept_.resize(had + kPiece);
      const std::size_t count = input_.read(std::span(kept_).subspan(had));
      kept_.resize(had + count);
      if (count == 0) break;
    }
    if (kept_.size() >= kMost) refuse(input_.name(), "more than 1 GiB by a pipe, expected WAV for so much, or a file");
    input_ = AudioInput(bytes_of(kept_), input_.name());
  }

  SNDFILE* open(SF_INFO& info) {
    static SF_VIRTUAL_IO calls = {&size, &seek, &read, nullptr, &tell};
    return sf_open_virtual(&calls, SFM_READ, &info, this);
  }
  // What a call threw meanwhile.
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  static VirtualFile& of(void* file) { return *static_cast<VirtualFile*>(file); }
  sf_count_t end() { return static_cast<sf_count_t>(*input_.source().size()); }

  static sf_count_t size(void* file) { return of(file).end(); }
  static sf_count_t tell(void* file) { return of(file).place_; }
  static sf_count_t seek(sf_count_t offset, int from, void* file) {
    VirtualFile& self = of(file);
    const sf_count_t begin = from == SEEK_SET ? 0 : from == SEEK_CUR ? self.place_ : self.end();
    self.place_ = std::clamp<sf_count_t>(begin + offset, 0, self.end());
    return self.place_;
  }
  static sf_count_t read(void* to, sf_count_t count, void* file) {
    VirtualFile& self = of(file);
    if (self.failure_ || count <= 0) return 0;
    try {
      ByteSource& source = self.input_.source();
      source.seek(static_cast<std::uint64_t>(self.place_));
      const std::size_t done = source.read({static_cast<std::byte*>(to), static_cast<std::size_t>(count)});
      self.place_ += static_cast<sf_count_t>(done);
      return static_cast<sf_count_t>(done);
    } catch (...) {
      self.failure_ = std::current_exception();
      return 0;
    }
  }

  AudioInput input_;
  std::vector<std::byte> kept_;
  sf_count_t place_ = 0;
  std::exception_ptr failure_;
};

struct CloseSoundFile {
  void operator()(SNDFILE* file) const { sf_close(file); }
};

class SoundFile final : public AudioDecoder {
 public:
  explicit SoundFile(AudioInput input) : name_(input.name()), bytes_(std::move(input)) {
    SF_INFO info = {};
    file_.reset(bytes_.open(info));
    bytes_.rethrow();
    if (file_ == nullptr) {
      refuse(name_,
             "{} (expected WAV, FLAC, MP3, Ogg or what else libsndfile reads; for others: "
             "ffmpeg -i FILE -f wav - | encdec ... -)",
             problem_of(nullptr));
    }
    format_ = checked_format(name_, info.samplerate, info.channels);
    if (info.frames > 0 && info.frames < SF_COUNT_MAX) format_.frames = static_cast<std::uint64_t>(info.frames);
  }

  const AudioFormat& format() const override { return format_; }
  bool is_cut() const override { return is_cut_; }

  std::size_t read(std::span<float> samples) override {
    check_cancelled();
    const auto frames = static_cast<sf_count_t>(samples.size()) / format_.channels;
    const sf_count_t count = std::max<sf_count_t>(sf_readf_float(file_.get(), samples.data(), frames), 0);
    bytes_.rethrow();
    read_ += static_cast<std::uint64_t>(count);
    if (count < frames) {
      is_cut_ = sf_error(file_.get()) != SF_ERR_NO_ERROR || read_ < format_.frames.value_or(0);
      if (is_cut_ && read_ == 0) refuse(name_, "{}", problem_of(file_.get()));
    }
    check_samples(name_, samples.first(static_cast<std::size_t>(count * format_.channels)));
    return static_cast<std::size_t>(count);
  }

 private:
  // On one line.
  static std::string problem_of(SNDFILE* file) {
    std::string text = sf_strerror(file);
    while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
    std::ranges::replace(text, '\n', ' ');
    return text;
  }

  std::string name_;
  VirtualFile bytes_;
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
