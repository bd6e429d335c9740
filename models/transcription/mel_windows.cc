#include "encdec/models/transcription/mel_windows.h"

#include <algorithm>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

constexpr std::size_t kPiece = 1 << 15;  // samples
// Of silence behind a recording: frames that reach beyond it hear zeros.
constexpr std::size_t kSilence = 4 * LogMel::kFrameSamples;
// log10 of the energy of silence.
constexpr float kSilent = -10.0F;
// Frames that are kept when the recording was heard once: what is short need not be heard again.
constexpr std::size_t kKept = 6000;

}  // namespace

MelWindows::MelWindows(const Recording& recording, const LogMel& mel, std::size_t padded_rows)
    : mel_(mel), padded_rows_(padded_rows), read_(recording.open()), samples_piece_(kPiece) {
  largest_ = kSilent;
  std::uint64_t heard = 0;
  bool is_kept = true;
  std::vector<float> piece;
  while (!is_at_end_) {
    piece.clear();
    read(piece);
    if (!piece.empty()) largest_ = std::max(largest_, *std::ranges::max_element(piece));
    heard += piece.size() / mel_.bands();
    is_kept = is_kept && heard <= kKept;
    if (is_kept) features_.insert(features_.end(), piece.begin(), piece.end());
  }
  samples_ = heard_;
  frames_ = padded_rows > 0 && is_padded() && samples_ > 0 ? padded_rows : samples_ / LogMel::kHop;
  if (is_kept) return;
  features_ = {};
  mel_ = mel;
  read_ = recording.open();
  is_at_end_ = false;
  heard_ = 0;
}

// Appends the frames of the next samples.
void MelWindows::read(std::vector<float>& features) {
  check_cancelled();
  const std::size_t count = read_(samples_piece_);
  mel_.push(std::span(samples_piece_).first(count), features);
  heard_ += count;
  if (count == samples_piece_.size()) return;
  std::uint64_t silence = kSilence;
  if (padded_rows_ > 0) silence = std::min(silence, std::max(heard_, padded_rows_ * LogMel::kHop) - heard_);
  mel_.push(std::vector<float>(silence), features);
  mel_.finish(features);
  is_at_end_ = true;
}

void MelWindows::read_to(std::uint64_t frame) {
  while (!is_at_end_ && first_ + features_.size() / mel_.bands() < frame) read(features_);
}

Tensor MelWindows::window(std::uint64_t first, std::size_t count, std::size_t rows) {
  const std::size_t bands = mel_.bands();
  read_to(first + count);
  const auto gone = static_cast<std::size_t>(std::min<std::uint64_t>(first - first_, features_.size() / bands));
  features_.erase(features_.begin(), features_.begin() + static_cast<std::ptrdiff_t>(gone * bands));
  first_ += gone;
  Tensor window = Tensor::allocate({static_cast<Dim>(rows), static_cast<Dim>(bands)});
  const std::span values(window.data<float>(), count * bands);
  const auto end = std::copy_n(features_.begin(), std::min(values.size(), features_.size()), values.begin());
  std::fill(end, values.end(), kSilent);
  LogMel::normalize(values, largest_);
  return window;
}

Tensor MelWindows::beginning(std::size_t rows) {
  read_to(rows);
  Tensor window = Tensor::allocate({static_cast<Dim>(rows), static_cast<Dim>(mel_.bands())});
  const std::span values(window.data<float>(), rows * mel_.bands());
  std::ranges::fill(values, kSilent);
  std::copy_n(features_.begin(), std::min(values.size(), features_.size()), values.begin());
  LogMel::normalize(values, largest_);
  return window;
}

}  // namespace encdec
