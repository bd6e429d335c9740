#include "encdec/models/packed_weights_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "encdec/engine/backend/backends.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/new_file.h"
#include "encdec/models/checkpoint/refuse.h"

namespace encdec {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;  // are read at once

void add_tensor(ContentHasher& hasher, const WeightStore& store, const Tensor& tensor) {
  hasher.add_text(to_string(tensor.type()));
  hasher.add_number(tensor.shape().dims().size());
  for (const Dim dim : tensor.shape().dims()) hasher.add_number(static_cast<std::uint64_t>(dim));
  std::vector<std::byte> piece(std::min(kPieceBytes, tensor.bytes()));
  for (std::size_t first = 0; first < tensor.bytes(); first += kPieceBytes) {
    const std::size_t count = std::min(kPieceBytes, tensor.bytes() - first);
    store.read({tensor.raw() + first, count}, piece.data());
    hasher.add({piece.data(), count});
  }
}

std::string hex(const ContentHash& hash) {
  std::string text;
  for (const std::byte byte : hash) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

}  // namespace

ContentHash content_of(const WeightStore& store) {
  ContentHasher hasher;
  for (const auto& [name, tensor] : store.tensors()) {
    hasher.add_text(name);
    add_tensor(hasher, store, tensor);
    const Tensor* scale = store.find_scale(name);
    hasher.add_number(scale != nullptr ? 1 : 0);
    if (scale != nullptr) add_tensor(hasher, store, *scale);
  }
  return hasher.hash();
}

ContentHash packed_weights_key(const ContentHash& content, const PackOptions& pack) {
  ContentHasher hasher;
  hasher.add_number(kPackedWeightsVersion);
  hasher.add_text(ENCDEC_VERSION);
  // What chooses kernels, and so the order of weights.
  hasher.add_text(backend::best_backend(pack.precision).name);
  hasher.add_text(backend::onednn_version());
  hasher.add_text(kernels::vector_target());
  hasher.add_text(to_string(pack.precision));
  hasher.add_number(static_cast<std::uint64_t>(pack.threads));
  hasher.add(content);
  return hasher.hash();
}

PackedWeightsCache::PackedWeightsCache(const std::filesystem::path& folder, const ContentHash& key)
    : path_(folder / (hex(key) + ".encdec-packed")), key_(key) {
  try {
    if (!is_there(path_)) return;
    file_ = MappedFile::open(path_);
    for (PackedEntry& entry : read_packed_weights(file_->bytes(), key, path_.string())) {
      std::string name = entry.name;
      entries_.emplace(std::move(name), std::move(entry));
    }
  } catch (const FileError& failure) {
    notes_.push_back(fmt::format("{}; not used", failure.what()));
    file_ = nullptr;
  }
}

Tensor PackedWeightsCache::find(std::string_view name, std::size_t bytes) {
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.bytes != bytes || has(name)) return {};
  const PackedEntry& entry = found->second;
  const auto stored = file_->bytes().subspan(entry.offset, entry.bytes);
  if (content_hash(stored) != entry.hash) {
    notes_.push_back(
        fmt::format("{}: a matrix is damaged, expected what its hash stands for; not used", path_.string()));
    return {};
  }
  ++found_;
  matrices_.push_back({std::string(name), Tensor(const_cast<std::byte*>(stored.data()), DataType::uint8,
                                                 {static_cast<Dim>(bytes)}, file_)});
  return matrices_.back().bytes;
}

void PackedWeightsCache::keep(std::string_view name, const Tensor& packed) {
  if (finished_ || name.size() > kMaxPackedName || has(name)) return;
  ++packed_;
  matrices_.push_back({std::string(name), packed});
}

void PackedWeightsCache::finish() {
  file_ = nullptr;
  entries_.clear();
  finished_ = true;
  if (packed_ > 0) {
    try {
      write();
    } catch (const FileError& failure) {
      notes_.push_back(fmt::format("{}; weights are packed at every load", failure.what()));
    }
  }
  matrices_.clear();
}

void PackedWeightsCache::write() const {
  const std::filesystem::path folder = path_.parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) refuse(folder.string(), "cannot make this folder: {}", std::strerror(error.value()));
  std::vector<PackedEntry> entries;
  for (const Matrix& matrix : matrices_) {
    const std::span<const std::byte> bytes(matrix.bytes.raw(), matrix.bytes.bytes());
    entries.push_back({.name = matrix.name, .bytes = bytes.size(), .hash = content_hash(bytes)});
  }
  const std::string head = packed_weights_head(key_, entries);
  NewFile file(path_, NewFile::Kind::cache, path_.string());
  file.write(head);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    file.write_at(entries[i].offset, {matrices_[i].bytes.raw(), matrices_[i].bytes.bytes()});
  }
  file.commit();
}

}  // namespace encdec
