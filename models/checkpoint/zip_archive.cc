#include "encdec/models/checkpoint/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "encdec/engine/base/checked_math.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/inflater_inl.h"

namespace encdec {
namespace {

// Signatures and sizes of records, as in PKWARE's APPNOTE.TXT 6.3, section 4.3.
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

constexpr std::uint16_t kIn16 = 0xffff;      // mark: only the zip64 record has the value
constexpr std::uint32_t kIn32 = 0xffffffff;  // the same mark in 32 bits

constexpr std::uint16_t kSizesFollow = 1u << 3;  // flag: sizes and checksum follow the data
constexpr std::uint16_t kKnownFlags = 1u << 1 | 1u << 2 | 1u << 3 | 1u << 11;  // deflate's speed, kSizesFollow, UTF-8
constexpr std::uint16_t kEncrypted = 1u << 0 | 1u << 6 | 1u << 13;

constexpr auto kStored = static_cast<std::uint16_t>(ZipEntry::Method::stored);
constexpr auto kDeflated = static_cast<std::uint16_t>(ZipEntry::Method::deflated);
constexpr std::uint64_t kMaxGrowth = 1032;  // deflate's maximum growth: 2 bits become 258 bytes
// Weights hardly compress, but zeros do: if nine tenths of the weights are pruned, an inflated archive is 7 times as
// large. A small archive may consist of zeros only, so kFreeInflatedBytes are always allowed.
constexpr std::uint64_t kMaxArchiveGrowth = 16;
constexpr std::uint64_t kFreeInflatedBytes = 64u << 20;

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  // start of the records after the directory
};

// One of an entry's two headers: the header in the directory, or the local header before the data.
struct EntryHeader {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t compressed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t local_offset = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t extra_bytes = 0;
  std::string_view name;
};

template <class T>
T number_at(const FileBytes& file, std::size_t offset) {
  return ByteReader(file.bytes.subspan(offset), file.name).number<T>("a record");
}

// Returns the offset of the end record. The record may be followed only by a comment, whose length is in the record.
std::size_t find_end_record(const FileBytes& file) {
  const std::size_t bytes = file.bytes.size();
  for (std::size_t comment = 0; comment <= kMaxCommentBytes && comment + kEndRecordBytes <= bytes; ++comment) {
    const std::size_t offset = bytes - kEndRecordBytes - comment;
    if (number_at<std::uint32_t>(file, offset) == kEndRecord &&
        number_at<std::uint16_t>(file, offset + kEndRecordBytes - 2) == comment) {
      return offset;
    }
  }
  refuse(file.name, "no end record of a zip archive in {} bytes: the file is truncated or no archive", bytes);
}

[[noreturn]] void refuse_several_disks(const std::string& file) {
  refuse(file, "a part of a zip archive on several disks, expected a whole one");
}

// Reads the zip64 record, which repeats the end record in 64 bits. Values that fit into both records must be equal.
Directory read_zip64_record(const FileBytes& file, std::size_t locator, const Directory& in_short) {
  ByteReader at_locator(file.bytes.subspan(locator + 4), file.name);
  const auto disk = at_locator.number<std::uint32_t>("the zip64 locator");
  const auto offset = at_locator.number<std::uint64_t>("the zip64 locator");
  const auto disks = at_locator.number<std::uint32_t>("the zip64 locator");
  if (disk != 0 || disks > 1) refuse_several_disks(file.name);
  if (offset > locator || locator - offset < kZip64EndRecordBytes) {
    refuse(file.name, "zip64 record at byte {}, expected {} bytes before byte {}", offset, kZip64EndRecordBytes,
           locator);
  }
  // The record fills the bytes up to its locator.
  constexpr std::string_view kWhat = "the zip64 record";
  const auto begin = static_cast<std::size_t>(offset);
  ByteReader record(file.bytes.subspan(begin, locator - begin), file.name);
  const auto signature = record.number<std::uint32_t>(kWhat);
  const auto size = record.number<std::uint64_t>(kWhat);
  if (signature != kZip64EndRecord || size != record.left()) {
    refuse(file.name, "no zip64 record at byte {}, where its locator expects it", offset);
  }
  record.take(4, kWhat);  // skip the versions
  const auto this_disk = record.number<std::uint32_t>(kWhat);
  const auto first_disk = record.number<std::uint32_t>(kWhat);
  const auto entries_here = record.number<std::uint64_t>(kWhat);
  Directory directory;
  directory.entries = record.number<std::uint64_t>(kWhat);
  directory.size = record.number<std::uint64_t>(kWhat);
  directory.offset = record.number<std::uint64_t>(kWhat);
  directory.end = offset;
  if (this_disk != 0 || first_disk != 0 || entries_here != directory.entries) refuse_several_disks(file.name);
  // Each value of the end record must be a mark, or equal to the zip64 record's value.
  const auto agrees = [](std::uint64_t short_value, std::uint64_t mark, std::uint64_t value) {
    return short_value == mark || short_value == value;
  };
  if (!agrees(in_short.entries, kIn16, directory.entries) || !agrees(in_short.size, kIn32, directory.size) ||
      !agrees(in_short.offset, kIn32, directory.offset)) {
    refuse(file.name, "the two end records disagree, expected the same entries, size and offset");
  }
  return directory;
}

// Finds the directory, which must end where the zip64 record begins or, without one, where the end record begins.
Directory find_directory(const FileBytes& file) {
  constexpr std::string_view kWhat = "the end record";
  const std::size_t end = find_end_record(file);
  ByteReader record(file.bytes.subspan(end + 4), file.name);
  const auto this_disk = record.number<std::uint16_t>(kWhat);
  const auto first_disk = record.number<std::uint16_t>(kWhat);
  const auto entries_here = record.number<std::uint16_t>(kWhat);
  Directory directory;
  directory.entries = record.number<std::uint16_t>(kWhat);
  directory.size = record.number<std::uint32_t>(kWhat);
  directory.offset = record.number<std::uint32_t>(kWhat);
  directory.end = end;
  const bool one_disk = (this_disk == 0 || this_disk == kIn16) && (first_disk == 0 || first_disk == kIn16);
  if (!one_disk || entries_here != directory.entries) refuse_several_disks(file.name);
  // If there is a zip64 record, use its values in place of the end record's values.
  if (end >= kLocatorBytes && number_at<std::uint32_t>(file, end - kLocatorBytes) == kZip64Locator) {
    directory = read_zip64_record(file, end - kLocatorBytes, directory);
  }
  const auto directory_end = checked_add(directory.offset, directory.size);
  if (!directory_end || *directory_end != directory.end) {
    refuse(file.name, "directory of {} bytes at byte {}, expected it to end at byte {}", directory.size,
           directory.offset, directory.end);
  }
  return directory;
}

// Replaces each marked value (kIn32) by its number in the zip64 extra field. The field has numbers
// only for marked values, in the order of `values`.
void read_zip64_extra(std::span<const std::byte> extra, std::span<std::uint64_t* const> values,
                      const std::string& where) {
  std::vector<std::uint64_t*> marked;
  std::ranges::copy_if(values, std::back_inserter(marked), [](const auto* value) { return *value == kIn32; });
  if (marked.empty()) return;
  ByteReader fields(extra, where);
  while (fields.left() >= 4) {  // fewer than 4 bytes may be padding
    const auto id = fields.number<std::uint16_t>("an extra field");
    const auto size = fields.number<std::uint16_t>("an extra field");
    const auto field = fields.take(size, "an extra field");
    if (id != kZip64Extra) continue;
    ByteReader numbers(field, where);
    for (std::uint64_t* value : marked) *value = numbers.number<std::uint64_t>("the zip64 extra field");
    return;
  }
  refuse(where, "sizes in a zip64 extra field that is missing");
}

// Reads the fields that both kinds of headers share, beginning with the flags.
EntryHeader read_common_fields(ByteReader& reader, std::string_view what) {
  EntryHeader header;
  header.flags = reader.number<std::uint16_t>(what);
  header.method = reader.number<std::uint16_t>(what);
  reader.take(4, what);  // skip the time and date
  header.checksum = reader.number<std::uint32_t>(what);
  header.compressed_size = reader.number<std::uint32_t>(what);
  header.size = reader.number<std::uint32_t>(what);
  header.name_bytes = reader.number<std::uint16_t>(what);
  header.extra_bytes = reader.number<std::uint16_t>(what);
  return header;
}

EntryHeader read_directory_header(ByteReader& directory) {
  constexpr std::string_view kWhat = "an entry of the directory";
  const std::size_t begin = directory.position();
  if (directory.number<std::uint32_t>(kWhat) != kDirectoryHeader) {
    refuse(directory.file(), "byte {} of the directory is no entry, expected one", begin);
  }
  directory.take(4, kWhat);  // skip the versions
  EntryHeader header = read_common_fields(directory, kWhat);
  const auto comment_bytes = directory.number<std::uint16_t>(kWhat);
  const auto disk = directory.number<std::uint16_t>(kWhat);
  if (disk != 0 && disk != kIn16) refuse_several_disks(directory.file());
  directory.take(6, kWhat);  // skip the attributes
  header.local_offset = directory.number<std::uint32_t>(kWhat);
  header.name = as_text(directory.take(header.name_bytes, "an entry's name"));
  const auto extra = directory.take(header.extra_bytes, "an entry's extra fields");
  directory.take(comment_bytes, "an entry's comment");
  const std::array<std::uint64_t*, 3> values = {&header.size, &header.compressed_size, &header.local_offset};
  read_zip64_extra(extra, values, fmt::format("{}: entry '{}'", directory.file(), printable(header.name)));
  return header;
}

EntryHeader read_local_header(ByteReader& local, const std::string& where) {
  constexpr std::string_view kWhat = "the local header";
  if (local.number<std::uint32_t>(kWhat) != kLocalHeader)
    refuse(where, "no local header at the offset in the directory");
  local.take(2, kWhat);  // skip the version
  EntryHeader header = read_common_fields(local, kWhat);
  header.name = as_text(local.take(header.name_bytes, "the local header's name"));
  const auto extra = local.take(header.extra_bytes, "the local header's extra fields");
  const std::array<std::uint64_t*, 2> values = {&header.size, &header.compressed_size};
  read_zip64_extra(extra, values, where);
  return header;
}

// Throws FileError unless both headers agree. If sizes and checksum follow the data, the local header may have zeros.
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
  if (what != nullptr) refuse(where, "the local header has another {} than the directory, expected the same", what);
}

