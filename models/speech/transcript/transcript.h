#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encdec {

// A word of a segment, with what openai/whisper has of it (timing.py).
struct TranscriptWord {
  std::string text = {};   // with the space before it, and the punctuation that belongs to it
  double start = 0;        // seconds of the recording
  double end = 0;          // likewise
  double probability = 0;  // mean of its tokens'
};

// A stretch of a recording and its text. Keys and values are those of openai/whisper's JSON (transcribe.py).
struct TranscriptSegment {
  std::size_t id = 0;                      // from 0
  std::uint64_t seek = 0;                  // where the window that it is of begins, in frames of 10 ms
  double start = 0;                        // seconds of the recording
  double end = 0;                          // likewise
  std::string text = {};                   // as it was decoded: with a space before it
  std::vector<std::int32_t> tokens = {};   // of the text, with those that stand for times
  double temperature = 0;                  // at which the window was decoded
  double avg_logprob = 0;                  // mean log-probability of the window's tokens
  double compression_ratio = 0;            // of the window's text: high where it repeats itself
  double no_speech_prob = 0;               // that the window has no speech
  std::vector<TranscriptWord> words = {};  // where they were asked for
};

// What was said in a recording.
struct Transcript {
  std::string text = {};                         // of all segments
  std::string language = {};                     // its code, "en"
  double language_probability = 1;               // 1 where it was told
  double duration = 0;                           // seconds
  std::vector<TranscriptSegment> segments = {};  // in order
};

}  // namespace encdec
