#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace encdec {

// Reads a file of tests/golden/speech, made by make_speech.py: a list of cases.
inline nlohmann::json golden_speech(const std::string& name) {
  std::ifstream file(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "speech" / (name + ".json"));
  return nlohmann::json::parse(file);
}

// Returns `count` pseudo-random numbers in [-1, 1), the same as those of maker/speech/noise.py. The generator is
// splitmix64 (Steele et al. 2014).
inline std::vector<float> golden_noise(std::uint64_t seed, std::size_t count) {
  std::vector<float> values;
  for (std::uint64_t i = 1; i <= count; ++i) {
    std::uint64_t x = (i + (seed << 32)) * 0x9E3779B97F4A7C15;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    x ^= x >> 31;
    constexpr float kHalf = 1 << 23;
    values.push_back((static_cast<float>(x >> 40) - kHalf) / kHalf);
  }
  return values;
}

}  // namespace encdec