// Throws FileError for an entry that this reader cannot read, or whose sizes are impossible.
void check_header(const EntryHeader& header, const std::string& where) {
  if (header.name.empty() || header.name.find('\0') != header.name.npos) {
    refuse(where, "expected a name without NUL bytes");
  }
  if ((header.flags & kEncrypted) != 0) refuse(where, "encrypted, expected plain data");
  if ((header.flags & ~kKnownFlags) != 0) {
    refuse(where, "flags {:#06x}, expected none that change the data", header.flags);
  }
  if (header.method != kStored && header.method != kDeflated) {
    refuse(where, "compression method {}, expected 0 (stored) or 8 (deflated)", header.method);
  }
  if (header.method == kStored && header.size != header.compressed_size) {
    refuse(where, "stored {} bytes as {}, expected the same", header.size, header.compressed_size);
  }
  if (header.method == kDeflated && header.size > 0 && (header.size - 1) / kMaxGrowth >= header.compressed_size) {
    refuse(where, "{} bytes from {}, expected at most {} times as many", header.size, header.compressed_size,
           kMaxGrowth);
  }
}

// Returns an entry, with the offset of its data. Throws FileError unless the local header agrees with the directory.
ZipEntry locate(const EntryHeader& listed, std::span<const std::byte> before_directory, const std::string& file) {
  const std::string where = fmt::format("{}: entry '{}'", file, printable(listed.name));
  check_header(listed, where);
  if (listed.local_offset > before_directory.size()) {
    refuse(where, "at byte {}, expected it before the directory at byte {}", listed.local_offset,
           before_directory.size());
  }
  ByteReader local(before_directory.subspan(static_cast<std::size_t>(listed.local_offset)), where);
  check_agreement(read_local_header(local, where), listed, where);
  const std::uint64_t data = listed.local_offset + local.position();
  local.take(listed.compressed_size, "the data");
  return {.name = std::string(listed.name),
          .method = ZipEntry::Method{listed.method},
          .begin = listed.local_offset,
          .offset = data,
          .compressed_size = listed.compressed_size,
          .size = listed.size,
          .checksum = listed.checksum};
}

