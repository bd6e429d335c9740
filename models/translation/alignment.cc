#include "encdec/models/translation/alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/text/language.h"

namespace encdec {
namespace {

std::size_t common_prefix(const TokenIds& a, const TokenIds& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

float size(const TextUnit& unit) {
  return static_cast<float>(unit.end - unit.begin);
}

// A word of a source, and the units into which it is divided.
struct SourceWord {
  std::size_t first_unit = 0, end_unit = 0;
  std::string letters = {};  // without differences of case
};

std::vector<SourceWord> words_in(std::string_view source, std::span<const TextUnit> units) {
  std::vector<SourceWord> words;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (!units[i].goes_on) words.push_back({.first_unit = i});
    words.back().end_unit = i + 1;
    words.back().letters += without_case(source.substr(units[i].begin, units[i].end - units[i].begin));
  }
  return words;
}

// Returns the bytes of the first `count` characters of a text.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  while (bytes < text.size() && (count > 0 || is_continuation(text[bytes]))) {
    if (!is_continuation(text[bytes++])) --count;
  }
  return bytes;
}

}  // namespace

SourceUnits::SourceUnits(const Tokenizer& tokenizer, const std::string& text, const GenerateOptions& options,
                         std::span<const std::size_t> cuts)
    : units_(encdec::units_of(text, cuts)) {
  const EncodeOptions languages{.source_language = options.source_lang, .target_language = options.target_lang};
  const TokenIds ids = tokenizer.encode(text, languages), specials = tokenizer.encode("", languages);
  specials_before_ = common_prefix(specials, ids);
  bytes_.resize(ids.size() - std::min(ids.size(), specials.size()));
  for (const TextUnit& unit : units_) {
    poll_cancelled();
    // A unit begins in the first token that differs from those of the text before it.
    const TokenIds before = tokenizer.encode(std::string_view(text).substr(0, unit.begin), languages);
    const std::size_t same = common_prefix(before, ids);
    const std::size_t begin = std::min(same - std::min(same, specials_before_), bytes_.size());
    if (!tokens_.empty()) tokens_.back().second = std::max(tokens_.back().second, begin);
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

AttentionSelection alignment_selection(const Model& model) {
  using Of = AttentionChoice::Of;
  const auto& head = model.config().alignment_head;
  return {.kinds = {main_kind(model.config())},
          .layers = {.of = Of::one, .number = -1},
          .heads = head ? AttentionChoice{.of = Of::one, .number = *head} : AttentionChoice{.of = Of::mean}};
}

Alignment align(const Model& model, const SourceUnits& source, const Hypothesis& hypothesis) {
  Alignment alignment;
  if (hypothesis.attention.maps.empty() || hypothesis.token_ids.empty()) return alignment;
  const Tensor& weights = hypothesis.attention.maps.front().weights;  // [1, 1, rows, keys]
  const std::size_t tokens = hypothesis.token_ids.size();
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
    // A token may end within a character, which is then decoded as another one.
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

std::vector<AlignedWord> words_of(const Alignment& alignment, const std::string& text, bool is_spaceless) {
  const std::vector<std::size_t>& ends = alignment.ends;
  const std::size_t tokens = ends.size();
  std::vector<AlignedWord> words;
  if (alignment.units == 0) return words;
  std::size_t token = 0;
  for (std::size_t begin = text.find_first_not_of(' '); begin < text.size();) {
    std::size_t end = std::min(text.find(' ', begin), text.size());
    while (token < tokens && ends[token] <= begin) ++token;
    if (is_spaceless && token < tokens) end = std::min(end, ends[token]);
    while (end < text.size() && is_continuation(text[end])) ++end;
    const std::vector<float> sums = weights_of(alignment, begin, end);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin());
    words.push_back({.begin = begin, .end = end, .unit = best});
    begin = std::min(text.find_first_not_of(' ', end), text.size());
  }
  return words;
}

std::vector<AlignedWord> align_units(const Alignment& alignment, std::string_view text, std::string_view source,
                                     std::span<const TextUnit> source_units) {
  constexpr float kSameLetters = 0.3F, kSamePlace = 0.1F, kDistance = 10;
  const std::vector<SourceWord> sources = words_in(source, source_units);
  const std::vector<TextUnit> units = units_of(text);
  std::vector<AlignedWord> words;
  for (std::size_t i = 0; i < units.size() && !sources.empty(); ++i) {
    poll_cancelled();
    const auto [begin, end, goes_on] = units[i];
    const std::string letters = without_case(text.substr(begin, end - begin));
    std::vector<float> weights(source_units.size());
    if (alignment.units == weights.size()) weights = weights_of(alignment, begin, end);
    const float place = static_cast<float>(i * sources.size()) / static_cast<float>(units.size());
    float most = -1;
    std::size_t best = 0;
    for (std::size_t j = 0; j < sources.size(); ++j) {
      const SourceWord& word = sources[j];
      float sum = kSamePlace * std::max(0.0F, 1 - std::abs(static_cast<float>(j) - place) / kDistance);
      if (word.letters == letters) sum += kSameLetters;
      for (std::size_t unit = word.first_unit; unit < word.end_unit; ++unit) sum += weights[unit];
      if (sum > most) most = sum, best = j;
    }
    const SourceWord& word = sources[best];
    const auto first = weights.begin() + static_cast<std::ptrdiff_t>(word.first_unit);
    const auto last = weights.begin() + static_cast<std::ptrdiff_t>(word.end_unit);
    if (word.letters != letters) {
      const auto unit = static_cast<std::size_t>(std::max_element(first, last) - weights.begin());
      words.push_back({.begin = begin, .end = end, .unit = unit, .weights = std::move(weights)});
      continue;
    }
    std::size_t place_in_copy = begin;
    for (std::size_t unit = word.first_unit; unit < word.end_unit; ++unit) {
      const TextUnit& part = source_units[unit];
      const auto characters = code_points(source.substr(part.begin, part.end - part.begin)).size();
      const std::size_t part_end =
          unit + 1 < word.end_unit
              ? place_in_copy + bytes_of(text.substr(place_in_copy, end - place_in_copy), characters)
              : end;
      if (part_end == place_in_copy) continue;
      words.push_back({.begin = place_in_copy, .end = part_end, .unit = unit, .weights = weights});
      place_in_copy = part_end;
    }
  }
  return words;
}

}  // namespace encdec
