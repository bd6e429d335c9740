#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "encdec/models/generation/generate_options.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Guesses of the next tokens of one result, for speculative decoding (Leviathan et al. 2023): the model checks several
// guessed tokens in one step, which costs little more than one token, and keeps them as far as they are what it would
// have generated. So guesses change the time, never the result.

// A text that the result may repeat in parts, such as last year's translation or the source itself. Follows the result
// through the text: while the result repeats it, the guess is what comes next in the text. After a difference the guess
// continues where the last tokens of the result occur in the text; if they do not, one token further on.
class RepeatedText {
 public:
  explicit RepeatedText(TokenIds text = {}) : text_(std::move(text)) {}

  // Returns the guess of at most `most` tokens after `result`, which begins with the result of the previous call.
  std::span<const std::int32_t> guess(std::span<const std::int32_t> result, std::size_t most);
  // The same, without a limit.
  std::span<const std::int32_t> guess(std::span<const std::int32_t> result) { return guess(result, text_.size()); }

 private:
  TokenIds text_;
  std::size_t next_ = 0;  // place in the text of the token expected next
  std::size_t seen_ = 0;  // number of tokens of the result that were followed
};

// Returns the place after the longest match of the last tokens of `result` in `text`; of equal matches the one that
// ends closest to `near`. Returns 0 if not even the last token occurs.
std::size_t place_after_match(std::span<const std::int32_t> text, std::span<const std::int32_t> result,
                              std::size_t near);

// Returns a guess of at most `most` tokens after `text`: what followed the last tokens where they occurred before.
std::span<const std::int32_t> guess_by_lookup(std::span<const std::int32_t> text, std::size_t most);

// Puts the tokens chosen in place of the `drafted` draft tokens at the end of `history`, as far as they count: a choice
// counts if all draft tokens before it were chosen. Returns the number of right draft tokens.
// - choice(i): the token chosen after i draft tokens; nullopt if the model computed NaN there. If these draft tokens
//   are right, the next step reads this place again, without a draft, and fails.
// - take(i, length): called for each choice that counts, the last of `length` tokens. Returns whether the result ends.
template <class Choice, class Take>
std::size_t accept_guesses(TokenIds& history, std::size_t drafted, const Choice& choice, const Take& take) {
  std::size_t end = history.size() - drafted, right = 0;
  for (std::size_t i = 0; i <= drafted; ++i) {
    const std::optional<std::int32_t> token = choice(i);
    if (!token) break;
    const bool was_guessed = i < drafted && history[end] == *token;
    if (i == drafted) history.emplace_back();
    history[end++] = *token;
    right += was_guessed ? 1 : 0;
    if (take(i, end) || !was_guessed) break;
  }
  history.resize(end);
  return right;
}

// How many tokens to guess for one result. With a fixed number always that many. Otherwise the number follows what was
// right: it doubles after a guess that was right to its end, and falls to one more than was right after another. If
// several guesses in a row have no right token, a pause of one step follows. Each further pause is twice as long.
class DraftLength {
 public:
  // `fixed` is 0 for a number that follows what was right and is at most `most`.
  explicit DraftLength(int fixed = 0, std::size_t most = 32) : fixed_(static_cast<std::size_t>(fixed)), most_(most) {}

  // Returns the number of tokens to guess in the next step. Called once for each step.
  std::size_t next();
  // Tells how many of `proposed` guessed tokens were right.
  void tell(std::size_t proposed, std::size_t accepted);

 private:
  static constexpr int kPatience = 3;       // wrong guesses in a row before a pause
  static constexpr int kLongestPause = 64;  // steps

  std::size_t fixed_;
  std::size_t most_;
  std::size_t length_ = 5;
  int wrong_ = 0;   // guesses in a row without a right token
  int pause_ = 1;   // steps of the next pause
  int paused_ = 0;  // steps that are left of this pause
};

// The guesses for one result by another model, which reads the result's tokens in its own session.
// Order of calls: (begin [input* accept])* close
class ModelDraft {
 public:
  // Maximum number of tokens to guess at once: with more, the tokens after a wrong one cost too much.
  static constexpr std::size_t kMost = 7;

  // Guesses nothing.
  ModelDraft() = default;
  // The result's source is `source` in `session`. `length` follows what was right in results that are complete.
  ModelDraft(Session& session, int source, DraftLength& length, int fixed);

