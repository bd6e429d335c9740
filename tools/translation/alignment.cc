#include "encdec/translation/alignment.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/text/language.h"

namespace encdec {
namespace {

std::size_t common_prefix(const TokenIds& a, const TokenIds& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

float size(const TextUnit& unit) {
  return static_cast<float>(unit.end - unit.begin);
}

// A word with its range of source units. The range is used only for words of a source.
struct Word {
  explicit Word(std::string_view text)
      : letters(without_case(text)), is_mark(u_isalnum(static_cast<UChar32>(first_character(text).value)) == 0) {}

  std::string letters;
  bool is_mark;  // the first character is neither a letter nor a digit
  std::size_t first_unit = 0, units = 1;
};

// Returns the words of a source. A word with an inline code inside it consists of several units.
std::vector<Word> words_in(std::string_view source, std::span<const TextUnit> units) {
  std::vector<Word> words;
  for (std::size_t i = 0; i < units.size(); ++i) {
    Word word(source.substr(units[i].begin, units[i].end - units[i].begin));
    if (units[i].continues) {
      words.back().letters += word.letters;
      ++words.back().units;
    } else {
      word.first_unit = i;
      words.push_back(std::move(word));
    }
  }
  return words;
}

// Returns the number of bytes of the first n characters of `copy`, where n is the number of characters in `part`.
std::size_t size_of_same(std::string_view part, std::string_view copy) {
  auto left = std::ranges::count_if(part, [](char c) { return !is_continuation(c); });
  const auto end = std::ranges::find_if(copy, [&left](char c) { return !is_continuation(c) && left-- == 0; });
  return static_cast<std::size_t>(end - copy.begin());
}

}  // namespace

SourceUnits::SourceUnits(const Tokenizer& tokenizer, const std::string& text, const EncodeOptions& languages,
                         std::span<const std::size_t> cuts)
    : units_(encdec::units_of(text, cuts)) {
  const TokenIds ids = tokenizer.encode(text, languages), specials = tokenizer.encode("", languages);
  specials_before_ = common_prefix(specials, ids);
  bytes_.resize(ids.size() - std::min(ids.size(), specials.size()));
  for (std::size_t i = 0; i < units_.size(); ++i) {
    poll_cancelled();
    // The unit begins at the first difference between the tokens of the whole text and the tokens of the text before
    // the unit. Encode the text before the unit without and with its trailing space, because the space may change the
    // last token.
    std::size_t begin = i > 0 ? tokens_.back().first : 0;
    for (const std::size_t end : {i > 0 ? units_[i - 1].end : 0, units_[i].begin}) {
      const std::size_t same = common_prefix(tokenizer.encode(std::string_view(text).substr(0, end), languages), ids);
      begin = std::max(begin, std::min(same - std::min(same, specials_before_), bytes_.size()));
      if (end == units_[i].begin) break;
    }
    if (i > 0) tokens_.back().second = std::max(tokens_.back().second, begin);
    tokens_.emplace_back(begin, std::min(begin + 1, bytes_.size()));
  }
  if (!tokens_.empty()) tokens_.back().second = bytes_.size();
  for (std::size_t i = 0; i < units_.size(); ++i) {
    for (std::size_t t = tokens_[i].first; t < tokens_[i].second; ++t) bytes_[t] += size(units_[i]);
  }
}

void SourceUnits::add(std::span<const float> tokens, std::span<float> units) const {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const std::size_t end = std::min(tokens_[i].second, tokens.size());
    for (std::size_t t = tokens_[i].first; t < end; ++t) units[i] += tokens[t] * size(units_[i]) / bytes_[t];
  }
}

Alignment align(const Model& model, const SourceUnits& source, const Hypothesis& hypothesis) {
  Alignment alignment;
  if (hypothesis.attention.maps.empty() || hypothesis.token_ids.empty()) return alignment;
  const Tensor& weights = hypothesis.attention.maps.front().weights;  // [1, 1, rows, keys]
  const std::size_t tokens = hypothesis.token_ids.size();
  // The last rows of the attention belong to the tokens of the hypothesis.
  const std::size_t first_row = static_cast<std::size_t>(weights.shape()[2]) - tokens;
  const auto keys = static_cast<std::size_t>(weights.shape()[3]);
  const std::size_t first_key = std::min(source.specials_before(), keys);
  alignment.units = source.units().size();
  alignment.weights.resize(tokens * alignment.units);
  std::size_t last = 0;
  for (std::size_t i = 0; i < tokens; ++i) {
    poll_cancelled();
    const float* row = weights.row(static_cast<Dim>(first_row + i)) + first_key;
    source.add({row, keys - first_key}, std::span(alignment.weights).subspan(i * alignment.units, alignment.units));
    // A token may end inside a character. An incomplete character decodes to a different character, so count only the
    // bytes that are equal to the beginning of the final text.
    const std::string decoded = decode_known(*model.tokenizer(), std::span(hypothesis.token_ids).first(i + 1));
    const auto end = static_cast<std::size_t>(std::ranges::mismatch(decoded, hypothesis.text).in1 - decoded.begin());
    last = i + 1 == tokens ? hypothesis.text.size() : std::max(end, last);
    alignment.ends.push_back(last);
  }
  return alignment;
}

Alignment compose(const Alignment& first, std::size_t begin, const SourceUnits& middle, const Alignment& second) {
  Alignment composed{.ends = second.ends, .units = first.units};
  composed.weights.resize(second.ends.size() * first.units);
  for (std::size_t unit = 0; unit < second.units; ++unit) {
    const TextUnit& bytes = middle.units()[unit];
    const std::vector<float> through = weights_of(first, begin + bytes.begin, begin + bytes.end);
    for (std::size_t token = 0; token < second.ends.size(); ++token) {
      const float weight = second.row(token)[unit];
      for (std::size_t i = 0; i < first.units; ++i) composed.weights[token * first.units + i] += weight * through[i];
    }
  }
  return composed;
}

std::vector<float> weights_of(const Alignment& alignment, std::size_t begin, std::size_t end) {
  const std::vector<std::size_t>& ends = alignment.ends;
  std::vector<float> sums(alignment.units);
  const auto first = static_cast<std::size_t>(std::ranges::upper_bound(ends, begin) - ends.begin());
  for (std::size_t token = first; token < ends.size() && (token == first || ends[token - 1] < end); ++token) {
    const std::span<const float> row = alignment.row(token);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row[i];
  }
  const float sum = std::accumulate(sums.begin(), sums.end(), 0.0F);
  for (float& weight : sums) weight = sum > 0 ? weight / sum : 0;
  return sums;
}

std::vector<AlignedWord> align_words(const Alignment& alignment, std::string_view text, std::string_view source,
                                     std::span<const TextUnit> source_units) {
  // Terms of the score that the header defines.
  constexpr float kSameLetters = 0.3F, kSamePosition = 0.1F, kDistance = 10, kOtherKind = 1;
  const std::vector<Word> sources = words_in(source, source_units);
  const std::vector<TextUnit> units = units_of(text);
  // Compute the weight of each source unit for each unit of the translation.
  std::vector<std::vector<float>> weights(units.size(), std::vector<float>(source_units.size()));
  std::vector<float> means(source_units.size());  // mean weight of each source unit
  for (std::size_t i = 0; i < units.size() && alignment.units == means.size(); ++i) {
    weights[i] = weights_of(alignment, units[i].begin, units[i].end);
    for (std::size_t j = 0; j < means.size(); ++j) means[j] += weights[i][j] / static_cast<float>(units.size());
  }
  std::vector<AlignedWord> words;
  for (std::size_t i = 0; i < units.size() && !sources.empty(); ++i) {
    poll_cancelled();
    const auto [begin, end, continues] = units[i];
    const Word own(text.substr(begin, end - begin));
    const float position = static_cast<float>(i * sources.size()) / static_cast<float>(units.size());
    const auto likeness = [&](const Word& word) {
      const float distance = std::abs(static_cast<float>(&word - sources.data()) - position);
      float sum = kSamePosition * std::max(0.0F, 1 - distance / kDistance);
      if (word.letters == own.letters) sum += kSameLetters;
      if (own.is_mark != word.is_mark) sum -= kOtherKind;
      for (std::size_t unit = word.first_unit; unit < word.first_unit + word.units; ++unit) {
        sum += weights[i][unit] - means[unit];
      }
      return sum;
    };
    const Word& word = *std::ranges::max_element(sources, {}, likeness);
    if (own.is_mark && !word.is_mark) {  // no mark of the source corresponds to this mark
      words.push_back({.begin = begin, .end = end, .unit = source_units.size()});
      continue;
    }
    std::size_t unit = word.first_unit, part_begin = begin;
    // Split a copy of the source word at the same characters. Assign any other word to the unit with the most weight.
    if (word.letters != own.letters) {
      const float* weight = &weights[i][unit];
      unit += static_cast<std::size_t>(std::max_element(weight, weight + word.units) - weight);
    } else {
      for (; unit + 1 < word.first_unit + word.units; ++unit) {
        const auto [first, last, follows] = source_units[unit];
        const std::size_t part_end =
            part_begin + size_of_same(source.substr(first, last - first), text.substr(part_begin, end - part_begin));
        words.push_back({.begin = part_begin, .end = part_end, .unit = unit, .weights = weights[i]});
        part_begin = part_end;
      }
    }
    words.push_back({.begin = part_begin, .end = end, .unit = unit, .weights = std::move(weights[i])});
  }
  return words;
}

}  // namespace encdec
