#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encdec/models/speech/transcript/transcript.h"
#include "tests/support/golden_speech.h"

namespace encdec {

// Reads a segment by the keys of openai/whisper. Keys other than start and end may be missing.
inline TranscriptSegment segment_from(const nlohmann::json& json) {
  TranscriptSegment segment{
      .id = json.value("id", std::size_t{0}),
      .seek = json.value("seek", std::uint64_t{0}),
      .start = json.at("start"),
      .end = json.at("end"),
      .text = json.value("text", ""),
      .tokens = json.value("tokens", std::vector<std::int32_t>{}),
      .temperature = json.value("temperature", 0.0),
      .avg_logprob = json.value("avg_logprob", 0.0),
      .compression_ratio = json.value("compression_ratio", 0.0),
      .no_speech_prob = json.value("no_speech_prob", 0.0),
  };
  for (const auto& word : json.value("words", nlohmann::json::array())) {
    segment.words.push_back({word.at("word"), word.at("start"), word.at("end"), word.at("probability")});
  }
  return segment;
}

}  // namespace encdec
