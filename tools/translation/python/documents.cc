#include "translation/python/documents.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <tuple>
#include <utility>

#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/translation/translate_file.h"
#include "python/src/compute.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// The fields of a segment. Positions are byte offsets in UTF-8.
using Codes = std::vector<std::tuple<std::size_t, std::string, std::optional<std::size_t>>>;
using Placeholders = std::vector<std::tuple<std::size_t, std::size_t, std::optional<std::string>>>;
using Cuts = std::vector<std::pair<std::size_t, double>>;
using Parts = std::tuple<std::string, Codes, Placeholders, Cuts>;

Parts parts_of(const Segment& segment) {
  Parts parts;
  auto& [text, codes, placeholders, cuts] = parts;
  text = segment.text;
  for (const InlineCode& code : segment.codes) codes.emplace_back(code.position, code.markup, code.partner);
  for (const Placeholder& kept : segment.placeholders) placeholders.emplace_back(kept.begin, kept.end, kept.markup);
  for (const Cut& cut : segment.cuts) cuts.emplace_back(cut.position, cut.share_before);
  return parts;
}

Segment segment_of(const Parts& parts) {
  const auto& [text, codes, placeholders, cuts] = parts;
  Segment segment{.text = text};
  for (const auto& [position, markup, partner] : codes) segment.codes.push_back({position, markup, partner});
  for (const auto& [begin, end, markup] : placeholders) segment.placeholders.push_back({begin, end, markup});
  for (const auto& [position, share] : cuts) segment.cuts.push_back({position, share});
  return segment;
}

Document read(nb::bytes path, const nb::dict& options) {
  const std::string name = plain(path);
  Keywords keywords(options);
  std::optional<DocumentFormat> given;
  const DocumentOptions document = document_options(keywords, given);
  keywords.finish();
  const DocumentFormat format = format_or_that_of(name, given);
  return compute([&] { return Document::parse(read_text_file(name, kMaxDocumentBytes), format, name, document); });
}

std::vector<Parts> segments_of(const Document& document) {
  std::vector<Parts> segments;
  for (const Segment& segment : document.segments()) segments.push_back(parts_of(segment));
  return segments;
}

// Returns the file's bytes, and a pair (segment, reason) for each unused translation.
nb::tuple write(const Document& document, const std::vector<Parts>& translations) {
  std::vector<Segment> segments;
  for (const Parts& parts : translations) segments.push_back(segment_of(parts));
  const WrittenDocument written = compute([&] { return document.write(segments); });
  nb::list unused;
  for (const UnusedTranslation& each : written.unused) unused.append(nb::make_tuple(each.segment, each.reason));
  return nb::make_tuple(nb::bytes(written.bytes.data(), written.bytes.size()), unused);
}

}  // namespace

DocumentOptions document_options(Keywords& keywords, std::optional<DocumentFormat>& format) {
  DocumentOptions options;
  std::optional<int> line_width, max_lines;
  if (const nb::object word = keywords.take("format"); word.is_valid()) {
    format = named("format", text_from(word, "format"), kDocumentFormats);
  }
  if (const nb::object word = keywords.take("entries"); word.is_valid()) {
    options.entries = named("entries", text_from(word, "entries"), kCatalogueEntries);
  }
  keywords.read(options.target_language, "target_language");
  keywords.read(options.mark_fuzzy, "mark_fuzzy");
  keywords.read(options.xliff_state, "xliff_state");
  keywords.read(options.join_gap, "join_gap");
  keywords.read(line_width, "line_width");
  keywords.read(max_lines, "max_lines");
  for (const auto& [name, number] : {std::pair("line_width", line_width), std::pair("max_lines", max_lines)}) {
    if (number && *number < 1) throw ConfigError(fmt::format("{} is {}, expected 1 or more", name, *number));
  }
  if (line_width) options.line_width = static_cast<std::size_t>(*line_width);
  if (max_lines) options.max_lines = static_cast<std::size_t>(*max_lines);
  return options;
}

void bind_documents(nb::module_& module) {
  nb::class_<Document>(module, "Document")
      .def_static("read", &read, nb::arg("path"), nb::arg("options"))
      .def("segments", &segments_of)
      .def("where", &Document::where, nb::arg("segment"))
      .def("write", &write, nb::arg("translations"));
}

}  // namespace encdec::python
