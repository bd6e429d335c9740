#include "encdec/speech/transcript/word_alignment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/tokenizer/base/utf8.h"

namespace encdec {
namespace {

// Constants of openai/whisper (tokenizer.py, split_to_word_tokens).
constexpr char32_t kReplacement = U'\uFFFD';
constexpr std::array<std::string_view, 6> kLanguagesWithoutSpaces = {"zh", "ja", "th", "lo", "my", "yue"};
constexpr std::string_view kAsciiPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::u32string characters_of(std::string_view bytes) {
  const std::string valid = replace_invalid_utf8(bytes);
  std::u32string characters;
  for (const CodePoint& point : code_points(valid)) characters += point.value;
  return characters;
}

// Splits tokens into groups of whole characters. A group is complete if its decoded text has no U+FFFD,
// or if the whole text has U+FFFD at the same offset.
std::vector<WordTokens> split_on_characters(std::span<const std::int32_t> tokens, const DecodeTokens& decode) {
  const std::u32string all = characters_of(decode(tokens));
  std::vector<WordTokens> parts;
  std::size_t first = 0;   // index of the first token in the group
  std::size_t offset = 0;  // index in `all` of the first character in the group
  for (std::size_t end = 1; end <= tokens.size(); ++end) {
    const auto part = tokens.subspan(first, end - first);
    const std::string bytes = decode(part);
    const std::u32string decoded = characters_of(bytes);
    const std::size_t broken = decoded.find(kReplacement);
    if (broken != decoded.npos && (offset + broken >= all.size() || all[offset + broken] != kReplacement)) continue;
    parts.push_back({replace_invalid_utf8(bytes), {part.begin(), part.end()}});
    offset += decoded.size();
    first = end;
  }
  return parts;
}

bool begins_word(const WordTokens& part, std::int32_t end_of_text) {
  return part.tokens.front() >= end_of_text || part.text.starts_with(' ') ||
         kAsciiPunctuation.find(strip(part.text)) != kAsciiPunctuation.npos;
}

constexpr std::size_t kMedianReach = 3;     // number of neighbours on each side, for a median of 7
constexpr double kPositionsPerSecond = 50;  // number of encoder positions per second

// Copies the weights of one head to `weights` [tokens, frames]. Scales the sum of each row to 1.
void take_weights(const AlignmentAttention& attention, std::size_t head, std::vector<float>& weights) {
  for (std::size_t token = 0; token < attention.tokens(); ++token) {
    const std::span<const float> from(attention.row(head, token), attention.frames);
    float* to = weights.data() + token * attention.frames;
    double sum = 0;
    for (const float weight : from) sum += weight;
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(sum > 0 ? from[i] / sum : 1.0 / static_cast<double>(from.size()));
    }
  }
}

// Replaces each weight w by (w - mean) / deviation, where mean and deviation are computed over all tokens at the
// position. If all weights at a position are equal, the result is NaN.
void standardize(std::size_t tokens, std::vector<float>& weights) {
  const std::size_t frames = weights.size() / tokens;
  std::vector<double> mean(frames), variance(frames);
  const auto each = [&](const auto& add) {
    for (std::size_t token = 0; token < tokens; ++token) {
      for (std::size_t i = 0; i < frames; ++i) add(weights[token * frames + i], i);
    }
  };
  const auto count = static_cast<double>(tokens);
  each([&](float weight, std::size_t i) { mean[i] += weight; });
  for (double& value : mean) value /= count;
  each([&](float weight, std::size_t i) { variance[i] += (weight - mean[i]) * (weight - mean[i]); });
  std::vector<float> center(frames), deviation(frames);
  for (std::size_t i = 0; i < frames; ++i) {
    center[i] = static_cast<float>(mean[i]);
    deviation[i] = static_cast<float>(std::sqrt(variance[i] / count));
  }
  each([&](float& weight, std::size_t i) { weight = (weight - center[i]) / deviation[i]; });
}

// Sorts two numbers in ascending order.
void exchange(float& low, float& high) {
  const float smaller = high < low ? high : low;
  high = high < low ? low : high;
  low = smaller;
}

// Returns the median, with a sorting network. Exchanges that do not affect the median are left out.
float median_of_7(float a, float b, float c, float d, float e, float f, float g) {
  exchange(a, f), exchange(a, d), exchange(b, g), exchange(c, e), exchange(a, b), exchange(d, f), exchange(c, g);
  exchange(c, d), exchange(d, g), exchange(e, f), exchange(b, e), exchange(b, d), exchange(d, e);
  return d;
}

// Adds to `sums` the median around each element of `row`. Treats NaN as the largest number. `padded` is scratch.
void add_medians(std::span<const float> row, std::vector<float>& padded, std::span<float> sums) {
  const std::size_t size = row.size();
  if (size <= kMedianReach) {
    for (std::size_t i = 0; i < size; ++i) sums[i] += row[i];
    return;
  }
  // Replace NaN by infinity, because NaN cannot be sorted. Mirror the row at both ends.
  constexpr float kLargest = std::numeric_limits<float>::infinity();
  padded.resize(size + 2 * kMedianReach);
  float* middle = padded.data() + kMedianReach;
  for (std::size_t i = 0; i < size; ++i) middle[i] = std::isnan(row[i]) ? kLargest : row[i];
  for (std::size_t i = 1; i <= kMedianReach; ++i) {
    padded[kMedianReach - i] = middle[i];
    middle[size - 1 + i] = middle[size - 1 - i];
  }
  const float* from = padded.data();
  for (std::size_t i = 0; i < size; ++i) {
    const float median =
        median_of_7(from[i], from[i + 1], from[i + 2], from[i + 3], from[i + 4], from[i + 5], from[i + 6]);
    sums[i] += median == kLargest ? std::numeric_limits<float>::quiet_NaN() : median;
  }
}

enum class Step : std::uint8_t { both, next_row, next_column };

// Returns the last step of the best path to each cell: [rows + 1, columns + 1]. Row 0 and column 0
// come before the cells of `benefit`. The cost of a path is the negative sum of its benefits.
std::vector<Step> best_steps(std::span<const float> benefit, std::size_t rows, std::size_t columns) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<Step> steps((rows + 1) * (columns + 1), Step::next_column);
  std::vector<double> before(columns + 1, kNever),
      costs(columns + 1);  // costs of the previous row and of the current row
  before[0] = 0;
  for (std::size_t row = 1; row <= rows; ++row) {
    check_cancelled();
    Step* row_steps = steps.data() + row * (columns + 1);
    const float* values = benefit.data() + (row - 1) * columns;
    row_steps[0] = Step::next_row;
    costs[0] = kNever;
    for (std::size_t column = 1; column <= columns; ++column) {
      const double diagonal = before[column - 1], above = before[column], left = costs[column - 1];
      const Step step = diagonal < above && diagonal < left ? Step::both
                        : above < diagonal && above < left  ? Step::next_row
                                                            : Step::next_column;
      const double cost = step == Step::both ? diagonal : step == Step::next_row ? above : left;
      costs[column] = cost - double{values[column - 1]};
      row_steps[column] = step;
    }
    before.swap(costs);
  }
  return steps;
}

}  // namespace

