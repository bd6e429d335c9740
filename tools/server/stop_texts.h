#pragma once

#include <encdec/models/generation/text_stream.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace encdec::serve {

// The text of a stream of tokens, up to the first stop text. The stop text is not part of it. Order of calls:
// push* finish, with take() at any time.
class StoppedText {
 public:
  // Keeps references. If `tokenizer` is null, the text stays empty.
  explicit StoppedText(const Tokenizer* tokenizer, std::span<const std::string> stops = {});

  // Adds tokens until a stop text is complete. Returns the number of tokens added.
  std::size_t push(std::span<const std::int32_t> tokens);
  // Ends the stream of tokens.
  void finish();
  bool is_stopped() const { return is_stopped_; }

  // Returns the text that has become final since the last call. Text that may be the beginning of a stop text is not
  // final yet.
  std::string take();
  // Returns the whole text so far.
  const std::string& text() const { return text_; }

 private:
  void add(const std::string& piece);

  std::optional<TextStream> stream_;
  std::span<const std::string> stops_;
  std::string text_;
  std::size_t taken_ = 0;
  std::size_t final_size_ = 0;
  bool is_stopped_ = false;
};

}  // namespace encdec::serve
