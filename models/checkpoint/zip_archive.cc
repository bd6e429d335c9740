#include "encdec/models/checkpoint/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/checked_math.h"
#include "encdec/engine/tensor.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/inflate.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

// Names as in PKWARE's APPNOTE 6.3.
constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryHeader = 0x02014b50;
constexpr std::uint32_t kEndRecord = 0x06054b50;
constexpr std::uint32_t kZip64EndRecord = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::uint16_t kZip64Extra = 1;

constexpr std::size_t kEndRecordBytes = 22;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kZip64EndRecordBytes = 56;
constexpr std::size_t kDirectoryHeaderBytes = 46;
constexpr std::size_t kMaxCommentBytes = 0xffff;

constexpr std::uint16_t kIn16 = 0xffff;      // "the value is in the zip64 record"
constexpr std::uint32_t kIn32 = 0xffffffff;  // the same

constexpr std::uint16_t kSizesFollow = 1u << 3;                                // behind the data; zeros in front
constexpr std::uint16_t kKnownFlags = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 11;  // deflate's speed, sizes, UTF-8
constexpr std::uint16_t kEncrypted = 1u << 0 | 1u << 6 | 1u << 13;

constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint64_t kMaxGrowth = 1032;  // of deflate: 258 bytes for 2 bits

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // where the records behind it begin
};

// What both headers of an entry say.
struct EntryHeader {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t local_offset = 0;
  std::string_view name;
};

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset, const std::string& file) {
  return ByteReader(bytes.subspan(offset), file).number<T>("a record");
}

// The end record lies at the end, but for a comment that it announces.
std::size_t find_end_record(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() >= kEndRecordBytes) {
    const std::size_t last = bytes.size() - kEndRecordBytes;
    for (std::size_t comment = 0; comment <= std::min(last, kMaxCommentBytes); ++comment) {
      const std::size_t offset = last - comment;
      if (number_at<std::uint32_t>(bytes, offset, file) == kEndRecord &&
          number_at<std::uint16_t>(bytes, offset + kEndRecordBytes - 2, file) == comment) {
        return offset;
      }
    }
  }
  throw FileError(fmt::format("{}: no end record of a zip archive in {} bytes: the file is truncated or no archive",
                              file, bytes.size()));
}

FileError several_disks(const std::string& file) {
  return FileError(fmt::format("{}: a part of a zip archive on several disks, expected a whole one", file));
}

// The same in 64 bits. Values that fit in the end record stand in both.
Directory read_zip64_record(std::span<const std::byte> bytes, std::size_t locator, const Directory& in_short,
                            const std::string& file) {
  ByteReader at_locator(bytes.subspan(locator + 4), file);
  const auto disk = at_locator.number<std::uint32_t>("the zip64 locator");
  const auto offset = at_locator.number<std::uint64_t>("the zip64 locator");
  const auto disks = at_locator.number<std::uint32_t>("the zip64 locator");
  if (disk != 0 || disks > 1) throw several_disks(file);
  if (offset > locator || locator - offset < kZip64EndRecordBytes) {
    throw FileError(fmt::format("{}: zip64 record at byte {}, expected {} bytes in front of byte {}", file, offset,
                                kZip64EndRecordBytes, locator));
  }
  ByteReader record(bytes.subspan(static_cast<std::size_t>(offset), locator - static_cast<std::size_t>(offset)), file);
  const auto signature = record.number<std::uint32_t>("the zip64 record");
  const auto size = record.number<std::uint64_t>("the zip64 record");
  if (signature != kZip64EndRecord || size != record.left()) {
    throw FileError(fmt::format("{}: no zip64 record at byte {}, where its locator expects it", file, offset));
  }
  record.take(4, "the zip64 record");  // versions
  const auto this_disk = record.number<std::uint32_t>("the zip64 record");
  const auto first_disk = record.number<std::uint32_t>("the zip64 record");
  const auto entries_here = record.number<std::uint64_t>("the zip64 record");
  Directory directory;
  directory.entries = record.number<std::uint64_t>("the zip64 record");
  directory.size = record.number<std::uint64_t>("the zip64 record");
  directory.offset = record.number<std::uint64_t>("the zip64 record");
  directory.end = offset;
  if (this_disk != 0 || first_disk != 0 || entries_here != directory.entries) throw several_disks(file);
  const auto agrees = [](std::uint64_t short_value, std::uint64_t mark, std::uint64_t value) {
    return short_value == mark || short_value == value;
  };
  if (!agrees(in_short.entries, kIn16, directory.entries) || !agrees(in_short.size, kIn32, directory.size) ||
      !agrees(in_short.offset, kIn32, directory.offset)) {
    throw FileError(fmt::format("{}: the two end records disagree, expected the same entries, size and offset", file));
  }
  return directory;
}