bool is_written_with_spaces(std::string_view language) {
  return std::ranges::find(kLanguagesWithoutSpaces, language) == kLanguagesWithoutSpaces.end();
}

std::vector<WordTokens> split_to_word_tokens(std::span<const std::int32_t> tokens, std::string_view language,
                                             std::int32_t end_of_text, const DecodeTokens& decode) {
  std::vector<WordTokens> parts = split_on_characters(tokens, decode);
  if (!is_written_with_spaces(language)) return parts;
  std::vector<WordTokens> words;
  for (WordTokens& part : parts) {
    if (words.empty() || begins_word(part, end_of_text)) {
      words.push_back(std::move(part));
    } else {
      words.back().text += part.text;
      words.back().tokens.insert(words.back().tokens.end(), part.tokens.begin(), part.tokens.end());
    }
  }
  return words;
}

std::vector<float> alignment_matrix(const AlignmentAttention& attention) {
  const std::size_t frames = attention.frames, rows = attention.rows();
  std::vector<float> matrix(rows * frames), weights(attention.tokens() * frames), padded;
  for (std::size_t head = 0; head < attention.heads(); ++head) {
    check_cancelled();
    take_weights(attention, head, weights);
    standardize(attention.tokens(), weights);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t token = attention.sot_sequence + row;
      add_medians(std::span(weights).subspan(token * frames, frames), padded,
                  std::span(matrix).subspan(row * frames, frames));
    }
  }
  const auto heads = static_cast<float>(attention.heads());
  for (float& value : matrix) value /= heads;
  return matrix;
}

std::vector<std::ptrdiff_t> first_columns(std::span<const float> benefit, std::size_t rows) {
  const std::size_t columns = benefit.size() / rows;
  const std::vector<Step> steps = best_steps(benefit, rows, columns);
  // Follow the best path back from the last cell.
  std::vector<std::ptrdiff_t> first(rows);
  for (std::size_t row = rows, column = columns; row > 0;) {
    first[row - 1] = static_cast<std::ptrdiff_t>(column) - 1;  // a smaller column of the same row overwrites this value
    const Step step = steps[row * (columns + 1) + column];
    if (step != Step::next_column) --row;
    if (step != Step::next_row) --column;
  }
  return first;
}

std::vector<WordTiming> find_alignment(const AlignmentAttention& attention, std::span<const float> probabilities,
                                       std::span<const WordTokens> words) {
  std::vector<WordTiming> timings;
  if (probabilities.empty() || words.size() <= 1) return timings;
  // Row i of the matrix belongs to the token that predicts text token i. So times[i] is the start of text token i.
  std::vector<double> times;
  for (const std::ptrdiff_t column : first_columns(alignment_matrix(attention), attention.rows())) {
    times.push_back(static_cast<double>(column) / kPositionsPerSecond);
  }
  std::size_t begin = 0;
  for (const WordTokens& word : words.first(words.size() - 1)) {
    const std::size_t end = begin + word.tokens.size();
    double sum = 0;
    for (const float probability : probabilities.subspan(begin, word.tokens.size())) sum += probability;
    timings.push_back({word.text, word.tokens, times.at(begin), times.at(end), sum / static_cast<double>(end - begin)});
    begin = end;
  }
  return timings;
}

}  // namespace encdec
