// Reads arbitrary bytes as a document in the format that the first byte selects, and writes it with
// good and bad translations.
#include <cstdint>
#include <string>
#include <vector>

#include "encdec/engine/base/error.h"
#include "encdec/translation/documents/document.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

// Changes words, and drops or moves codes, placeholders and cuts, as the bytes of `seed` select.
std::vector<Segment> translated(const std::vector<Segment>& segments, std::string_view seed) {
  std::vector<Segment> translations = segments;
  for (std::size_t i = 0; i < translations.size(); ++i) {
    Segment& translation = translations[i];
    const auto choice = static_cast<unsigned char>(seed[i % seed.size()]);
    if (choice % 2 == 0) translation.text += " <&>\"'\\*_[]{}%s\n\u5b57";
    if (choice % 3 == 0 && !translation.codes.empty()) translation.codes.pop_back();
    if (choice % 5 == 0) translation.cuts.clear();
    if (choice % 7 == 0) translation.text.resize(translation.text.size() / 2);
    if (choice % 11 == 0) {
      for (InlineCode& code : translation.codes) code.position = translation.text.size();
    }
    if (choice % 13 == 0) translation.placeholders.clear();
  }
  return translations;
}

void use(const std::string& bytes, DocumentFormat format) {
  const Document document = Document::parse(bytes, format, "x", {.target_language = "ru"});
  const std::vector<Segment>& segments = document.segments();
  for (std::size_t i = 0; i < segments.size(); ++i) require(!document.where(i).empty(), "a segment has a position");
  require(document.write(std::vector<Segment>(segments.size())).bytes == bytes, "no translations change nothing");
  const bool has_targets = format == DocumentFormat::po || format == DocumentFormat::xliff;
  require(has_targets || document.write(segments).bytes == bytes, "sources as translations change nothing");
  if (bytes.empty()) return;
  const WrittenDocument written = document.write(translated(segments, bytes));
  try {
    Document::parse(written.bytes, format, "x");
  } catch (const FileError&) {
    require(false, "what has been written can be read");
  }
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  if (size == 0) return 0;
  const DocumentFormat format = kDocumentFormats[data[0] % kDocumentFormats.size()].value;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    use(bytes, format);
  } catch (const FileError& error) {
    require_good_message(error.what(), "x");
  }
  return 0;
}
