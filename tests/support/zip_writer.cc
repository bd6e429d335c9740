#include "tests/support/zip_writer.h"

#include <zlib.h>

#include <stdexcept>

namespace encdec {
namespace {

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string u16(std::uint64_t value) {
  return little_endian(static_cast<std::uint16_t>(value));
}
std::string u32(std::uint64_t value) {
  return little_endian(static_cast<std::uint32_t>(value));
}
std::string u64(std::uint64_t value) {
  return little_endian(value);
}

std::string zip64_extra(const std::vector<std::uint64_t>& values) {
  std::string extra = u16(1) + u16(8 * values.size());
  for (const std::uint64_t value : values) extra += u64(value);
  return extra;
}

struct EntrySizes {
  std::uint64_t size, compressed_size;
  std::uint32_t checksum;
};

EntrySizes sizes_of(const ZipWriterEntry& entry) {
  return {entry.size.value_or(entry.data.size()), entry.compressed_size.value_or(entry.data.size()),
          entry.checksum.value_or(zip_checksum(entry.data))};
}

std::string local_header(const ZipWriterEntry& entry) {
  const EntrySizes sizes = sizes_of(entry);
  const std::string name = entry.local_name.value_or(entry.name);
  const std::uint64_t size = entry.local_size.value_or(sizes.size);
  const std::string extra = entry.zip64 ? zip64_extra({size, sizes.compressed_size}) : "";
  return "PK\3\4" + u16(20) + u16(entry.local_flags.value_or(entry.flags)) +
         u16(entry.local_method.value_or(entry.method)) + u32(0) + u32(sizes.checksum) +
         u32(entry.zip64 ? 0xffffffff : sizes.compressed_size) + u32(entry.zip64 ? 0xffffffff : size) +
         u16(name.size()) + u16(extra.size()) + name + extra;
}

std::string directory_header(const ZipWriterEntry& entry, std::uint64_t offset) {
  const EntrySizes sizes = sizes_of(entry);
  const std::uint64_t local = entry.local_offset.value_or(offset);
  const std::string extra = entry.zip64 ? zip64_extra({sizes.size, sizes.compressed_size, local}) : "";
  return "PK\1\2" + u16(20) + u16(20) + u16(entry.flags) + u16(entry.method) + u32(0) + u32(sizes.checksum) +
         u32(entry.zip64 ? 0xffffffff : sizes.compressed_size) + u32(entry.zip64 ? 0xffffffff : sizes.size) +
         u16(entry.name.size()) + u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) +
         u32(entry.zip64 ? 0xffffffff : local) + entry.name + extra;
}

}  // namespace

std::string zip_bytes(const std::vector<ZipWriterEntry>& entries, const ZipWriterOptions& options) {
  std::string bytes = options.prefix, directory;
  for (const ZipWriterEntry& entry : entries) {
    directory += directory_header(entry, bytes.size());
    bytes += local_header(entry) + entry.data;
  }
  const auto count = static_cast<std::uint64_t>(static_cast<std::int64_t>(entries.size()) + options.entries_more);
  const auto offset =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes.size()) + options.directory_offset_more);
  const auto size =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(directory.size()) + options.directory_size_more);
  bytes += directory;
  if (options.zip64) {
    const std::uint64_t record = bytes.size();
    bytes +=
        "PK\6\6" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(count) + u64(count) + u64(size) + u64(offset);
    bytes += "PK\6\7" + u32(0) + u64(record) + u32(1);
    bytes += "PK\5\6" + u16(0xffff) + u16(0xffff) + u16(0xffff) + u16(0xffff) + u32(0xffffffff) + u32(0xffffffff);
  } else {
    bytes += "PK\5\6" + u16(0) + u16(0) + u16(count) + u16(count) + u32(size) + u32(offset);
  }
  return bytes + u16(options.comment.size()) + options.comment;
}

std::string deflated(const std::string& text) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK) throw std::runtime_error("zlib");
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::uint32_t zip_checksum(const std::string& text) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size())));
}

}  // namespace encdec
