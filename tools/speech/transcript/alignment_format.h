#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "encdec/engine/base/named_values.h"
#include "encdec/speech/transcript/transcript.h"

namespace encdec {

// File format of an alignment. Only json includes lines without times.
enum class AlignmentFormat : std::uint8_t {
  json,      // alignment_json()
  srt,       // lines only, as in TranscriptFormat
  vtt,       // lines only, as in TranscriptFormat
  tsv,       // lines only, as in TranscriptFormat
  textgrid,  // Praat's long TextGrid format, with tiers "words" and "lines"
};
inline constexpr std::array kAlignmentFormats = {
    Named{AlignmentFormat::json, "json"},         Named{AlignmentFormat::srt, "srt"},
    Named{AlignmentFormat::vtt, "vtt"},           Named{AlignmentFormat::tsv, "tsv"},
    Named{AlignmentFormat::textgrid, "textgrid"},
};

// Returns {"text", "language", "duration",
//  "words": [{"word", "start", "end", "probability"}],
//  "unaligned": [{"word", "index", "segment"}],
//  "segments": [{"id", "start", "end", "text"}]}.
// "text" is the given text. "word" has no white space around it. "index" counts all words. The segments are
// the lines of the text. The times of a line without aligned words are null.
nlohmann::ordered_json alignment_json(const Transcript& alignment);

std::string format_alignment(const Transcript& alignment, AlignmentFormat format);

}  // namespace encdec
