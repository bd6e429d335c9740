#include "safetensors_file.h"

#include <bit>
#include <nlohmann/json.hpp>
#include <span>

namespace encdec::cli {

// The format is little-endian, and values are written as they lie in memory.
static_assert(std::endian::native == std::endian::little);

SafetensorsFile::SafetensorsFile(const std::string& path, const std::vector<Entry>& entries)
    : file_(path, OutputFile::Unfinished::remove) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t size = 0;
  for (const Entry& entry : entries) {
    offsets_.push_back(size);
    std::uint64_t bytes = sizeof(float);
    for (const std::int64_t dim : entry.shape) bytes *= static_cast<std::uint64_t>(dim);
    header[entry.name] = {{"dtype", "F32"}, {"shape", entry.shape}, {"data_offsets", {size, size + bytes}}};
    size += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // readers that map the file find aligned values

  const std::uint64_t header_bytes = text.size();
  const std::uint64_t data = sizeof(header_bytes) + header_bytes;
  for (std::uint64_t& offset : offsets_) offset += data;
  file_.resize(data + size);
  file_.write_at(0, std::as_bytes(std::span(&header_bytes, 1)));
  file_.write_at(sizeof(header_bytes), std::as_bytes(std::span(text)));
}

void SafetensorsFile::write(std::size_t entry, std::int64_t first, const float* values, std::int64_t count) {
  file_.write_at(offsets_[entry] + static_cast<std::uint64_t>(first) * sizeof(float),
                 std::as_bytes(std::span(values, static_cast<std::size_t>(count))));
}

}  // namespace encdec::cli
