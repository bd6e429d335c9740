#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace encdec {

// The tokens of one chunk of a recording. Neighbouring chunks overlap.
struct TranscribedChunk {
  std::vector<std::int32_t> tokens = {};  // text and timestamps of one or more windows
  double seconds = 0;                     // length of the chunk
  double left = 0, right = 0;  // seconds at its start and end that only give context; the overlap is twice that
};

// Text between two timestamps, in seconds of the recording.
struct JoinedText {
  std::optional<double> start = {}, end = {};  // unset if the model generated no timestamp
  std::vector<std::int32_t> tokens = {};       // text tokens only
  std::size_t chunk = 0;                       // number of the chunk in which the text ends
};

// Token ids and the window length of the model.
struct JoiningIds {
  std::int32_t end_of_text = 0;      // smaller ids are text
  std::int32_t first_timestamp = 0;  // 0.00 s; each later id is 0.02 s later
  double window = 30;                // seconds
};

// Joins sequences, each of which overlaps the next one, as transformers (tokenization_whisper.py,
// _find_longest_common_sequence). For two neighbours it tries all overlaps and takes the one with the largest share of
// equal tokens. The left sequence is used up to the middle of the overlap, the right one from there. Without an overlap
// of at least two equal tokens the right sequence follows the left one.
// Example: [1 2 3 4 5] and [3 4 5 6] -> [1 2 3 4 5 6], from 1 2 3 of the left and 4 5 6 of the right.
std::vector<std::int32_t> join_sequences(std::span<const std::vector<std::int32_t>> sequences);

// Joins the chunks of a recording, in order, as transformers' pipeline (tokenization_whisper.py, _decode_asr). A
// timestamp in the `left` or `right` part of a chunk is ignored, so that the text around it is joined as one.
std::vector<JoinedText> join_chunks(std::span<const TranscribedChunk> chunks, const JoiningIds& ids);

}  // namespace encdec
