#include "transcripts.h"

#include <nanobind/stl/vector.h>

#include <utility>

#include "inputs.h"
#include "values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// Reads the parts of a tuple in their order.
class Parts {
 public:
  explicit Parts(nb::handle tuple) : tuple_(nb::borrow(tuple)) {}

  nb::object next() { return nb::object(tuple_[next_++]); }
  template <class T>
  void read(std::string_view name, T& value) {
    read_value(name, next(), value);
  }

 private:
  nb::object tuple_;
  std::size_t next_ = 0;
};

TranscriptWord word_from(nb::handle tuple) {
  Parts parts(tuple);
  TranscriptWord word;
  parts.read("word", word.text);
  parts.read("start", word.start);
  parts.read("end", word.end);
  parts.read("probability", word.probability);
  return word;
}

TranscriptSegment segment_from(nb::handle tuple) {
  Parts parts(tuple);
  TranscriptSegment segment;
  segment.id = static_cast<std::size_t>(integer_from(parts.next(), "id"));
  parts.read("seek", segment.seek);
  parts.read("start", segment.start);
  parts.read("end", segment.end);
  parts.read("text", segment.text);
  parts.read("tokens", segment.tokens);
  parts.read("temperature", segment.temperature);
  parts.read("avg_logprob", segment.avg_logprob);
  parts.read("compression_ratio", segment.compression_ratio);
  parts.read("no_speech_prob", segment.no_speech_prob);
  if (const nb::object words = parts.next(); !words.is_none()) {
    for (const nb::handle word : words) segment.words.push_back(word_from(word));
  }
  return segment;
}

}  // namespace

nb::object to_python(const TranscriptSegment& segment, Words words) {
  nb::object list = nb::none();
  if (words == Words::yes) {
    list = nb::list();
    for (const TranscriptWord& word : segment.words) {
      list.attr("append")(nb::make_tuple(text_of(word.text), word.start, word.end, word.probability));
    }
  }
  return nb::make_tuple(segment.id, segment.seek, segment.start, segment.end, text_of(segment.text), segment.tokens,
                        segment.temperature, segment.avg_logprob, segment.compression_ratio, segment.no_speech_prob,
                        list);
}

nb::object to_python(const Transcript& transcript, Words words) {
  nb::list segments;
  for (const TranscriptSegment& segment : transcript.segments) segments.append(to_python(segment, words));
  return nb::make_tuple(text_of(transcript.text), text_of(transcript.language), transcript.language_probability,
                        transcript.duration, segments);
}

Transcript transcript_from(nb::handle tuple) {
  Parts parts(tuple);
  Transcript transcript;
  parts.read("text", transcript.text);
  parts.read("language", transcript.language);
  parts.read("language_probability", transcript.language_probability);
  parts.read("duration", transcript.duration);
  for (const nb::handle segment : parts.next()) transcript.segments.push_back(segment_from(segment));
  return transcript;
}

}  // namespace encdec::python
