#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encdec/speech/transcript/transcript.h"

namespace encdec {

inline const std::filesystem::path kGoldenSpeech = ENCDEC_TOOLS_DIR "/speech/tests/golden";

// Reads a file of golden/, made by make_speech.py: a list of cases.
inline nlohmann::json golden_speech(const std::string& name) {
  std::ifstream file(kGoldenSpeech / (name + ".json"));
  return nlohmann::json::parse(file);
}

// Returns `count` pseudo-random numbers in [-1, 1), equal to the numbers of golden/cases/noise.py. The generator is
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

template <class Fields, class Owner>
void read_fields(const nlohmann::json& json, const Fields& fields, Owner& owner) {
  for_each_field(fields, [&](const auto& field) {
    if (json.contains(field.name)) json.at(field.name).get_to(owner.*field.member);
  });
}

inline void from_json(const nlohmann::json& json, TranscriptWord& word) {
  read_fields(json, kWordFields, word);
}

// Reads a segment by the keys of openai/whisper. Keys may be missing.
inline TranscriptSegment segment_from(const nlohmann::json& json) {
  TranscriptSegment segment;
  read_fields(json, kSegmentFields, segment);
  return segment;
}

}  // namespace encdec
