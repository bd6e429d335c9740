#pragma once

#include <filesystem>
#include <span>
#include <vector>

namespace encdec {

// How good a result is, from 0 to 1, judged by the mean of its tokens' log-probabilities. A model's folder may have a
// table of what that mean is worth, confidence.json, made by tools/calibrate_confidence.py from translations that are
// known to be right:
//   {"mean_log_probability": [-3.2, -1.1, -0.1], "confidence": [0.21, 0.55, 0.93]}
// Both lists ascend, and between their points confidence is linear. Without a table it is exp(mean), the geometric mean
// of the tokens' probabilities, which is seldom calibrated.
class Confidence {
 public:
  // Without a table.
  Confidence() = default;
  // Reads the table of a folder, if it has one. Throws FileError or ConfigError, naming the file, if that is damaged.
  static Confidence read(const std::filesystem::path& folder);

  bool is_calibrated() const { return !points_.empty(); }
  // Returns the confidence in a result with these log-probabilities of its tokens. 1 if there are none.
  double of(std::span<const float> token_scores) const;

 private:
  struct Point {
    double mean;
    double confidence;
  };
  std::vector<Point> points_;
};

}  // namespace encdec
