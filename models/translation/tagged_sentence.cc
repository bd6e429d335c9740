#include "encdec/models/translation/tagged_sentence.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

std::size_t common_prefix(const TokenIds& a, const TokenIds& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// The tokens of a source: the tokens of its text, with special tokens before and after them.
class SourceTokens {
 public:
  SourceTokens(const Tokenizer& tokenizer, const std::string& text, const GenerateOptions& options)
      : tokenizer_(tokenizer),
        languages_{.source_language = options.source_lang, .target_language = options.target_lang},
        text_(text),
        ids_(tokenizer.encode(text, languages_)) {
    const TokenIds specials = tokenizer.encode("", languages_);
    begin_ = common_prefix(specials, ids_);
    end_ = std::max(begin_, ids_.size() - std::min(ids_.size(), specials.size() - begin_));
  }

  // Returns the index of the token that contains the byte `place` of the text.
  std::size_t token_at(std::size_t place) const {
    while (place > 0 && is_continuation(text_[place])) --place;  // malformed HTML may have a tag within a character
    const TokenIds before = tokenizer_.encode(std::string_view(text_).substr(0, place), languages_);
    return std::clamp(common_prefix(before, ids_), begin_, end_);
  }
  // Return the index of the first token of the text, and one past the index of its last token.
  std::size_t begin() const { return begin_; }
  std::size_t end() const { return end_; }

 private:
  const Tokenizer& tokenizer_;
  EncodeOptions languages_;
  const std::string& text_;
  TokenIds ids_;
  std::size_t begin_ = 0, end_ = 0;
};

// Returns, for each token, the position in the text where the token's text ends.
std::vector<std::size_t> token_ends(const Tokenizer& tokenizer, const Hypothesis& hypothesis, std::size_t count) {
  std::vector<std::size_t> ends;
  std::size_t last = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t size = decode_known(tokenizer, std::span(hypothesis.token_ids).first(i)).size();
    last = std::clamp(size, last, hypothesis.text.size());
    ends.push_back(last);
  }
  if (!ends.empty()) ends.back() = hypothesis.text.size();
  return ends;
}

// Splits a hypothesis into words: at spaces or, in a language without spaces, at tokens. Aligns each word with the
// token of the source that gets most attention from the tokens of the word.
std::vector<AlignedWord> words_of(const Tokenizer& tokenizer, const Hypothesis& hypothesis, const SourceTokens& source,
                                  bool is_spaceless) {
  const std::string& text = hypothesis.text;
  const Tensor& weights = hypothesis.attention.maps.front().weights;  // [1, 1, rows, keys]
  const std::size_t tokens = hypothesis.token_ids.size();
  const auto first_row = static_cast<std::size_t>(weights.shape()[2]) - tokens;
  const std::vector<std::size_t> ends = token_ends(tokenizer, hypothesis, tokens);
  const std::size_t last = std::min(source.end(), static_cast<std::size_t>(weights.shape()[3]));
  std::vector<AlignedWord> words;
  if (source.begin() >= last) return words;
  std::vector<float> sums(last - source.begin());
  std::size_t token = 0;
  for (std::size_t begin = text.find_first_not_of(' '); begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    while (token < tokens && ends[token] <= begin) ++token;
    if (is_spaceless && token < tokens) end = std::min(end, ends[token]);
    while (end < text.size() && is_continuation(text[end])) ++end;
    std::ranges::fill(sums, 0.0F);
    for (std::size_t other = token; other < tokens && (other == token || ends[other - 1] < end); ++other) {
      const float* row = weights.row(static_cast<Dim>(first_row + other));
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[source.begin() + i];
    }
    const auto best = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
    words.push_back({.begin = begin, .end = end, .unit = source.begin() + best});
    begin = std::min(text.find_first_not_of(' ', end), text.size());
  }
  return words;
}

}  // namespace

AttentionSelection alignment_selection(const Model& model) {
  return {.kinds = {main_kind(model.config())},
          .layers = {.of = AttentionChoice::Of::one, .number = -1},
          .heads = {.of = AttentionChoice::Of::mean}};
}

std::vector<std::vector<PlacedCode>> place_codes(const Model& model, const std::string& source,
                                                 const TaggedSentence& sentence, const GenerateOptions& options,
                                                 bool is_spaceless, GenerateResult& result) {
  const Tokenizer& tokenizer = *model.tokenizer();
  const SourceTokens tokens(tokenizer, source, options);
  std::vector<AlignedCode> codes;
  const std::size_t end_code = sentence.first_code + sentence.codes.size();
  for (const InlineCode& code : sentence.codes) {
    AlignedCode& aligned = codes.emplace_back();
    aligned.unit = tokens.token_at(code.place - sentence.begin);
    if (!code.partner) continue;
    const std::size_t number = sentence.first_code + codes.size() - 1;
    aligned.kind = *code.partner > number ? AlignedCode::Kind::begin : AlignedCode::Kind::end;
    aligned.is_whole = *code.partner >= sentence.first_code && *code.partner < end_code;
  }
  std::vector<std::vector<PlacedCode>> placed;
  for (Hypothesis& hypothesis : result.hypotheses) {
    std::vector<AlignedWord> words;
    if (!hypothesis.attention.maps.empty() && !hypothesis.token_ids.empty()) {
      words = words_of(tokenizer, hypothesis, tokens, is_spaceless);
    }
    placed.push_back(place_codes(words, codes));
    hypothesis.attention = {};
  }
  return placed;
}

}  // namespace encdec
