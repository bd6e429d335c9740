#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

// A file inside a zip archive.
struct ZipEntry {
  enum class Method : std::uint16_t { stored = 0, deflated = 8 };

  std::string name;
  Method method = Method::stored;
  std::uint64_t begin = 0;            // position of the entry's header in the archive
  std::uint64_t offset = 0;           // position of the data
  std::uint64_t compressed_size = 0;  // size in the archive; equal to `size` if stored
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
};

// The directory of a zip archive, zip64 included, over the bytes of a file. It expects hostile archives: each entry is
// one range of bytes, and all readers of an archive must see the same entries. Refused are
// - a directory that does not end where the end record begins, or has another number of entries than it says;
// - two entries of one name, overlapping entries, and data that is not before the directory;
// - local headers that disagree with the directory about name, method, flags, sizes or checksum;
// - encryption, several disks, and methods other than stored and deflated;
// - a deflated entry that claims to grow more than 1032 times, which deflate cannot;
// - deflated entries that together claim more than 64 MiB and more than 16 times the size of the archive: weights do
//   not shrink that much.
// Memory grows with the directory, not with the sizes that entries claim.
class ZipArchive {
 public:
  // Throws FileError for an archive that breaks a rule.
  explicit ZipArchive(FileBytes file);

  const std::string& file() const { return file_.name; }
  // Returns the entries, sorted by name.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Returns null if no entry has this name.
  const ZipEntry* find(std::string_view name) const;

  // Returns the content of an entry. A stored entry is a view of the archive; its checksum is not checked, because that
  // would read all of the data. A deflated entry is decompressed into memory of its own; FileError is thrown unless its
  // size and checksum are those in the directory. `FileBytes::name` names the archive and the entry.
  FileBytes read(const ZipEntry& entry) const;
  // Returns the first `bytes` bytes of an entry, or all if there are fewer, and reads no more than that. Damage in the
  // data that follows is not noticed.
  FileBytes read_front(const ZipEntry& entry, std::size_t bytes) const;

 private:
  // Returns the entry's data as it is in the archive.
  FileBytes stored(const ZipEntry& entry) const;

  FileBytes file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace encdec
