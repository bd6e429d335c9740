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

// Functions with a `position`, such as "input.txt:3", throw InputError with a message that begins with it.

// A line as input of a model: UTF-8 text, or token ids.
using LineTokens = std::variant<std::string, TokenIds>;
// Checks a text or parses token ids from 0 to vocabulary - 1.
LineTokens parse_line(std::string line, LineForm form, Dim vocabulary, const std::string& position);

// Throws InputError, naming the first invalid byte, if `line` is not UTF-8.
void check_utf8(std::string_view line, const std::string& position);
// Parses token ids from 0 to vocabulary - 1, separated by spaces or tabs. An empty line gives no ids.
TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position);

// Returns "17 5 0".
std::string format_token_ids(const TokenIds& ids);
// Replaces line ends by spaces, so that each input line has one output line.
std::string as_line(std::string text);
// Makes text from hostile files safe to print: writes '?' for control characters and for characters that change the
// text direction, and U+FFFD for invalid UTF-8.
std::string without_controls(std::string_view text);

// Writes the first unfinished line token by token. Keeps the tokens of later lines until that line is finished.
class LineStreamer {
 public:
  // Writes token ids if `tokenizer` is null. REQUIRES: `output` and `tokenizer` outlive this object.
  LineStreamer(OutputFile& output, const Tokenizer* tokenizer) : output_(output), tokenizer_(tokenizer) {
    begin_line();
  }

  // Adds a token to line number `line`, from 0.
  void push(std::size_t line, std::int32_t token);
  // Finishes the first unfinished line, whose whole text is `line`. Then writes the pushed tokens of the next line.
  void finish_line(std::string_view line);
  // Ends the unfinished line after a failure, so that the error message starts on a new line.
  void break_line();

 private:
  void begin_line();
  void write(std::span<const std::int32_t> tokens);

  OutputFile& output_;
  const Tokenizer* tokenizer_;
  std::size_t line_ = 0;                   // number of the first unfinished line
  std::optional<TextStream> text_;         // text of that line
  std::size_t written_ = 0;                // bytes of that text already written
  std::map<std::size_t, TokenIds> later_;  // tokens of later lines, by line number
};

}  // namespace encdec::cli
