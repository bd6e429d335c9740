#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace encdec {

// Words and segments have the fields of openai/whisper's JSON (timing.py, transcribe.py). Times are
// in seconds from the start of the recording. In a forced alignment (Recording::text) they are NaN
// if the word, or each word of the segment, was not found.

struct TranscriptWord {
  std::string text = {};  // with the preceding space and with punctuation
  double start = 0;
  double end = 0;
  double probability = 0;  // mean probability of the word's tokens
};

// A part of a recording with its text. Several segments may belong to one decoded window.
struct TranscriptSegment {
  std::size_t id = 0;      // number of the segment, from 0
  std::uint64_t seek = 0;  // start of the segment's window, in frames of 10 ms
  double start = 0;
  double end = 0;
  std::string text = {};                   // text as decoded, with a space before it
  std::vector<std::int32_t> tokens = {};   // text tokens and timestamps
  double temperature = 0;                  // temperature at which the window was decoded
  double avg_logprob = 0;                  // mean log-probability of the window's tokens
  double compression_ratio = 0;            // high if the window's text repeats itself
  double no_speech_prob = 0;               // probability that the window contains no speech
  std::vector<TranscriptWord> words = {};  // empty unless word times were requested
};

// A member of a struct and its name in JSON.
template <class Owner, class Value>
struct Field {
  const char* name;
  Value Owner::*member;
};
template <class Owner, class Value>
Field(const char*, Value Owner::*) -> Field<Owner, Value>;

// The fields, for JSON and Python objects, in the order of openai/whisper's JSON.
inline constexpr std::tuple kWordFields = {
    Field{"word", &TranscriptWord::text},
    Field{"start", &TranscriptWord::start},
    Field{"end", &TranscriptWord::end},
    Field{"probability", &TranscriptWord::probability},
};
inline constexpr std::tuple kSegmentFields = {
    Field{"id", &TranscriptSegment::id},
    Field{"seek", &TranscriptSegment::seek},
    Field{"start", &TranscriptSegment::start},
    Field{"end", &TranscriptSegment::end},
    Field{"text", &TranscriptSegment::text},
    Field{"tokens", &TranscriptSegment::tokens},
    Field{"temperature", &TranscriptSegment::temperature},
    Field{"avg_logprob", &TranscriptSegment::avg_logprob},
    Field{"compression_ratio", &TranscriptSegment::compression_ratio},
    Field{"no_speech_prob", &TranscriptSegment::no_speech_prob},
    Field{"words", &TranscriptSegment::words},
};

template <class Fields, class Visit>
void for_each_field(const Fields& fields, const Visit& visit) {
  std::apply([&visit](const auto&... field) { (visit(field), ...); }, fields);
}

inline constexpr const char* kCutRecording =
    "the recording ends before its stated length; only the part before its end was used";

struct Transcript {
  std::string text = {};            // text of all segments
  std::string language = {};        // code of the language, such as "en"
  double language_probability = 1;  // 1 if the language was given
  double duration = 0;              // in seconds
  bool is_cut = false;              // whether the recording is truncated; see kCutRecording
  std::vector<TranscriptSegment> segments = {};
};

}  // namespace encdec
