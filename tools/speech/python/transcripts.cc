#include "speech/python/transcripts.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "python/src/inputs.h"
#include "python/src/results.h"
#include "python/src/values.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

constexpr std::tuple kTranscriptFields = {
    Field{"text", &Transcript::text},
    Field{"language", &Transcript::language},
    Field{"language_probability", &Transcript::language_probability},
    Field{"duration", &Transcript::duration},
    Field{"is_cut", &Transcript::is_cut},
};

// These functions convert values and structs to Python objects, as described by the field tables.
nb::object object_of(const std::string& text) {
  return text_of(text);
}
nb::object object_of(const std::vector<TranscriptWord>& words);
template <class T>
nb::object object_of(const T& value) {
  return nb::cast(value);
}

template <class Owner, class Fields>
nb::dict dict_of(const Owner& owner, const Fields& fields) {
  nb::dict dict;
  for_each_field(fields, [&](const auto& field) { dict[field.name] = object_of(owner.*field.member); });
  return dict;
}

nb::object object_of(const std::vector<TranscriptWord>& words) {
  nb::list list;
  for (const TranscriptWord& word : words) list.append(dict_of(word, kWordFields));
  return list;
}

// These functions convert Python dicts back to structs. They throw if a value has the wrong type.
template <class Owner, class Fields>
Owner owner_of(nb::handle dict, const Fields& fields);

void read_field(const char* name, nb::handle value, std::size_t& result) {
  result = static_cast<std::size_t>(integer_from(value, name));
}
void read_field(const char* /*name*/, nb::handle value, std::vector<TranscriptWord>& words) {
  if (value.is_none()) return;
  for (const nb::handle word : value) words.push_back(owner_of<TranscriptWord>(word, kWordFields));
}
template <class T>
void read_field(const char* name, nb::handle value, T& result) {
  read_value(name, value, result);
}

template <class Owner, class Fields>
Owner owner_of(nb::handle dict, const Fields& fields) {
  const auto values = nb::cast<nb::dict>(dict);
  Owner owner;
  for_each_field(fields, [&](const auto& field) {
    const nb::object value = values[field.name];
    read_field(field.name, value, owner.*field.member);
  });
  return owner;
}

}  // namespace

nb::object to_python(const std::vector<TranscriptSegment>& segments) {
  nb::list list;
  for (const TranscriptSegment& segment : segments) list.append(dict_of(segment, kSegmentFields));
  return list;
}

nb::object to_python(const Transcript& transcript) {
  nb::dict fields = dict_of(transcript, kTranscriptFields);
  fields["segments"] = to_python(transcript.segments);
  return fields;
}

nb::object to_python(const LiveEvent& event) {
  using Kind = LiveEvent::Kind;
  nb::dict fields;
  fields["kind"] = name_of(kLiveEventKinds, event.kind);
  fields["utterance"] = event.utterance;
  fields["start"] = event.start;
  fields["end"] = event.end;
  fields["text"] = text_of(event.text);
  fields["tail"] = text_of(event.tail);
  fields["transcript"] = event.kind == Kind::final_text ? to_python(event.transcript) : nb::none();
  fields["error"] = event.kind == Kind::failed ? to_python(event.failure) : nb::none();
  return fields;
}

Transcript transcript_from(const nb::dict& fields) {
  auto transcript = owner_of<Transcript>(fields, kTranscriptFields);
  const nb::object segments = fields["segments"];
  for (const nb::handle segment : segments) {
    transcript.segments.push_back(owner_of<TranscriptSegment>(segment, kSegmentFields));
  }
  return transcript;
}

}  // namespace encdec::python
