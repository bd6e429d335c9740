#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {

struct ZipEntry {
  enum class Method : std::uint16_t { stored = 0, deflated = 8 };

  std::string name;
  Method method = Method::stored;
  std::uint64_t begin = 0;            // offset of the entry's header in the archive
  std::uint64_t offset = 0;           // offset of the data
  std::uint64_t compressed_size = 0;  // size in the archive; equals `size` if stored
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
};

// The directory of a zip or zip64 archive. Archives may be hostile: every entry must be one range
// of bytes, and all readers must see the same entries. These are refused:
// - a directory that does not end where the end record begins, or whose number of entries is wrong;
// - duplicate names, overlapping entries, and data after the start of the directory;
// - local headers that differ from the directory in name, method, flags, sizes or checksum;
// - encryption, several disks, and methods other than stored and deflated;
// - a deflated entry that grows more than 1032 times, which deflate cannot;
// - deflated entries that grow to more than 64 MiB and 16 times the archive, which weights do not.
// Memory is proportional to the directory, not to the sizes that entries claim.
class ZipArchive {
 public:
  explicit ZipArchive(FileBytes file);

  const std::string& file() const { return file_.name; }
  // Returns the entries, sorted by name.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Returns the entry with this name; null if there is none.
  const ZipEntry* find(std::string_view name) const;

  // Returns the content of an entry; FileBytes::name names the entry, too. A stored entry is a
  // view, and its checksum is not checked: that would read all of it. A deflated entry is
  // decompressed; throws FileError unless its size and checksum match the directory.
  FileBytes read(const ZipEntry& entry) const;
  // Returns at most the first `bytes` bytes of an entry. Does not read the rest.
  FileBytes read_front(const ZipEntry& entry, std::size_t bytes) const;

 private:
  // Returns the entry's data as stored in the archive.
  FileBytes stored(const ZipEntry& entry) const;

  FileBytes file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace encdec
