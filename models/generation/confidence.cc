#include "encdec/models/generation/confidence.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {

Confidence Confidence::read(const std::filesystem::path& folder) {
  Confidence confidence;
  const std::filesystem::path path = folder / "confidence.json";
  if (!file_exists(path)) return confidence;
  const JsonObject file = read_json_object(path);
  const auto list = [&](const char* key, double min, double max) {
    const auto found = file.value().find(key);
    std::vector<double> numbers;
    if (found != file.value().end() && found->is_array()) {
      for (const auto& number : *found) numbers.push_back(number.is_number() ? number.get<double>() : NAN);
    }
    const auto is_bad = [&](double number) { return !(number >= min && number <= max); };
    if (numbers.empty() || std::ranges::any_of(numbers, is_bad) || !std::ranges::is_sorted(numbers)) {
      refuse<ConfigError>(file.file(), "'{}' is not a list of ascending numbers from {} to {}", key, min, max);
    }
    return numbers;
  };
  constexpr double kLowest = -1000;
  const std::vector<double> means = list("mean_log_probability", kLowest, 0), values = list("confidence", 0, 1);
  if (means.size() != values.size()) {
    refuse<ConfigError>(file.file(), "{} numbers in 'mean_log_probability' but {} in 'confidence', expected as many",
                        means.size(), values.size());
  }
  for (std::size_t i = 0; i < means.size(); ++i) confidence.points_.push_back({means[i], values[i]});
  return confidence;
}

double Confidence::of(std::span<const float> token_scores) const {
  if (token_scores.empty()) return 1.0;
  const double mean =
      std::accumulate(token_scores.begin(), token_scores.end(), 0.0) / static_cast<double>(token_scores.size());
  if (points_.empty()) return std::exp(mean);
  const auto above = std::ranges::lower_bound(points_, mean, {}, &Point::mean);
  if (above == points_.begin()) return points_.front().confidence;
  if (above == points_.end()) return points_.back().confidence;
  const Point &low = *std::prev(above), &high = *above;
  return std::lerp(low.confidence, high.confidence, (mean - low.mean) / (high.mean - low.mean));
}

}  // namespace encdec