Directory find_directory(std::span<const std::byte> bytes, const std::string& file) {
  const std::size_t end = find_end_record(bytes, file);
  ByteReader record(bytes.subspan(end + 4), file);
  const auto this_disk = record.number<std::uint16_t>("the end record");
  const auto first_disk = record.number<std::uint16_t>("the end record");
  const auto entries_here = record.number<std::uint16_t>("the end record");
  Directory directory;
  directory.entries = record.number<std::uint16_t>("the end record");
  directory.size = record.number<std::uint32_t>("the end record");
  directory.offset = record.number<std::uint32_t>("the end record");
  directory.end = end;
  const bool one_disk = (this_disk == 0 || this_disk == kIn16) && (first_disk == 0 || first_disk == kIn16);
  if (!one_disk || entries_here != directory.entries) throw several_disks(file);
  if (end >= kLocatorBytes && number_at<std::uint32_t>(bytes, end - kLocatorBytes, file) == kZip64Locator) {
    directory = read_zip64_record(bytes, end - kLocatorBytes, directory, file);
  }
  const auto directory_end = checked_add(directory.offset, directory.size);
  if (!directory_end || *directory_end != directory.end) {
    throw FileError(fmt::format("{}: directory of {} bytes at byte {}, expected it to end at byte {}", file,
                                directory.size, directory.offset, directory.end));
  }
  return directory;
}

// Replaces the values that are marked as being in the zip64 extra field, where they stand in this order.
void read_zip64_extra(std::span<const std::byte> extra, std::span<std::uint64_t* const> marked,
                      const std::string& where) {
  if (marked.empty()) return;
  ByteReader fields(extra, where);
  while (fields.left() >= 4) {  // alignment may leave fewer
    const auto id = fields.number<std::uint16_t>("an extra field");
    const auto size = fields.number<std::uint16_t>("an extra field");
    const auto field = fields.take(size, "an extra field");
    if (id != kZip64Extra) continue;
    ByteReader values(field, where);
    for (std::uint64_t* value : marked) *value = values.number<std::uint64_t>("the zip64 extra field");
    return;
  }
  throw FileError(fmt::format("{}: sizes in a zip64 extra field that is missing", where));
}

EntryHeader read_directory_header(ByteReader& directory) {
  constexpr std::string_view kWhat = "an entry of the directory";
  const std::size_t begin = directory.position();
  if (directory.number<std::uint32_t>(kWhat) != kDirectoryHeader) {
    throw FileError(fmt::format("{}: byte {} of the directory is no entry, expected one", directory.file(), begin));
  }
  directory.take(4, kWhat);  // versions
  EntryHeader header;
  header.flags = directory.number<std::uint16_t>(kWhat);
  header.method = directory.number<std::uint16_t>(kWhat);
  directory.take(4, kWhat);  // time and date
  header.checksum = directory.number<std::uint32_t>(kWhat);
  header.compressed_size = directory.number<std::uint32_t>(kWhat);
  header.size = directory.number<std::uint32_t>(kWhat);
  const auto name_bytes = directory.number<std::uint16_t>(kWhat);
  const auto extra_bytes = directory.number<std::uint16_t>(kWhat);
  const auto comment_bytes = directory.number<std::uint16_t>(kWhat);
  const auto disk = directory.number<std::uint16_t>(kWhat);
  if (disk != 0 && disk != kIn16) throw several_disks(directory.file());
  directory.take(6, kWhat);  // attributes
  header.local_offset = directory.number<std::uint32_t>(kWhat);
  header.name = as_text(directory.take(name_bytes, "an entry's name"));
  const auto extra = directory.take(extra_bytes, "an entry's extra fields");
  directory.take(comment_bytes, "an entry's comment");
  std::vector<std::uint64_t*> marked;
  for (std::uint64_t* value : {&header.size, &header.compressed_size, &header.local_offset}) {
    if (*value == kIn32) marked.push_back(value);
  }
  read_zip64_extra(extra, marked, fmt::format("{}: entry '{}'", directory.file(), printable(header.name)));
  return header;
}

