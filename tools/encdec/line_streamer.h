#pragma once

#include <encdec/models/generation/text_stream.h>
#include <encdec/models/session/session.h>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "encdec/output_file.h"

namespace encdec::cli {

// A writer of lines that are still being generated. Writes the current line, the first unfinished one, token by token.
// Keeps the tokens of later lines until the lines before them are finished.
class LineStreamer {
 public:
  // Writes token ids if `tokenizer` is null. REQUIRES: `output` and `tokenizer` outlive this object.
  LineStreamer(OutputFile& output, const Tokenizer* tokenizer) : output_(output), tokenizer_(tokenizer) {
    begin_line();
  }

  // Adds a token to line number `line`, from 0.
  void push(std::size_t line, std::int32_t token);
  // Finishes the current line, whose text is `line`: writes the rest of the text, a line end, and the tokens of the
  // next line that have been pushed.
  void finish_line(std::string_view line);
  // Ends the current line after a failure, so that an error message begins a new line.
  void break_line();

 private:
  void begin_line();
  void write(std::span<const std::int32_t> tokens);

  OutputFile& output_;
  const Tokenizer* tokenizer_;
  std::size_t line_ = 0;                   // number of the current line
  std::optional<TextStream> text_;         // text of the current line
  std::size_t written_ = 0;                // bytes of the current line that are written
  std::map<std::size_t, TokenIds> later_;  // tokens of later lines, by line number
};

}  // namespace encdec::cli
