#include <fmt/ranges.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "encdec/speech/speech_model.h"
#include "encdec/speech/transcript/alignment_format.h"
#include "encdec/speech/transcript/transcript_format.h"
#include "python/src/bindings.h"
#include "python/src/compute.h"
#include "python/src/inputs.h"
#include "python/src/options.h"
#include "python/src/results.h"
#include "python/src/values.h"
#include "speech/python/recordings.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

template <class Format>
Format format_named(const auto& table, const nb::object& given) {
  std::string name;
  read_value("format", given, name);
  if (const auto format = value_named<Format>(table, name)) return *format;
  throw ConfigError(fmt::format("format is '{}', expected one of {}", name, fmt::join(names_of(table), ", ")));
}

nb::object format_transcript(nb::dict fields, nb::object name, nb::dict lines) {
  const auto format = format_named<TranscriptFormat>(kTranscriptFormats, name);
  return text_of(encdec::format(transcript_from(fields), format, transcript_line_options(lines)));
}

nb::object format_lines(nb::dict fields, nb::object name) {
  return text_of(format_alignment(transcript_from(fields), format_named<AlignmentFormat>(kAlignmentFormats, name)));
}

}  // namespace

void bind_transcribe(nb::module_& module) {
  nb::class_<Sound>(module, "Sound")
      .def_ro("size", &Sound::bytes)
      .def("set_draft", [](Sound& sound, std::string draft) { sound.recording.draft = std::move(draft); })
      .def("set_text", [](Sound& sound, std::string text) { sound.recording.text = std::move(text); })
      .def("open", [](const Sound& sound) { compute([&] { return sound.recording.open() != nullptr; }); })
      .def_static(
          "of_file", [](nb::bytes path) { return sound_of_file(plain(path)); }, nb::arg("path"))
      .def_static(
          "of_bytes", [](nb::object bytes, nb::bytes name) { return sound_of_bytes(bytes, plain(name)); },
          nb::arg("bytes"), nb::arg("name"))
      .def_static(
          "of_samples",
          [](nb::object samples, nb::bytes name, nb::object sampling_rate, bool is_int16) {
            return sound_of_samples(samples, plain(name), sampling_rate, is_int16);
          },
          nb::arg("samples"), nb::arg("name"), nb::arg("sampling_rate"), nb::arg("is_int16"));
  nb::class_<SpeechModel>(module, "SpeechModel").def(nb::init<Model>(), nb::arg("model"));
  module.def("format_transcript", &format_transcript, nb::arg("fields"), nb::arg("format").none(), nb::arg("lines"));
  module.def("format_alignment", &format_lines, nb::arg("fields"), nb::arg("format").none());
}

}  // namespace encdec::python
