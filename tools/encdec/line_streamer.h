#pragma once

#include <encdec/models/generation/text_stream.h>
#include <encdec/models/session/session.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "encdec/output_file.h"

namespace encdec::cli {

// Writes lines while they are generated: the first one that is not finished, token by token. Tokens of later lines wait
// for their turn.
class LineStreamer {
 public:
  // Keeps references. Without a tokenizer, lines are ids.
  LineStreamer(OutputFile& output, const Tokenizer* tokenizer) : output_(output), tokenizer_(tokenizer) {
    begin_line();
  }

  void push(std::size_t line, std::int32_t token);
  // The current line is finished: writes what is missing of it, its end, and what is known of the next one.
  void finish_line(std::string_view line);
  // After a failure: what comes next is not a part of the current line.
  void break_line();

 private:
  void begin_line();
  void write(std::span<const std::int32_t> tokens);

  OutputFile& output_;
  const Tokenizer* tokenizer_;
  std::size_t line_ = 0;                   // the current one
  std::optional<TextStream> text_;         // of the current one
  std::size_t written_ = 0;                // bytes of the current one
  std::map<std::size_t, TokenIds> later_;  // tokens of lines after it
};

}  // namespace encdec::cli
