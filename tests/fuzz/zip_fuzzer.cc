// Opens arbitrary bytes as a ZipArchive. If it opens, reads every byte of every entry.
#include <cstdint>
#include <vector>

#include "encdec/models/checkpoint/zip_archive.h"
#include "tests/fuzz/require.h"

namespace encdec {
namespace {

void read(const ZipArchive& archive, const ZipEntry& entry, std::span<const std::byte> file) {
  require(archive.find(entry.name) == &entry, "entries are found by their names");
  require(entry.offset + entry.compressed_size <= file.size(), "data lies inside the file");
  const bool is_read = reads_or_refuses("x.zip", [&] {
    const FileBytes content = archive.read(entry);
    require(content.bytes.size() == entry.size, "content is as large as the directory says");
    require(entry.size <= 1032 * entry.compressed_size, "content grows as far as deflate can");
    unsigned sum = 0;
    for (const std::byte byte : content.bytes) sum += std::to_integer<unsigned>(byte);
    require(sum <= 255 * content.bytes.size(), "bytes can be read");
  });
  require(is_read || entry.method == ZipEntry::Method::deflated, "what is stored can be read");
}

}  // namespace
}  // namespace encdec

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace encdec;
  const auto bytes = std::as_bytes(std::span(data, size));
  reads_or_refuses("x.zip", [&] {
    const ZipArchive archive({bytes, nullptr, "x.zip"});
    std::size_t stored = 0;
    for (const ZipEntry& entry : archive.entries()) {
      read(archive, entry, bytes);
      stored += entry.compressed_size;
    }
    require(stored <= size, "entries do not overlap");
  });
  return 0;
}
