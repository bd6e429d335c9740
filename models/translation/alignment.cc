#include "encdec/models/translation/alignment.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

std::size_t common_prefix(const TokenIds& a, const TokenIds& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

SourceUnits::SourceUnits(const Tokenizer& tokenizer, std::string text, const GenerateOptions& options)
    : tokenizer_(tokenizer),
      languages_{.source_language = options.source_lang, .target_language = options.target_lang},
      text_(std::move(text)),
      ids_(tokenizer.encode(text_, languages_)) {
  const TokenIds specials = tokenizer.encode("", languages_);
  begin_ = common_prefix(specials, ids_);
  end_ = std::max(begin_, ids_.size() - std::min(ids_.size(), specials.size() - begin_));
}

std::size_t SourceUnits::at(std::size_t place) const {
  if (place >= text_.size()) return count();
  while (place > 0 && is_continuation(text_[place])) --place;  // malformed HTML may have a tag within a character
  const TokenIds before = tokenizer_.encode(std::string_view(text_).substr(0, place), languages_);
  return std::clamp(common_prefix(before, ids_), begin_, end_) - begin_;
}

std::vector<std::size_t> SourceUnits::of_bytes() const {
  std::vector<std::size_t> units(text_.size());
  // Fills the bytes from `first` to `last`, whose units are known. Units of a text ascend, so equal units at both ends
  // are the units of all bytes between them.
  const std::function<void(std::size_t, std::size_t)> fill = [&](std::size_t first, std::size_t last) {
    if (units[first] == units[last]) {
      std::fill(units.begin() + static_cast<std::ptrdiff_t>(first), units.begin() + static_cast<std::ptrdiff_t>(last),
                units[first]);
    } else if (last - first > 1) {
      const std::size_t middle = first + (last - first) / 2;
      units[middle] = std::clamp(at(middle), units[first], units[last]);
      fill(first, middle);
      fill(middle, last);
    }
  };
  if (units.empty() || count() == 0) return units;
  units.front() = std::min(at(0), count() - 1);
  units.back() = std::clamp(at(units.size() - 1), units.front(), count() - 1);
  fill(0, units.size() - 1);
  return units;
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
  alignment.units = std::min(source.count(), keys - first_key);
  std::size_t last = 0;
  for (std::size_t i = 0; i < tokens; ++i) {
    const float* row = weights.row(static_cast<Dim>(first_row + i)) + first_key;
    alignment.weights.insert(alignment.weights.end(), row, row + alignment.units);
    const std::size_t size = decode_known(*model.tokenizer(), std::span(hypothesis.token_ids).first(i + 1)).size();
    last = i + 1 == tokens ? hypothesis.text.size() : std::clamp(size, last, hypothesis.text.size());
    alignment.ends.push_back(last);
  }
  return alignment;
}

Alignment compose(const Alignment& first, std::size_t begin, const SourceUnits& middle, const Alignment& second) {
  // [units of the middle, units of the source]
  std::vector<float> through(second.units * first.units);
  std::vector<float> bytes(second.units);
  const std::vector<std::size_t> units = middle.of_bytes();
  for (std::size_t place = 0; place < units.size(); ++place) {
    const auto token =
        static_cast<std::size_t>(std::ranges::upper_bound(first.ends, begin + place) - first.ends.begin());
    if (token >= first.ends.size() || units[place] >= second.units) continue;
    ++bytes[units[place]];
    const std::span<const float> row = first.row(token);
    for (std::size_t i = 0; i < first.units; ++i) through[units[place] * first.units + i] += row[i];
  }
  Alignment composed{.ends = second.ends, .units = first.units};
  composed.weights.resize(second.ends.size() * first.units);
  for (std::size_t token = 0; token < second.ends.size(); ++token) {
    std::size_t last = 0;  // the last unit with bytes: a mark of a word's beginning has those of the unit behind it
    for (std::size_t unit = 0; unit < second.units; ++unit) {
      if (bytes[unit] > 0) last = unit;
      if (bytes[last] == 0) continue;
      const float weight = second.row(token)[unit] / bytes[last];
      for (std::size_t i = 0; i < first.units; ++i) {
        composed.weights[token * first.units + i] += weight * through[last * first.units + i];
      }
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

}  // namespace encdec
