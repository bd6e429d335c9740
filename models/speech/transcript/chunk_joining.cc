#include "encdec/models/speech/transcript/chunk_joining.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "encdec/models/speech/transcript/word_times.h"

namespace encdec {
namespace {

constexpr double kStep = 0.02;                                            // seconds from one timestamp to the next
constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();  // no token

// A pass over the tokens of all chunks.
class Joiner {
 public:
  explicit Joiner(const JoiningIds& ids) : ids_(ids) {}

  void add(const TranscribedChunk& chunk) {
    offset_ -= chunk.left;
    begin_chunk(chunk);
    for (std::size_t i = 0; i < chunk.tokens.size(); ++i) {
      const std::int32_t token = chunk.tokens[i];
      if (is_time(token)) {
        add_time(token, offset_ + window_start(chunk.tokens, i) + seconds_of(token));
      } else if (token < ids_.end_of_text) {
        text_.push_back(token);
      }
    }
    offset_ += chunk.seconds - chunk.right;
    if (!text_.empty()) {
      sequences_.push_back(std::exchange(text_, {}));
    } else if (std::ranges::all_of(sequences_, [](const auto& tokens) { return tokens.empty(); })) {
      start_.reset();
      sequences_.clear();
    }
    ++chunk_;
  }

  std::vector<JoinedText> finish() {
    if (!sequences_.empty()) end_text({}, chunk_ - 1);
    return std::move(texts_);
  }

 private:
  bool is_time(std::int32_t token) const { return token >= ids_.first_timestamp; }
  double seconds_of(std::int32_t token) const { return (token - ids_.first_timestamp) * kStep; }

  // Sets first_time_ and last_time_: timestamps below first_time_ and from last_time_ on are in the chunk's `left` and
  // `right` parts. If there is a `right` part, the last timestamp always counts as part of it.
  void begin_chunk(const TranscribedChunk& chunk) {
    first_time_ = ids_.first_timestamp + (chunk.left > 0 ? chunk.left / kStep : 0);
    last_time_ = kNone;
    if (chunk.right > 0) {
      for (std::size_t i = chunk.tokens.size(); i-- > 0;) {
        if (!is_time(chunk.tokens[i])) continue;
        if (last_time_ != kNone && seconds_of(chunk.tokens[i]) < chunk.seconds - chunk.right) break;
        last_time_ = chunk.tokens[i];
      }
    }
    latest_ = before_latest_ = windows_ = 0;
  }

  // Returns the start, in seconds of the chunk, of the window that tokens[i] is from. A timestamp that is smaller than
  // the previous one is from a new window.
  double window_start(std::span<const std::int32_t> tokens, std::size_t i) {
    const double seconds = seconds_of(tokens[i]);
    if (seconds < latest_) {
      const bool was_pair = i < 2 || (is_time(tokens[i - 1]) && is_time(tokens[i - 2]));
      if (was_pair) latest_ = before_latest_;
      windows_ += was_pair ? before_latest_ : ids_.window;
    }
    before_latest_ = latest_;
    latest_ = seconds;
    return windows_;
  }

  void add_time(std::int32_t token, double seconds) {
    const double time = to_hundredths(seconds);
    if (token >= last_time_) {
      is_skipping_ = true;  // skips the next timestamp too
    } else if (is_skipping_ || (!sequences_.empty() && token < first_time_)) {
      is_skipping_ = false;
    } else if (!start_) {
      start_ = time;
    } else if (time != *start_) {
      sequences_.push_back(std::exchange(text_, {}));
      end_text(time, chunk_);
    }
  }

  void end_text(std::optional<double> end, std::size_t chunk) {
    texts_.push_back({.start = start_, .end = end, .tokens = join_sequences(sequences_), .chunk = chunk});
    start_.reset();
    sequences_.clear();
  }

  JoiningIds ids_;
  std::vector<JoinedText> texts_;
  double offset_ = 0;  // start of the chunk, in seconds of the recording
  std::size_t chunk_ = 0;
  std::optional<double> start_;                       // start of the current text
  std::vector<std::vector<std::int32_t>> sequences_;  // tokens of the current text from previous chunks
  std::vector<std::int32_t> text_;                    // tokens of the current text from this chunk
  bool is_skipping_ = false;
  // Members for the current chunk.
  double first_time_ = 0;
  std::int32_t last_time_ = kNone;
  double latest_ = 0, before_latest_ = 0;  // last two timestamps, in seconds of the window
  double windows_ = 0;                     // start of the current window, in seconds of the chunk
};

}  // namespace

std::vector<std::int32_t> join_sequences(std::span<const std::vector<std::int32_t>> sequences) {
  std::vector<std::int32_t> joined;
  if (sequences.empty()) return joined;
  std::span<const std::int32_t> left = sequences.front();
  for (const std::span<const std::int32_t> right : sequences.subspan(1)) {
    double best = 0;
    std::size_t left_middle = left.size(), right_middle = 0;
    // Lays the sequences over each other such that the start of the right one is `i` tokens before the left one's end.
    for (std::size_t i = 1; i < left.size() + right.size(); ++i) {
      const std::size_t left_begin = left.size() - std::min(i, left.size());
      const std::size_t right_begin = i - std::min(i, left.size());
      const std::size_t right_end = std::min(i, right.size());
      const std::size_t count = right_end - std::min(right_end, right_begin);
      std::size_t equal = 0;
      for (std::size_t k = 0; k < count; ++k) equal += left[left_begin + k] == right[right_begin + k] ? 1 : 0;
      const auto length = static_cast<double>(i);
      const double match = static_cast<double>(equal) / length + length / 10'000;  // favours long overlaps
      if (equal < 2 || match <= best) continue;
      best = match;
      left_middle = (2 * left_begin + count) / 2;
      right_middle = (2 * right_begin + count) / 2;
    }
    joined.insert(joined.end(), left.begin(), left.begin() + static_cast<std::ptrdiff_t>(left_middle));
    left = right.subspan(right_middle);
  }
  joined.insert(joined.end(), left.begin(), left.end());
  return joined;
}

std::vector<JoinedText> join_chunks(std::span<const TranscribedChunk> chunks, const JoiningIds& ids) {
  Joiner joiner(ids);
  for (const TranscribedChunk& chunk : chunks) joiner.add(chunk);
  return joiner.finish();
}

}  // namespace encdec
