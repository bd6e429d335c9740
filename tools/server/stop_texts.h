#pragma once

#include <encdec/models/generation/text_stream.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace encdec::serve {

// The text of a stream of tokens, truncated before the first stop text.
// Order of calls: push* finish, with take() at any time.
class StoppedText {
 public:
  // Keeps references to `tokenizer` and `stops`. If `tokenizer` is null, the text stays empty.
  explicit StoppedText(const Tokenizer* tokenizer, std::span<const std::string> stops = {});

  // Adds tokens until a stop text is complete. Returns the number of added tokens.
  std::size_t push(std::span<const std::int32_t> tokens);
  void finish();
  bool is_stopped() const { return is_stopped_; }

  // Returns the text that became final since the last call. A suffix that may begin a stop text is not final.
  std::string take();
  const std::string& text() const { return text_; }

 private:
  void add(const std::string& text);

  std::optional<TextStream> stream_;
  std::span<const std::string> stops_;
  std::string text_;
  std::size_t taken_ = 0;       // bytes returned by take()
  std::size_t final_size_ = 0;  // bytes that are final
  bool is_stopped_ = false;
};

}  // namespace encdec::serve
