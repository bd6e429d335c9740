#include "encdec/models/checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/safetensors_header.h"
#include "encdec/models/checkpoint/shards.h"

namespace encdec {
namespace {

// The format is little-endian, and tensors are views of the file.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kLengthBytes = 8;

std::size_t length_of_header(std::span<const std::byte> bytes, const std::string& file) {
  refuse_git_lfs_pointer(bytes, file);
  if (bytes.size() < kLengthBytes) {
    throw FileError(fmt::format("{}: {} bytes, expected a header of at least {}", file, bytes.size(), kLengthBytes));
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  const auto limit = std::min<std::uint64_t>(kMaxHeaderBytes, bytes.size() - kLengthBytes);
  if (length > limit) {
    throw FileError(fmt::format("{}: a header of {} bytes, expected at most {} in a file of {}", file, length, limit,
                                bytes.size()));
  }
  return static_cast<std::size_t>(length);
}

void read_file(const std::filesystem::path& path, WeightStore& store) {
  const auto file = MappedFile::open(path);
  parse_safetensors(file->bytes(), file, path.string(), store);
  store.add_memory(file);
}

}  // namespace

void parse_safetensors(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                       const std::string& file, WeightStore& store) {
  const std::size_t header_bytes = length_of_header(bytes, file);
  const auto header = as_text(bytes.subspan(kLengthBytes, header_bytes));
  const auto data = bytes.subspan(kLengthBytes + header_bytes);
  for (auto& [name, type, shape, begin, end] : read_safetensors_header(header, data.size(), file)) {
    // Tensors of a store are read-only: the mapping is too.
    auto* values = const_cast<std::byte*>(data.data() + begin);
    store.add(std::move(name), Tensor(values, type, shape, owner));
  }
}

std::shared_ptr<const WeightStore> read_safetensors(const std::filesystem::path& folder_or_file) {
  return read_weights(find_weights(folder_or_file, "model.safetensors"), read_file);
}

}  // namespace encdec
