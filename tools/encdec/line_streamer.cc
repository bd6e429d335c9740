#include "encdec/line_streamer.h"

#include "encdec/lines.h"

namespace encdec::cli {

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
  std::string piece;
  if (text_) {
    piece = as_line(text_->push(tokens));
  } else {
    if (written_ > 0) piece = " ";
    piece += format_token_ids({tokens.begin(), tokens.end()});
  }
  if (piece.empty()) return;
  output_.write(piece);
  output_.flush();
  written_ += piece.size();
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
