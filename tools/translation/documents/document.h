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

enum class DocumentFormat : std::uint8_t {
  text,   // plain text; a segment is a paragraph
  html,   // HTML and XHTML
  srt,    // SubRip subtitles
  vtt,    // WebVTT subtitles
  po,     // GNU gettext catalogues, .po and .pot
  xliff,  // XLIFF 1.2, 2.0 and 2.1
};

inline constexpr std::array kDocumentFormats = {
    Named{DocumentFormat::text, "text"}, Named{DocumentFormat::html, "html"}, Named{DocumentFormat::srt, "srt"},
    Named{DocumentFormat::vtt, "vtt"},   Named{DocumentFormat::po, "po"},     Named{DocumentFormat::xliff, "xliff"},
};

// Returns the format for a file name's extension, such as "de.po"; nullopt if the extension is unknown.
std::optional<DocumentFormat> format_of(std::string_view file_name);
// Returns `format` or, if unset, the format for the extension. Throws InputError if the extension is unknown.
DocumentFormat format_or_that_of(const std::string& file_name, const std::optional<DocumentFormat>& format);
// Returns the media type for the extension; application/octet-stream if the extension is unknown.
std::string_view media_type_of(std::string_view file_name);
// Returns the extensions of all formats: ".txt", ".text", ".html"...
std::vector<std::string> document_extensions();

// The entries of a bilingual file (PO, XLIFF) to translate.
enum class CatalogueEntries : std::uint8_t {
  untranslated,
  fuzzy,  // also entries whose translation needs review
  all,
};

inline constexpr std::array kCatalogueEntries = {
    Named{CatalogueEntries::untranslated, "untranslated"},
    Named{CatalogueEntries::fuzzy, "fuzzy"},
    Named{CatalogueEntries::all, "all"},
};

struct DocumentOptions {
  std::string target_language = {};  // "de", "pt-BR"; empty if unknown

  CatalogueEntries entries = CatalogueEntries::untranslated;
  bool mark_fuzzy = true;                                // PO: new translations get the flag "fuzzy"
  std::string xliff_state = "needs-review-translation";  // XLIFF 1.2: state of new targets
  std::string xliff2_state = "translated";               // XLIFF 2: state of segments with new targets

  std::optional<std::size_t> line_width = {};  // subtitles; unset: 42 characters, 16 for CJK
  std::size_t max_lines = 2;                   // subtitles; longer texts get longer lines
  double join_gap = 3.0;                       // subtitles: a pause of this many seconds ends a sentence

  // Called while a file is read, with the number of further bytes in memory for texts and markup. May throw.
  std::function<void(std::size_t bytes)> on_memory = {};
};

// A translation that write() did not use, so that the file keeps the source text.
struct UnusedTranslation {
  std::size_t segment = 0;
  std::string reason;  // such as "placeholder '%s' is missing"
};

struct WrittenDocument {
  std::string bytes;
  std::vector<UnusedTranslation> unused = {};
};

// A file whose texts can be translated. Other bytes stay unchanged. Thread-safe, cheap to copy.
class Document {
 public:
  // Finds the texts of a file. Throws FileError, with `name`, line and column, if the file does not
  // follow its format or is not UTF-8 (HTML may declare another charset).
  static Document parse(std::string bytes, DocumentFormat format, const std::string& name,
                        const DocumentOptions& options = {});

  // Parses a text with XML elements: one segment, or none if it has no letters. Elements are inline
  // codes, except those with a name in `kept`, which are placeholders.
  static Document parse_xml_text(std::string bytes, std::span<const std::string> kept, const std::string& name,
                                 const DocumentOptions& options = {});

  const std::vector<Segment>& segments() const;
  // Returns where a segment begins in the file: "line 12".
  std::string where(std::size_t segment) const;

  // Returns the file with its texts replaced by translations, one per segment.
  // - An empty translation keeps the file's bytes for its segment.
  // - A translation equal to its segment keeps these bytes too, except in bilingual formats (PO, XLIFF).
  // - Inline codes may be reordered. Missing codes are added at the end.
  // - Placeholders may be reordered. If a placeholder is missing or new, the translation is not used.
  // - A text over several subtitles is split at its cuts or, if their number differs, by time.
  // Throws InputError unless the numbers of translations and segments are equal.
  WrittenDocument write(std::span<const Segment> translations) const;

 private:
  struct Content;

  explicit Document(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace encdec
