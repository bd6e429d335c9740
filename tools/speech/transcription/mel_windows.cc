#include "encdec/speech/transcription/mel_windows.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

constexpr std::size_t kPiece = 1 << 15;  // number of samples to read in one step
// Number of zero samples to append to a recording. openai/whisper pads its input with zeros, too.
constexpr std::size_t kSilence = 4 * LogMel::kFrameSamples;
constexpr float kSilent = -10.0F;  // log10 of the energy of silence; see LogMel
// Maximum number of frames to keep from the first pass, so that short recordings are read once.
constexpr std::size_t kKept = 6000;

}  // namespace

MelWindows::MelWindows(Recording recording, const LogMel& mel)
    : recording_(std::move(recording)),
      fresh_mel_(mel),
      mel_(mel),
      read_(recording_.open()),
      chunk_(kPiece),
      largest_(kSilent) {}

bool MelWindows::find_largest() {
  if (knows_largest_) return true;
  const std::size_t before = features_.size();
  read();
  const auto fresh = features_.begin() + static_cast<std::ptrdiff_t>(before);
  if (fresh != features_.end()) largest_ = std::max(largest_, *std::max_element(fresh, features_.end()));
  if (frames_read() > kKept) drop_before(frames_read());
  if (!is_at_end_) return false;
  knows_largest_ = true;
  if (first_ == 0) return true;
  // Frames were dropped, so read the recording a second time, from its beginning.
  features_ = {};
  first_ = 0;
  mel_ = fresh_mel_;
  read_ = recording_.open();
  is_at_end_ = false;
  return true;
}

// Reads the next samples and appends their frames. At the end of the recording, appends silence.
void MelWindows::read() {
  check_cancelled();
  const std::size_t count = read_(chunk_);
  mel_.push(std::span(chunk_).first(count), features_);
  if (!knows_largest_) samples_ += count;
  if (count == chunk_.size()) return;
  mel_.push(std::vector<float>(kSilence), features_);
  mel_.finish(features_);
  is_at_end_ = true;
}

bool MelWindows::reach(std::uint64_t first, std::size_t count) {
  drop_before(first);
  if (is_at_end_ || frames_read() >= first + count) return true;
  read();
  return false;
}

void MelWindows::drop_before(std::uint64_t frame) {
  const std::size_t bands = mel_.bands();
  const auto gone = static_cast<std::size_t>(std::min<std::uint64_t>(frame - first_, features_.size() / bands));
  features_.erase(features_.begin(), features_.begin() + static_cast<std::ptrdiff_t>(gone * bands));
  first_ += gone;
}

Tensor MelWindows::window(std::uint64_t first, std::size_t count, std::size_t rows) {
  while (!reach(first, count)) {
  }
  // Fill the first `count` rows with frames and, after the end of the recording, silence. The other rows stay zero.
  const std::size_t bands = mel_.bands();
  Tensor window = Tensor::allocate({static_cast<Dim>(rows), static_cast<Dim>(bands)});
  const std::span values(window.data<float>(), count * bands);
  const auto end = std::copy_n(features_.begin(), std::min(values.size(), features_.size()), values.begin());
  std::fill(end, values.end(), kSilent);
  LogMel::normalize(values, largest_);
  return window;
}

}  // namespace encdec
