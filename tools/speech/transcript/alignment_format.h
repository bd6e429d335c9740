#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "encdec/engine/base/named_values.h"
#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// File format of an alignment. Lines without times are only in json.
enum class AlignmentFormat : std::uint8_t {
  json,      // alignment_json()
  srt,       // lines, as in TranscriptFormat
  vtt,       // lines, as in TranscriptFormat
  tsv,       // lines, as in TranscriptFormat
  textgrid,  // Praat's TextGrid, long form: tiers "words" and "lines"
};
inline constexpr std::array kAlignmentFormats = {
    Named{AlignmentFormat::json, "json"},         Named{AlignmentFormat::srt, "srt"},
    Named{AlignmentFormat::vtt, "vtt"},           Named{AlignmentFormat::tsv, "tsv"},
    Named{AlignmentFormat::textgrid, "textgrid"},
};

// Returns the alignment of a known text, which "text" has as it was given:
// {"text", "language", "duration",
//  "words": [{"word", "start", "end", "probability"}], without the white space around them,
//  "unaligned": [{"word", "index", "segment"}], `index` among all words of the text, `segment` an id,
//  "segments": [{"id", "start", "end", "text"}], the lines; times are null for a line without aligned words}
nlohmann::ordered_json alignment_json(const Transcript& alignment);

std::string format_alignment(const Transcript& alignment, AlignmentFormat format);

}  // namespace encdec
