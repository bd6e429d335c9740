#pragma once

#include <encdec/models/generation/text_stream.h>
#include <encdec/models/session/session.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "command/output_file.h"
#include "common/parse_number.h"

namespace encdec::cli {

// Form of the lines that a command reads and writes: text, or token ids (--token-ids).
enum class LineForm : std::uint8_t { text, token_ids };

// The functions with a parameter `position` ("input.txt:3") throw InputError with a message that begins with it.

// A line as input of a model: text in UTF-8, or token ids.
using LineTokens = std::variant<std::string, TokenIds>;
// Returns the line in this form. Token ids must be from 0 to vocabulary - 1.
LineTokens parse_line(std::string line, LineForm form, Dim vocabulary, const std::string& position);

// Throws InputError, naming the first wrong byte, if `line` is not UTF-8.
void check_utf8(std::string_view line, const std::string& position);
// Returns the token ids of a line, separated by spaces or tabs and from 0 to vocabulary - 1. Returns none for an empty
// line.
TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position);

// Returns the ids separated by spaces: "17 5 0".
std::string format_token_ids(const TokenIds& ids);
// Returns the text as one line: line ends become spaces, so that each input line has one output line.
std::string as_line(std::string text);
// Returns the text made safe for messages and tables, which may quote hostile files. Control characters and characters
// that change the text direction become '?'. Bytes that are not UTF-8 become U+FFFD.
std::string without_controls(std::string_view text);

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
