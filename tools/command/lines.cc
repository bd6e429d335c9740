#include "command/lines.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>

#include <algorithm>

namespace encdec::cli {
namespace {

constexpr std::string_view kSeparators = " \t";
constexpr std::size_t kShownBytes = 40;

}  // namespace

LineTokens parse_line(std::string line, LineForm form, Dim vocabulary, const std::string& position) {
  if (form == LineForm::token_ids) return parse_token_ids(line, vocabulary, position);
  check_utf8(line, position);
  return line;
}

void check_utf8(std::string_view line, const std::string& position) {
  const auto offset = find_invalid_utf8(line);
  if (!offset) return;
  throw InputError(fmt::format("{}: byte {} is {:#04x}: not valid UTF-8", position, *offset + 1,
                               static_cast<unsigned char>(line[*offset])));
}

TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position) {
  TokenIds ids;
  for (std::size_t begin = line.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSeparators, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const auto id = parse_number<std::int32_t>(word);
    if (!id || *id < 0 || *id >= vocabulary) {
      throw InputError(fmt::format("{}: token {} is '{}', expected an integer from 0 to {}", position, ids.size() + 1,
                                   word.substr(0, kShownBytes), vocabulary - 1));
    }
    ids.push_back(*id);
    begin = line.find_first_not_of(kSeparators, end);
  }
  return ids;
}

std::string format_token_ids(const TokenIds& ids) {
  std::size_t bytes = 0;  // number of bytes to reserve, so that a long line is not copied while it grows
  for (const std::int32_t id : ids) bytes += fmt::format_int(id).size() + 1;
  std::string line;
  line.reserve(bytes);
  for (const std::int32_t id : ids) {
    if (!line.empty()) line += ' ';
    const fmt::format_int number(id);
    line.append(number.data(), number.size());
  }
  return line;
}

std::string as_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string without_controls(std::string_view text) {
  const auto is_harmful = [](char32_t c) {
    // ALM, LRM, RLM, embeddings, overrides and isolates change the direction of text (Unicode Annex 9, section 2).
    const bool turns_text =
        c == 0x61C || (c >= 0x200E && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || turns_text;
  };
  const std::string valid = replace_invalid_utf8(text);
  std::string result;
  for (std::string_view rest = valid; !rest.empty();) {
    const Character c = first_character(rest);
    result += is_harmful(c.value) ? "?" : rest.substr(0, c.bytes);
    rest.remove_prefix(c.bytes);
  }
  return result;
}

void LineStreamer::begin_line() {
  written_ = 0;
  if (tokenizer_ != nullptr) text_.emplace(*tokenizer_);
}

void LineStreamer::push(std::size_t line, std::int32_t token) {
  if (line > line_) {
    later_[line].push_back(token);
  } else {
    write(std::span(&token, 1));
  }
}

void LineStreamer::write(std::span<const std::int32_t> tokens) {
  std::string text;
  if (text_) {
    text = as_line(text_->push(tokens));
  } else {
    if (written_ > 0) text = " ";
    text += format_token_ids({tokens.begin(), tokens.end()});
  }
  if (text.empty()) return;
  output_.write(text);
  output_.flush();
  written_ += text.size();
}

void LineStreamer::finish_line(std::string_view line) {
  if (written_ < line.size()) output_.write(line.substr(written_));
  output_.write("\n");
  output_.flush();
  ++line_;
  begin_line();
  if (const auto known = later_.extract(line_)) write(known.mapped());
}

void LineStreamer::break_line() {
  if (written_ == 0) return;
  output_.write("\n");
  output_.flush();
  written_ = 0;
}

}  // namespace encdec::cli
