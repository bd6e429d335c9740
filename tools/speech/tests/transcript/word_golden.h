#pragma once

#include <nlohmann/json.hpp>

#include "encdec/speech/transcript/transcript.h"
#include "tools/speech/tests/golden_speech.h"

namespace encdec {

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
