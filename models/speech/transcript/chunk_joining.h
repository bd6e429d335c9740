#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace encdec {

// What was heard in one of the chunks that a recording is cut into, each of which has a part in common with the next.
struct HeardChunk {
  std::vector<std::int32_t> tokens = {};  // text and times, perhaps of several windows
  double seconds = 0;                     // how long it is
  double left = 0, right = 0;             // of these, what it shares with the chunks before and behind
};

// Text between two times of the recording, in seconds.
struct JoinedText {
  std::optional<double> start = {}, end = {};  // where the model has told them
  std::vector<std::int32_t> tokens = {};       // of text alone
  std::size_t chunk = 0;                       // in which it ends
};

// The ids that joining goes by.
struct JoiningIds {
  std::int32_t end_of_text = 0;      // ids below are text
  std::int32_t first_timestamp = 0;  // 0.00 s; the others follow in steps of 0.02 s
  double window = 30;                // seconds
};

// Joins sequences of which each has an end in common with the beginning of the next, as transformers does
// (tokenization_whisper.py, _find_longest_common_sequence): where they lie over each other such that most of what does
// is equal, two or more, the middle of that is where one gives way to the other; else the second follows the first.
std::vector<std::int32_t> join_sequences(std::span<const std::vector<std::int32_t>> sequences);

// Joins the chunks of a recording, in order, as transformers' pipeline does (tokenization_whisper.py, _decode_asr):
// times within a shared part do not cut, so that the text around it is joined as one.
std::vector<JoinedText> join_chunks(std::span<const HeardChunk> chunks, const JoiningIds& ids);

}  // namespace encdec
