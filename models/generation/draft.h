#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encdec/models/session/token_ids.h"

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

 private:
  TokenIds text_;
  std::size_t next_ = 0;  // place in the text of the token expected next
  std::size_t seen_ = 0;  // number of tokens of the result that were followed
};

// Returns the place after the longest match of the last tokens of `result` in `text`; of equal matches the one that
// ends closest to `near`. Returns 0 if not even the last token occurs.
std::size_t place_after_match(std::span<const std::int32_t> text, std::span<const std::int32_t> result,
                              std::size_t near);

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

}  // namespace encdec