// Throws FileError if two entries overlap.
void check_places(std::vector<ZipEntry>& all, const std::string& file) {
  std::ranges::sort(all, {}, &ZipEntry::begin);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const ZipEntry &entry = all[i], &before = all[i - 1];
    if (entry.begin >= before.offset + before.compressed_size) continue;
    refuse(file, "entry '{}': begins at byte {} inside entry '{}', expected no overlaps", printable(entry.name),
           entry.begin, printable(before.name));
  }
}

// Throws FileError if the total size of the deflated entries is too large for an archive of this size.
void check_growth(const std::vector<ZipEntry>& entries, const FileBytes& file) {
  const std::uint64_t limit = std::max(kMaxArchiveGrowth * file.bytes.size(), kFreeInflatedBytes);
  std::uint64_t left = limit;
  for (const ZipEntry& entry : entries) {
    if (entry.method == ZipEntry::Method::stored) continue;
    if (entry.size > left) {
      refuse(file.name, "deflated entries of more than {} bytes in an archive of {}, expected no more", limit,
             file.bytes.size());
    }
    left -= entry.size;
  }
}

}  // namespace

ZipArchive::ZipArchive(FileBytes file) : file_(std::move(file)) {
  refuse_git_lfs_pointer(file_.bytes, file_.name);
  const Directory directory = find_directory(file_);
  if (directory.entries > directory.size / kDirectoryHeaderBytes) {
    refuse(file_.name, "{} entries in a directory of {} bytes, expected at least {} bytes for each", directory.entries,
           directory.size, kDirectoryHeaderBytes);
  }
  // Read all entries. Their data must be before the directory.
  const auto before = file_.bytes.first(static_cast<std::size_t>(directory.offset));
  ByteReader listed(file_.bytes.subspan(before.size(), static_cast<std::size_t>(directory.size)), file_.name);
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    entries_.push_back(locate(read_directory_header(listed), before, file_.name));
  }
  if (listed.left() > 0) {
    refuse(file_.name, "{} bytes after the last entry of the directory, expected none", listed.left());
  }
  check_places(entries_, file_.name);
  check_growth(entries_, file_);
  std::ranges::sort(entries_, {}, &ZipEntry::name);
  const auto twice = std::ranges::adjacent_find(entries_, {}, &ZipEntry::name);
  if (twice != entries_.end()) {
    refuse(file_.name, "entry '{}' is there twice, expected it once", printable(twice->name));
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(entries_, name, {}, &ZipEntry::name);
  return found == entries_.end() || found->name != name ? nullptr : &*found;
}

