#include "encdec/models/generation/draft.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace encdec {
namespace {

// Maximum number of tokens that are compared. All matches of at least this length count as equally long.
constexpr std::size_t kLongestMatch = 8;

std::size_t distance(std::size_t a, std::size_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

std::size_t position_after_match(std::span<const std::int32_t> text, std::span<const std::int32_t> result,
                                 std::size_t near) {
  std::size_t best = 0, longest = 0;
  // For each position, count how many tokens before this position equal the last tokens of the result.
  for (std::size_t end = 1; end <= text.size(); ++end) {
    const std::size_t most = std::min({end, result.size(), kLongestMatch});
    std::size_t length = 0;
    while (length < most && text[end - 1 - length] == result[result.size() - 1 - length]) ++length;
    if (length > longest || (length == longest && length > 0 && distance(end, near) < distance(best, near))) {
      best = end, longest = length;
    }
  }
  return best;
}

std::span<const std::int32_t> lookup_draft(std::span<const std::int32_t> text, std::size_t most) {
  if (text.empty() || most == 0) return {};
  // Leave out the last token, so that the text does not match its own end.
  const std::size_t next = position_after_match(text.first(text.size() - 1), text, text.size());
  if (next == 0) return {};
  return text.subspan(next, std::min(most, text.size() - next));
}

std::span<const std::int32_t> RepeatedText::draft(std::span<const std::int32_t> result, std::size_t most) {
  for (; seen_ < result.size(); ++seen_) {
    const bool repeats = next_ < text_.size() && text_[next_] == result[seen_];
    ++next_;
    if (repeats) continue;
    // The result differs from the text here. Continue after the best match, if the text has a match.
    const std::size_t found = position_after_match(text_, result.first(seen_ + 1), next_);
    if (found > 0) next_ = found;
  }
  if (next_ >= text_.size()) return {};
  return std::span(text_).subspan(next_, std::min(most, text_.size() - next_));
}

std::size_t DraftLength::next() {
  if (fixed_ > 0) return fixed_;
  if (paused_ > 0) return --paused_, 0;
  return length_;
}

void DraftLength::record(std::size_t proposed, std::size_t accepted) {
  if (proposed == 0) return;
  // If the whole draft was accepted but was shorter than requested, the length does not change.
  length_ = accepted < proposed ? accepted + 1 : accepted < length_ ? length_ : std::min(2 * length_, most_);
  if (accepted > 0) {
    wrong_ = 0, pause_ = 1;
  } else if (++wrong_ >= kPatience) {
    paused_ = pause_;
    pause_ = std::min(2 * pause_, kLongestPause);
  }
}

ModelDraft::ModelDraft(Session& session, int source, DraftLength& length, int fixed)
    : session_(&session),
      source_(source),
      limit_(std::numeric_limits<std::size_t>::max()),
      length_(fixed > 0 ? DraftLength(fixed) : length),
      length_of_all_(fixed > 0 ? nullptr : &length) {
  if (const auto limit = session.model().config.decoder.position_limit()) limit_ = static_cast<std::size_t>(*limit);
}

std::size_t ModelDraft::begin(std::size_t most, std::size_t length) {
  constexpr std::size_t kDroppable = CacheRows::kMostDropped;  // because all draft tokens may be rejected
  return session_ == nullptr ? 0 : std::min({most, length_.next(), limit_ - std::min(limit_, length - 1), kDroppable});
}

Session::TargetTokens ModelDraft::input(std::span<const std::int32_t> tokens) {
  if (target_ < 0) target_ = session_->open_target(source_);
  return {target_, tokens.subspan(std::exchange(read_, tokens.size()))};
}

void ModelDraft::accept(std::size_t drafted, std::size_t right, std::size_t length) {
  length_.record(drafted, right);
  if (read_ < length) return;  // the draft model has read accepted tokens only
  read_ = length - 1;
  session_->shorten_target(target_, static_cast<int>(read_));
}

void ModelDraft::close() {
  if (target_ < 0) return;
  session_->close_target(target_);
  if (length_of_all_ != nullptr) *length_of_all_ = length_;
  target_ = -1, read_ = 0;
}

// Returns at most `most` draft tokens, which prompt lookup finds in the source and the history.
std::span<const std::int32_t> Drafter::looked_up(std::size_t most) {
  if (settings_.lookup == 0 || most == 0) return {};
  lookup_text_.assign(settings_.source.begin(), settings_.source.end());
  lookup_text_.insert(lookup_text_.end(), history_->begin(), history_->end());
  return lookup_draft(lookup_text_, std::min(most, static_cast<std::size_t>(settings_.lookup)));
}

}  // namespace encdec