  // Begins a guess of at most `most` tokens after `length` tokens. Returns how many to guess.
  std::size_t begin(std::size_t most, std::size_t length);
  // Returns the input that makes the model guess the token after `tokens`, the result and the guesses so far.
  Session::TargetTokens input(std::span<const std::int32_t> tokens);
  // Tells that `right` of `guessed` tokens were right. The result now has `length` tokens, the last of them new.
  void accept(std::size_t guessed, std::size_t right, std::size_t length);
  // Ends the result, if one has begun.
  void close();

 private:
  Session* session_ = nullptr;
  int source_ = Session::kNoSource;
  std::size_t limit_ = 0;  // number of tokens that the model can read
  int target_ = -1;        // number in the session, or -1
  std::size_t read_ = 0;   // number of tokens read
  DraftLength length_;
  DraftLength* length_of_all_ = nullptr;  // null for a fixed number
};

// A source of draft tokens for one result. They come from a text that the result may repeat, else from an earlier place
// in the result or its source, else from a draft model. They are at the end of the result's history until check().
// Order of calls: (begin_result (draft [(input (take | stop))*] check)* close)*
class Drafter {
 public:
  struct Settings {
    int fixed = 0;       // draft tokens of a step; 0: the number follows how many were right
    int lookup = 0;      // maximum number of draft tokens from an earlier place
    Dim vocabulary = 0;  // size of the result's vocabulary; a draft ends before a token that it lacks
    std::span<const std::int32_t> source = {};  // tokens before the result, looked up too; they outlive this object
  };
  explicit Drafter(const Settings& settings) : settings_(settings) {}

  // Takes draft tokens of a model where there are no others; see ModelDraft.
  void use_model(Session& session, int source, DraftLength& length) {
    model_ = ModelDraft(session, source, length, settings_.fixed);
  }
  // Begins a result that may repeat `text`.
  void begin_result(TokenIds text) {
    text_ = RepeatedText(std::move(text));
    length_ = DraftLength(settings_.fixed);
    guessed_ = wanted_ = 0;
  }
  // Appends at most `most` draft tokens to `history`, which must exist until check(). `result` may repeat the text. The
  // draft ends after a token that ends() accepts.
  template <class Ends>
  void draft(TokenIds& history, std::span<const std::int32_t> result, std::size_t most, const Ends& ends) {
    history_ = &history;
    const std::size_t of_text = std::min(most, length_.next());
    std::span<const std::int32_t> found = text_.guess(result, of_text);
    if (found.empty()) found = looked_up(of_text);
    for (const std::int32_t token : found) {
      if (token < 0 || token >= settings_.vocabulary) break;
      history.push_back(token);
      ++guessed_;
      if (ends(token)) break;
    }
    wanted_ = guessed_ > 0 ? 0 : model_.begin(most, history.size());
  }

  // Returns whether the draft model is to add one more token. It then reads input().
  bool wants_model() const { return guessed_ < wanted_; }
  Session::TargetTokens input() { return model_.input(*history_); }
  // Appends a token of the draft model. `is_end`: no more are wanted after it.
  void take(std::int32_t token, bool is_end) {
    history_->push_back(token);
    ++guessed_;
    if (is_end) stop();
  }
  // Wants no more tokens of the draft model in this step.
  void stop() { wanted_ = guessed_; }

  // Returns the number of draft tokens at the end of the history.
  std::size_t guessed() const { return guessed_; }
  // Puts the tokens chosen in place of the draft tokens, as accept_guesses() does. `target` has read them all.
  template <class Choice, class Take>
  void check(TokenIds& history, int target, Session& session, const Choice& choice, const Take& take) {
    const bool is_of_model = std::exchange(wanted_, 0) > 0;
    const std::size_t guessed = std::exchange(guessed_, 0), right = accept_guesses(history, guessed, choice, take);
    if (guessed == 0) return;
    session.shorten_target(target, static_cast<int>(history.size()) - 1);  // the last token has not been read
    is_of_model ? model_.accept(guessed, right, history.size()) : length_.tell(guessed, right);
    counts_ += {.proposed = guessed, .accepted = right, .rounds = 1};
  }
  void close() {
    guessed_ = wanted_ = 0;
    model_.close();
  }
  // Returns the counts of all results.
  const DraftCounts& counts() const { return counts_; }

 private:
  std::span<const std::int32_t> looked_up(std::size_t most);

  Settings settings_;
  RepeatedText text_;
  DraftLength length_;
  ModelDraft model_;
  TokenIds* history_ = nullptr;
  TokenIds lookup_text_;     // the source and the history, in which an earlier place is looked up
  std::size_t guessed_ = 0;  // number of draft tokens at the end of the history
  std::size_t wanted_ = 0;   // number that the draft model is to make, or 0
  DraftCounts counts_;
};

}  // namespace encdec