FileBytes ZipArchive::stored(const ZipEntry& entry) const {
  return {file_.bytes.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.compressed_size)),
          file_.owner, fmt::format("{}: entry '{}'", file_.name, printable(entry.name))};
}

FileBytes ZipArchive::read_front(const ZipEntry& entry, std::size_t bytes) const {
  FileBytes front = stored(entry);
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, entry.size));
  if (entry.method == ZipEntry::Method::stored) {
    front.bytes = front.bytes.first(bytes);
    return front;
  }
  const auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  if (!Inflater(Inflater::kRaw).fills_front(front.bytes, *memory)) {
    refuse(front.name, "damaged data, expected a deflate stream of {} bytes", entry.size);
  }
  return {*memory, memory, front.name};
}

FileBytes ZipArchive::read(const ZipEntry& entry) const {
  const FileBytes data = stored(entry);
  if (entry.method == ZipEntry::Method::stored) return data;
  const Tensor memory = Tensor::allocate({static_cast<Dim>(entry.size)}, DataType::uint8);
  const std::span<std::byte> output(const_cast<std::byte*>(memory.raw()), memory.bytes());
  if (!Inflater(Inflater::kRaw).fills(data.bytes, output)) {
    refuse(data.name, "damaged data, expected a deflate stream of {} bytes", entry.size);
  }
  const auto checksum = crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(output.data()), output.size());
  if (checksum != entry.checksum) {
    refuse(data.name, "damaged data, expected the checksum {:08x}", entry.checksum);
  }
  return {output, std::make_shared<Tensor>(memory), data.name};
}

}  // namespace encdec
