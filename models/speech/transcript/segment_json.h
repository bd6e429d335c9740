#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "encdec/models/speech/transcript/transcript.h"

namespace encdec {

// Returns a segment with the keys of openai/whisper, with or without its words. Bytes that are not UTF-8 are replaced.
enum class SegmentWords : std::uint8_t { none, with_probabilities };
nlohmann::ordered_json segment_json(const TranscriptSegment& segment, SegmentWords words);

// Returns JSON as Python's json.dumps(value, ensure_ascii=False) writes it, except that NaN and infinity are null.
std::string python_text(const nlohmann::ordered_json& json);

}  // namespace encdec
