#include "server/stop_texts.h"

#include <algorithm>
#include <string_view>

namespace encdec::serve {

StoppedText::StoppedText(const Tokenizer* tokenizer, std::span<const std::string> stops) : stops_(stops) {
  if (tokenizer != nullptr) stream_.emplace(*tokenizer);
}

std::size_t StoppedText::push(std::span<const std::int32_t> tokens) {
  if (!stream_) return tokens.size();
  if (stops_.empty()) {
    add(stream_->push(tokens));
    return tokens.size();
  }
  std::size_t count = 0;
  while (count < tokens.size() && !is_stopped_) add(stream_->push(tokens[count++]));
  return count;
}

void StoppedText::finish() {
  if (stream_ && !is_stopped_) add(stream_->finish());
  final_size_ = text_.size();
}

std::string StoppedText::take() {
  std::string text = text_.substr(taken_, final_size_ - taken_);
  taken_ = final_size_;
  return text;
}

void StoppedText::add(const std::string& text) {
  text_ += text;
  // No stop text begins in the final text, so the search starts after it.
  std::size_t stop = std::string::npos;
  for (const std::string& text : stops_) stop = std::min(stop, text_.find(text, final_size_));
  is_stopped_ = stop != std::string::npos;
  if (is_stopped_) {
    text_.resize(stop);
    final_size_ = stop;
    return;
  }
  // If the end of the text may begin a stop text, only the text before that end is final.
  const auto may_begin_a_stop = [this](std::size_t position) {
    const std::string_view end = std::string_view(text_).substr(position);
    return std::ranges::any_of(stops_, [end](const std::string& text) { return text.starts_with(end); });
  };
  while (final_size_ < text_.size() && !may_begin_a_stop(final_size_)) ++final_size_;
}

}  // namespace encdec::serve
