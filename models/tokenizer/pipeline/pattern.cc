#include "encdec/models/tokenizer/pipeline/pattern.h"

#include <utility>

#include "encdec/models/tokenizer/pipeline/characters.h"
#include "encdec/models/tokenizer/pipeline/regex.h"

namespace encdec {

Pattern Pattern::literal(std::string text) {
  return {std::move(text), nullptr};
}

Pattern Pattern::regex(const std::string& expression, const std::string& name) {
  return {"", std::make_unique<const Regex>(expression, name)};
}

Pattern::Pattern(std::string literal, std::unique_ptr<const Regex> regex)
    : literal_(std::move(literal)), regex_(std::move(regex)) {}

Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;
Pattern::~Pattern() = default;

std::vector<Pattern::Match> Pattern::find_all(std::string_view text) const {
  if (regex_ != nullptr) return regex_->find_all(text);
  std::vector<Match> matches;
  if (literal_.empty()) {  // between all characters, and at both ends
    for (std::size_t position = 0; position < text.size();) {
      matches.push_back({position, position});
      position += first_character(text.substr(position)).bytes;
    }
    matches.push_back({text.size(), text.size()});
    return matches;
  }
  for (std::size_t begin = text.find(literal_); begin != std::string_view::npos;) {
    const std::size_t end = begin + literal_.size();
    matches.push_back({begin, end});
    begin = text.find(literal_, end);
  }
  return matches;
}

}  // namespace encdec
