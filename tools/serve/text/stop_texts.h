#pragma once

#include <encdec/models/generation/text_stream.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace encdec::serve {

// The text of tokens that come one after the other, up to the first of some texts that end it and are no part of it.
class StoppedText {
 public:
  // Keeps references. Without a tokenizer there is no text.
  explicit StoppedText(const Tokenizer* tokenizer, std::span<const std::string> stops = {});

  // Takes tokens, none behind the one that ends the text. How many it took.
  std::size_t push(std::span<const std::int32_t> tokens);
  // No more tokens come.
  void finish();
  bool is_stopped() const { return is_stopped_; }

  // What has become certain since the last call: what may be the beginning of a text that ends it waits.
  std::string take();
  // All of it.
  const std::string& text() const { return text_; }

 private:
  void add(const std::string& piece);

  std::optional<TextStream> stream_;
  std::span<const std::string> stops_;
  std::string text_;
  std::size_t taken_ = 0;
  std::size_t certain_ = 0;
  bool is_stopped_ = false;
};

}  // namespace encdec::serve
