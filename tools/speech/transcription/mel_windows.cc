#include "encdec/speech/transcription/mel_windows.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

constexpr std::size_t kPiece = 1 << 15;  // samples
// Samples of silence after a recording, so that its last frames reach into zeros.
constexpr std::size_t kSilence = 4 * LogMel::kFrameSamples;
// log10 of the energy of silence.
constexpr float kSilent = -10.0F;
// Maximum number of frames to keep from the first pass. A recording with no more is not read again.
constexpr std::size_t kKept = 6000;

}  // namespace

MelWindows::MelWindows(Recording recording, const LogMel& mel)
    : recording_(std::move(recording)),
      fresh_mel_(mel),
      mel_(mel),
      read_(recording_.open()),
      samples_piece_(kPiece),
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
  // Reads the recording again, from its beginning.
  features_ = {};
  first_ = 0;
  mel_ = fresh_mel_;
  read_ = recording_.open();
  is_at_end_ = false;
  return true;
}

// Reads the next samples and their frames; at the end of the recording the frames of the silence too.
void MelWindows::read() {
  check_cancelled();
  const std::size_t count = read_(samples_piece_);
  mel_.push(std::span(samples_piece_).first(count), features_);
  if (!knows_largest_) samples_ += count;
  if (count == samples_piece_.size()) return;
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
  const std::size_t bands = mel_.bands();
  Tensor window = Tensor::allocate({static_cast<Dim>(rows), static_cast<Dim>(bands)});
  const std::span values(window.data<float>(), count * bands);
  const auto end = std::copy_n(features_.begin(), std::min(values.size(), features_.size()), values.begin());
  std::fill(end, values.end(), kSilent);
  LogMel::normalize(values, largest_);
  return window;
}

}  // namespace encdec
