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
  std::uint64_t begin = 0;            // of its header in the archive
  std::uint64_t offset = 0;           // of the data
  std::uint64_t compressed_size = 0;  // bytes there; the same as `size` where stored
  std::uint64_t size = 0;
  std::uint32_t checksum = 0;
};

// The directory of a zip archive, zip64 included, over the bytes of a file. Written for archives that lie: one entry is
// one range of bytes, and everybody who reads the archive sees the same. Refused are
// - a directory that does not end where the end record begins, or has other entries than it says;
// - two entries of one name, entries that overlap, and data that is not in front of the directory;
// - local headers that disagree with the directory about name, method, flags, sizes or checksum;
// - encryption, several disks, and methods other than stored and deflated;
// - deflated entries that claim to grow by more than deflate can, 1032 times, or all together by more than weights do:
//   beyond 64 MiB to more than 16 times the archive.
// Memory grows with the directory, not with what entries claim.
class ZipArchive {
 public:
  // Throws FileError for an archive that breaks a rule.
  explicit ZipArchive(FileBytes file);

  const std::string& file() const { return file_.name; }
  // Sorted by name.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // Null if there is none of this name.
  const ZipEntry* find(std::string_view name) const;

  // A view of the archive where the entry is stored: its checksum is not looked at, that would read all of it. Memory
  // of its own where it is deflated: then size and checksum are those of the directory, or FileError is thrown. The
  // name says which entry of which archive it is.
  FileBytes read(const ZipEntry& entry) const;
  // The first `bytes` bytes of that, all if there are fewer, at the cost of these only. Where the data is damaged
  // behind them, nobody has noticed.
  FileBytes read_front(const ZipEntry& entry, std::size_t bytes) const;

 private:
  // The entry as it stands in the archive.
  FileBytes stored(const ZipEntry& entry) const;

  FileBytes file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace encdec