EntryHeader read_local_header(ByteReader& local, const std::string& where) {
  constexpr std::string_view kWhat = "the local header";
  if (local.number<std::uint32_t>(kWhat) != kLocalHeader) {
    throw FileError(fmt::format("{}: no local header where the directory says", where));
  }
  local.take(2, kWhat);  // version
  EntryHeader header;
  header.flags = local.number<std::uint16_t>(kWhat);
  header.method = local.number<std::uint16_t>(kWhat);
  local.take(4, kWhat);  // time and date
  header.checksum = local.number<std::uint32_t>(kWhat);
  header.compressed_size = local.number<std::uint32_t>(kWhat);
  header.size = local.number<std::uint32_t>(kWhat);
  const auto name_bytes = local.number<std::uint16_t>(kWhat);
  const auto extra_bytes = local.number<std::uint16_t>(kWhat);
  header.name = as_text(local.take(name_bytes, "the local header's name"));
  const auto extra = local.take(extra_bytes, "the local header's extra fields");
  std::vector<std::uint64_t*> marked;
  for (std::uint64_t* value : {&header.size, &header.compressed_size}) {
    if (*value == kIn32) marked.push_back(value);
  }
  read_zip64_extra(extra, marked, where);
  return header;
}

void check_agreement(const EntryHeader& local, const EntryHeader& listed, const std::string& where) {
  const bool may_be_zero = (listed.flags & kSizesFollow) != 0;
  const auto agrees = [may_be_zero](std::uint64_t found, std::uint64_t expected) {
    return found == expected || (may_be_zero && found == 0);
  };
  const char* what = nullptr;
  if (local.name != listed.name) what = "name";
  if (local.method != listed.method) what = "method";
  if (local.flags != listed.flags) what = "flags";
  if (!agrees(local.checksum, listed.checksum)) what = "checksum";
  if (!agrees(local.compressed_size, listed.compressed_size) || !agrees(local.size, listed.size)) what = "size";
  if (what != nullptr) {
    throw FileError(
        fmt::format("{}: the local header has another {} than the directory, expected the same", where, what));
  }
}

void check_header(const EntryHeader& header, const std::string& where) {
  if (header.name.empty() || header.name.find('\0') != header.name.npos) {
    throw FileError(fmt::format("{}: expected a name without zero bytes", where));
  }
  if ((header.flags & kEncrypted) != 0) throw FileError(fmt::format("{}: encrypted, expected plain data", where));
  if ((header.flags & ~kKnownFlags) != 0) {
    throw FileError(fmt::format("{}: flags {:#06x}, expected none that change the data", where, header.flags));
  }
  if (header.method != kStored && header.method != kDeflated) {
    throw FileError(
        fmt::format("{}: compression method {}, expected 0 (stored) or 8 (deflated)", where, header.method));
  }
  if (header.method == kStored && header.size != header.compressed_size) {
    throw FileError(
        fmt::format("{}: stored {} bytes as {}, expected the same", where, header.size, header.compressed_size));
  }
  if (header.method == kDeflated && header.size > 0 && (header.size - 1) / kMaxGrowth >= header.compressed_size) {
    throw FileError(fmt::format("{}: {} bytes from {}, expected at most {} times as many", where, header.size,
                                header.compressed_size, kMaxGrowth));
  }
}

