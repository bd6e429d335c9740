#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Speculative decoding (Leviathan et al. 2023): a cheap method proposes draft tokens, and the model verifies several of
// these tokens in one step, which takes little longer than a step for one token. The model accepts draft tokens up to
// the first draft token that differs from the model's choice. So drafts never change the result.

// Makes drafts from a text that the result may partly repeat, such as last year's translation. The draft is the text
// after a position, which advances with the result. If the next token of the result differs from the text, the position
// moves to the end of the best match of the result's last tokens or, without a match, by one token.
class RepeatedText {
 public:
  explicit RepeatedText(TokenIds text = {}) : text_(std::move(text)) {}

  // Returns at most `most` draft tokens. REQUIRES: `result` extends the previous call's result.
  std::span<const std::int32_t> draft(std::span<const std::int32_t> result, std::size_t most);
  std::span<const std::int32_t> draft(std::span<const std::int32_t> result) { return draft(result, text_.size()); }

 private:
  TokenIds text_;
  std::size_t next_ = 0;  // position of the next draft token in the text
  std::size_t seen_ = 0;  // number of result tokens compared with the text
};

// Returns the position in `text` after the longest match of the last tokens of `result`; among equally long matches,
// after the match that ends closest to `near`. Returns 0 if there is no match.
std::size_t position_after_match(std::span<const std::int32_t> text, std::span<const std::int32_t> result,
                                 std::size_t near);

// Prompt lookup: searches `text` for an earlier occurrence of its last tokens, and returns at most `most` tokens that
// follow this occurrence as the draft. Uses the longest match, and among equally long matches the last match.
std::span<const std::int32_t> lookup_draft(std::span<const std::int32_t> text, std::size_t most);

// Replaces the `drafted` draft tokens at the end of `history` by the model's choices, up to the first choice that
// differs from the draft token. If no choice differs, also appends the choice after the last draft token.
// Returns the number of accepted draft tokens.
// - choice(i): the token that the model chose after i draft tokens; nullopt if the logits are NaN.
//   accept_draft() stops at nullopt. If the result reaches this position, the next step computes NaN again and fails.
// - take(i, length): called for each choice that is stored in the history, as token number `length`.
//   Returns whether the result ends.
template <class Choice, class Take>
std::size_t accept_draft(TokenIds& history, std::size_t drafted, const Choice& choice, const Take& take) {
  std::size_t end = history.size() - drafted, right = 0;
  for (std::size_t i = 0; i <= drafted; ++i) {
    const std::optional<std::int32_t> token = choice(i);
    if (!token) break;
    const bool was_drafted = i < drafted && history[end] == *token;
    if (i == drafted) history.emplace_back();
    history[end++] = *token;
    right += was_drafted ? 1 : 0;
    if (take(i, end) || !was_drafted) break;
  }
  history.resize(end);
  return right;
}

// The number of draft tokens per step for one result, fixed or adaptive. An adaptive number doubles if all draft tokens
// were accepted. Otherwise, it becomes the number of accepted tokens plus one. After kPatience drafts in a row without
// an accepted token, drafting pauses for one step. After each further such draft, the pause is twice as long.
class DraftLength {
 public:
  // `fixed`: the fixed number, or 0 for an adaptive number of at most `most`.
  explicit DraftLength(int fixed = 0, std::size_t most = 32) : fixed_(static_cast<std::size_t>(fixed)), most_(most) {}

  // Returns the number for the next step. REQUIRES: one call per step.
  std::size_t next();
  // Records that the model accepted `accepted` of `proposed` draft tokens.
  void record(std::size_t proposed, std::size_t accepted);

 private:
  static constexpr int kPatience = 3;       // number of drafts without an accepted token before a pause
  static constexpr int kLongestPause = 64;  // steps

  std::size_t fixed_;
  std::size_t most_;
  std::size_t length_ = 5;
  int wrong_ = 0;   // drafts in a row without an accepted token
  int pause_ = 1;   // length of the next pause, in steps
  int paused_ = 0;  // number of remaining steps of the current pause
};

// Draft tokens for one result from a draft model, which has its own session.
// Order of calls: (begin [input* accept])* close
class ModelDraft {
 public:
  // Maximum number of draft tokens per step. Longer drafts waste more time than they save.
  static constexpr std::size_t kMost = 7;

  // Makes an object without a draft model, whose begin() returns 0.
  ModelDraft() = default;
  // `source`: number of the source in the draft model's session. If `fixed` is 0, the adaptive number starts as a copy
  // of `length`, and close() stores the number in `length` for later results.
  ModelDraft(Session& session, int source, DraftLength& length, int fixed);

