#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/named_values.h"
#include "encdec/translation/text/segment.h"

namespace encdec {

// Format of a file whose texts are translated.
enum class DocumentFormat : std::uint8_t {
  text,   // plain text; a segment is a paragraph
  html,   // HTML and XHTML
  srt,    // SubRip subtitles
  vtt,    // WebVTT subtitles
  po,     // catalogues of GNU gettext, .po and .pot
  xliff,  // XLIFF 1.2, 2.0 and 2.1
};

// The names of the formats.
inline constexpr std::array kDocumentFormats = {
    Named{DocumentFormat::text, "text"}, Named{DocumentFormat::html, "html"}, Named{DocumentFormat::srt, "srt"},
    Named{DocumentFormat::vtt, "vtt"},   Named{DocumentFormat::po, "po"},     Named{DocumentFormat::xliff, "xliff"},
};

// Returns the format of a file by the extension of its name, such as "de.po"; nullopt if no format has it.
std::optional<DocumentFormat> format_of(std::string_view file_name);
// Returns `format` or, if it is unset, that of the file's name. Throws InputError if no format has its extension.
DocumentFormat format_or_that_of(const std::string& file_name, const std::optional<DocumentFormat>& format);
// Returns the media type of a file by the extension of its name; application/octet-stream if no format has it.
std::string_view media_type_of(std::string_view file_name);
// Returns the extensions of all formats: ".txt", ".text", ".html"...
std::vector<std::string> document_extensions();

// The entries of a file with sources and targets (PO, XLIFF) that are translated.
enum class CatalogueEntries : std::uint8_t {
  untranslated,
  fuzzy,  // also those whose translation has yet to be checked
  all,
};

// The names of the entries.
inline constexpr std::array kCatalogueEntries = {
    Named{CatalogueEntries::untranslated, "untranslated"},
    Named{CatalogueEntries::fuzzy, "fuzzy"},
    Named{CatalogueEntries::all, "all"},
};

struct DocumentOptions {
  std::string target_language = {};  // such as "de" or "pt-BR"; empty if unknown

  CatalogueEntries entries = CatalogueEntries::untranslated;
  bool mark_fuzzy = true;                                // PO: new translations get the flag "fuzzy"
  std::string xliff_state = "needs-review-translation";  // XLIFF 1.2: state of new targets
  std::string xliff2_state = "translated";               // XLIFF 2: state of segments with new targets

  std::optional<std::size_t> line_width = {};  // subtitles: characters a line; 42 if unset, 16 for zh, ja and ko
  std::size_t max_lines = 2;                   // subtitles: longer texts are not wrapped
  double join_gap = 3.0;                       // subtitles: pause in seconds at which a sentence ends

  // Called with the bytes of memory that texts and markup take, while they are read. May throw.
  std::function<void(std::size_t bytes)> on_memory = {};
};

// A translation that write() could not use. The source stays in its place.
struct UnusedTranslation {
  std::size_t segment = 0;
  std::string reason;  // such as "placeholder '%s' is missing"
};

struct WrittenDocument {
  std::string bytes;
  std::vector<UnusedTranslation> unused = {};
};

// A file whose texts are translated. All bytes that are not texts stay as they are. Copies share their memory; a
// document does not change, and serves many threads.
class Document {
 public:
  // Finds the texts of a file. `name` begins every message. Throws FileError, with line and column, for a file that
  // does not follow its format, and for text that is not UTF-8.
  static Document parse(std::string bytes, DocumentFormat format, const std::string& name,
                        const DocumentOptions& options = {});

  // The same for a text with elements of XML: one segment, or none without letters. All elements are codes in it,
  // except those with a name of `kept`, which are placeholders.
  static Document parse_xml_text(std::string bytes, std::span<const std::string> kept, const std::string& name,
                                 const DocumentOptions& options = {});

  const std::vector<Segment>& segments() const;
  // Returns the place of a segment in the file: "line 12".
  std::string where(std::size_t segment) const;

  // Returns the file with translations, one for each segment, in place of the texts.
  // - A translation without text leaves the bytes of its segment as they are.
  // - So does one that is equal to its segment, except in formats with a target beside each source: PO and XLIFF.
  // - A translation has the codes of its segment, in any order, with their markup. Missing ones are added at its end.
  // - A translation has the placeholders of its segment, in any order. Otherwise it is not used.
  // - A translation of several subtitles has the cuts of its segment. Otherwise it is cut by their times.
  // Throws InputError unless there is one translation for each segment.
  WrittenDocument write(std::span<const Segment> translations) const;

 private:
  struct Content;

  explicit Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace encdec