// An entry with the range that it takes of the file.
struct Placed {
  ZipEntry entry;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Placed place(const EntryHeader& listed, std::span<const std::byte> before_directory, const std::string& file) {
  const std::string where = fmt::format("{}: entry '{}'", file, printable(listed.name));
  check_header(listed, where);
  if (listed.local_offset > before_directory.size()) {
    throw FileError(fmt::format("{}: at byte {}, expected it in front of the directory at byte {}", where,
                                listed.local_offset, before_directory.size()));
  }
  ByteReader local(before_directory.subspan(static_cast<std::size_t>(listed.local_offset)), where);
  check_agreement(read_local_header(local, where), listed, where);
  Placed placed;
  placed.begin = listed.local_offset;
  const std::uint64_t data = listed.local_offset + local.position();
  local.take(listed.compressed_size, "the data");
  placed.end = data + listed.compressed_size;
  placed.entry = {std::string(listed.name),
                  listed.method == kStored ? ZipEntry::Method::stored : ZipEntry::Method::deflated,
                  data,
                  listed.compressed_size,
                  listed.size,
                  listed.checksum};
  return placed;
}

void check_places(std::vector<Placed>& all, const std::string& file) {
  std::ranges::sort(all, {}, &Placed::begin);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].begin < all[i - 1].end) {
      throw FileError(fmt::format("{}: entry '{}': begins at byte {} inside entry '{}', expected no overlaps", file,
                                  printable(all[i].entry.name), all[i].begin, printable(all[i - 1].entry.name)));
    }
  }
}

void check_names(const std::vector<ZipEntry>& entries, const std::string& file) {
  const auto twice = std::ranges::adjacent_find(entries, {}, &ZipEntry::name);
  if (twice == entries.end()) return;
  throw FileError(fmt::format("{}: entry '{}' is there twice, expected it once", file, printable(twice->name)));
}

}  // namespace

ZipArchive::ZipArchive(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, std::string file)
    : bytes_(bytes), owner_(std::move(owner)), file_(std::move(file)) {
  refuse_git_lfs_pointer(bytes, file_);
  const Directory directory = find_directory(bytes, file_);
  if (directory.entries > directory.size / kDirectoryHeaderBytes) {
    throw FileError(fmt::format("{}: {} entries in a directory of {} bytes, expected at least {} bytes for each", file_,
                                directory.entries, directory.size, kDirectoryHeaderBytes));
  }
  const auto before = bytes.first(static_cast<std::size_t>(directory.offset));
  ByteReader listed(bytes.subspan(before.size(), static_cast<std::size_t>(directory.size)), file_);
  std::vector<Placed> all;
  for (std::uint64_t i = 0; i < directory.entries; ++i)
    all.push_back(place(read_directory_header(listed), before, file_));
  if (listed.left() > 0) {
    throw FileError(
        fmt::format("{}: {} bytes behind the last entry of the directory, expected none", file_, listed.left()));
  }
  check_places(all, file_);
  for (Placed& placed : all) entries_.push_back(std::move(placed.entry));
  std::ranges::sort(entries_, {}, &ZipEntry::name);
  check_names(entries_, file_);
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &ZipEntry::name);
  return found == entries_.end() || found->name != name ? nullptr : &*found;
}

ZipArchive::Content ZipArchive::read(const ZipEntry& entry) const {
  const auto data =
      bytes_.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.compressed_size));
  if (entry.method == ZipEntry::Method::stored) return {data, owner_};
  const std::string where = fmt::format("{}: entry '{}'", file_, printable(entry.name));
  const Tensor memory = Tensor::allocate({static_cast<Dim>(entry.size)}, DataType::uint8);
  const std::span<std::byte> output(const_cast<std::byte*>(memory.raw()), memory.bytes());
  if (!inflate_exactly(data, output)) {
    throw FileError(fmt::format("{}: damaged data, expected a deflate stream of {} bytes", where, entry.size));
  }
  if (zip_checksum(output) != entry.checksum) {
    throw FileError(fmt::format("{}: damaged data, expected the checksum {:08x}", where, entry.checksum));
  }
  return {output, std::make_shared<Tensor>(memory)};
}

}  // namespace encdec
