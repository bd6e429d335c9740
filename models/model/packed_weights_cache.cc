#include "encdec/models/model/packed_weights_cache.h"

#include <fmt/format.h>

#include <cstring>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/model/fingerprint.h"

namespace encdec {
namespace {

// Maximum time to wait for the lock of the folder.
constexpr auto kPatience = std::chrono::minutes(1);

}  // namespace
ContentHash packed_weights_key(const ContentHash& content, const PackOptions& pack) {
  ContentHasher hasher;
  hasher.add_number(kPackedWeightsVersion);
  add_kernels(hasher, pack);
  hasher.add_number(static_cast<std::uint64_t>(pack.threads));
  hasher.add(content);
  return hasher.hash();
}

PackedWeightsCache::PackedWeightsCache(const std::filesystem::path& folder, const ContentHash& key)
    : path_(folder / (to_string(key) + ".encdec-packed")), key_(key) {
  std::string problem = open();
  if (file_ == nullptr) {
    // Lock the folder. Then try to open the file again, which another process may have written meanwhile.
    std::error_code ignored;  // write() reports the error
    std::filesystem::create_directories(folder, ignored);
    lock_.emplace(folder, kPatience);
    if (lock_->gave_up()) {
      notes_.push_back(fmt::format(
          "{}: another process has held the lock of this folder for a minute; packing without waiting for it",
          path_.string()));
    }
    problem = open();
  }
  if (!problem.empty()) notes_.push_back(std::move(problem));
  if (file_ != nullptr) lock_.reset();
}

std::string PackedWeightsCache::open() {
  try {
    if (!file_exists(path_)) return "";
    file_ = MappedFile::open(path_);
    for (PackedEntry& entry : read_packed_weights(file_->bytes(), key_, path_.string())) {
      std::string name = entry.name;
      entries_.emplace(std::move(name), std::move(entry));
    }
    return "";
  } catch (const FileError& failure) {
    file_ = nullptr;
    return fmt::format("{}; not used", failure.what());
  }
}

Tensor PackedWeightsCache::find(std::string_view name, std::size_t bytes) {
  // Return the matrix of each name only once. A second matrix of the same name is packed again.
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.bytes != bytes || has(name)) return {};
  const PackedEntry& entry = found->second;
  const auto stored = file_->bytes().subspan(entry.offset, entry.bytes);
  if (content_hash(stored) != entry.hash) {
    notes_.push_back(
        fmt::format("{}: a matrix is damaged, expected bytes that match its hash; not used", path_.string()));
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
      has_written_ = true;
    } catch (const FileError& failure) {
      notes_.push_back(fmt::format("{}; weights are packed at every load", failure.what()));
    }
  }
  matrices_.clear();
  lock_.reset();
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
  // packed_weights_head() also sets the offsets of `entries`.
  const std::string head = packed_weights_head(key_, entries);
  NewFile file(path_, NewFile::Kind::cache, path_.string());
  file.write(head);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    file.write_at(entries[i].offset, {matrices_[i].bytes.raw(), matrices_[i].bytes.bytes()});
  }
  file.commit();
}

}  // namespace encdec