  // Begins a draft after `length` tokens. Returns the number of tokens to draft, at most `most`.
  std::size_t begin(std::size_t most, std::size_t length);
  // Returns the draft model's next input. `tokens`: the result and the draft tokens so far.
  Session::TargetTokens input(std::span<const std::int32_t> tokens);
  // Records that `right` of `drafted` draft tokens were accepted, and drops the rejected draft tokens from the session.
  // The result now has `length` tokens, of which the draft model has not read the last.
  void accept(std::size_t drafted, std::size_t right, std::size_t length);
  void close();

 private:
  Session* session_ = nullptr;
  int source_ = Session::kNoSource;
  std::size_t limit_ = 0;  // position limit of the draft model
  int target_ = -1;        // number of the target in the session, or -1
  std::size_t read_ = 0;   // number of tokens that the draft model has read
  DraftLength length_;
  DraftLength* length_of_all_ = nullptr;  // the adaptive number of all results; null for a fixed number
};

// Makes and verifies the draft tokens of one result. Tries three methods in this order until one yields tokens: a text
// that the result may repeat, prompt lookup in source and result, and the draft model. From draft() to check(), the
// draft tokens are at the end of the result's history.
// Order of calls: (begin_result (draft [(input (take | stop))*] check)* close)*
class Drafter {
 public:
  struct Settings {
    int fixed = 0;       // number of draft tokens per step; 0: adaptive, see DraftLength
    int lookup = 0;      // maximum number of draft tokens from prompt lookup; 0: no lookup
    Dim vocabulary = 0;  // size of the model's vocabulary; a draft ends before a token outside it
    std::span<const std::int32_t> source = {};  // for prompt lookup; must outlive this object
  };
  explicit Drafter(const Settings& settings) : settings_(settings) {}

  void use_model(Session& session, int source, DraftLength& length) {
    model_ = ModelDraft(session, source, length, settings_.fixed);
  }
  // Begins a result. `text`: a text that the result may repeat, or empty.
  void begin_result(TokenIds text) {
    text_ = RepeatedText(std::move(text));
    length_ = DraftLength(settings_.fixed);
    drafted_ = requested_ = 0;
  }
  // Appends at most `most` draft tokens to `history`, from the text or prompt lookup. If both have none, requests
  // tokens from the draft model. `result` is the part of the history that is compared with the text. The draft ends
  // after a token for which ends() is true. Keeps a pointer to `history`.
  template <class Ends>
  void draft(TokenIds& history, std::span<const std::int32_t> result, std::size_t most, const Ends& ends) {
    history_ = &history;
    const std::size_t of_text = std::min(most, length_.next());
    std::span<const std::int32_t> found = text_.draft(result, of_text);
    if (found.empty()) found = looked_up(of_text);
    for (const std::int32_t token : found) {
      if (token < 0 || token >= settings_.vocabulary) break;
      history.push_back(token);
      ++drafted_;
      if (ends(token)) break;
    }
    requested_ = drafted_ > 0 ? 0 : model_.begin(most, history.size());
  }

  // Returns whether the draft model should add another token, after reading input().
  bool wants_model() const { return drafted_ < requested_; }
  Session::TargetTokens input() { return model_.input(*history_); }
  // Appends a token of the draft model. `is_end`: the draft ends with this token.
  void take(std::int32_t token, bool is_end) {
    history_->push_back(token);
    ++drafted_;
    if (is_end) stop();
  }
  // Ends the draft without another token.
  void stop() { requested_ = drafted_; }

  std::size_t draft_tokens() const { return drafted_; }
  // Verifies the draft tokens; see accept_draft() for `choice` and `take`. Drops the rejected tokens from `target` in
  // the main model's session, which has read all draft tokens.
  template <class Choice, class Take>
  void check(TokenIds& history, int target, Session& session, const Choice& choice, const Take& take) {
    const bool is_of_model = std::exchange(requested_, 0) > 0;
    const std::size_t drafted = std::exchange(drafted_, 0), right = accept_draft(history, drafted, choice, take);
    if (drafted == 0) return;
    session.shorten_target(target, static_cast<int>(history.size()) - 1);  // the last token has not been read
    is_of_model ? model_.accept(drafted, right, history.size()) : length_.record(drafted, right);
    counts_ += {.proposed = drafted, .accepted = right, .rounds = 1};
  }
  void close() {
    drafted_ = requested_ = 0;
    model_.close();
  }
  const DraftCounts& counts() const { return counts_; }

 private:
  std::span<const std::int32_t> looked_up(std::size_t most);

  Settings settings_;
  RepeatedText text_;
  DraftLength length_;
  ModelDraft model_;
  TokenIds* history_ = nullptr;
  TokenIds lookup_text_;       // source and history, for prompt lookup
  std::size_t drafted_ = 0;    // number of draft tokens at the end of the history
  std::size_t requested_ = 0;  // number of draft tokens requested from the draft model
  DraftCounts counts_;
};

}  // namespace encdec
