#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/zip_archive.h"
#include "encdec/models/translation/documents/document.h"
#include "encdec/models/translation/documents/text_file.h"

namespace encdec::documents {

// An entry of an archive, and its new content.
struct NewContent {
  std::string name;
  std::string bytes;
};

// The zip archive of an office document or a book.
class OfficeArchive {
 public:
  // Throws FileError for a damaged archive, one with more than 10,000 entries or `max_bytes` of content, and one of 2
  // GiB. REQUIRES: `bytes` outlive the archive.
  OfficeArchive(std::string_view bytes, const std::string& name, std::uint64_t max_bytes);

  const std::string& name() const { return zip_.file(); }
  bool has(std::string_view entry) const { return zip_.find(entry) != nullptr; }
  // Returns the content of an entry. Throws FileError if there is none.
  std::string read(std::string_view entry) const;
  // Returns the archive with other content of some entries. The bytes of all others stay as they are.
  std::string with(const std::vector<NewContent>& changed) const;

 private:
  std::string_view bytes_;
  ZipArchive zip_;
};

// An entry with texts, and its reader.
struct OfficePart {
  std::string name;
  ReadTexts* read;
};

// Returns the parts of a document, in the order in which they are read. Throws FileError if the archive is no document
// of the format.
std::vector<OfficePart> office_parts(const OfficeArchive& archive, DocumentFormat format);

}  // namespace encdec::documents
