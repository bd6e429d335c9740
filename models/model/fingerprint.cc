#include "encdec/models/model/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/engine/key_value_cache.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/marian_files.h"
#include "encdec/models/tokenizer/load_tokenizer.h"

namespace encdec {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // number of bytes of a tensor to read at a time
constexpr std::size_t kMaxSettingsBytes = std::size_t{1} << 28;

void add_tensor(ContentHasher& hasher, const WeightStore& store, const Tensor& tensor) {
  hasher.add_text(to_string(tensor.type()));
  hasher.add_number(tensor.shape().dims().size());
  for (const Dim dim : tensor.shape().dims()) hasher.add_number(static_cast<std::uint64_t>(dim));
  std::vector<std::byte> chunk(std::min(kChunkBytes, tensor.bytes()));
  for (std::size_t first = 0; first < tensor.bytes(); first += kChunkBytes) {
    const std::size_t count = std::min(kChunkBytes, tensor.bytes() - first);
    store.read({tensor.raw() + first, count}, chunk.data());
    hasher.add({chunk.data(), count});
  }
}

// Returns whether a file with this extension may contain settings or a vocabulary.
bool is_of_settings(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 6> kExtensions = {".json", ".txt", ".model", ".spm", ".yml", ".bpe"};
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

// Returns the files of settings and vocabularies in a folder and its direct subfolders. Skips hidden files and folders.
std::set<std::filesystem::path> setting_files(const std::filesystem::path& folder) {
  std::set<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    if (is_hidden || entry.depth() > 0) entry.disable_recursion_pending();
    if (!is_hidden && is_of_settings(entry->path()) && entry->is_regular_file(error)) files.insert(entry->path());
  }
  if (error) refuse(folder.string(), "{}", error.message());
  return files;
}

}  // namespace

std::string to_string(const ContentHash& hash) {
  std::string text;
  for (const std::byte byte : hash) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

ContentHash content_of(const WeightStore& store) {
  ContentHasher hasher;
  for (const auto& [name, tensor] : store.tensors()) {
    // Add the tensor, then its scales, which a quantized tensor may have in another tensor.
    hasher.add_text(name);
    add_tensor(hasher, store, tensor);
    const Tensor* scale = store.find_scale(name);
    hasher.add_number(scale != nullptr ? 1 : 0);
    if (scale != nullptr) add_tensor(hasher, store, *scale);
  }
  return hasher.hash();
}

void add_kernels(ContentHasher& hasher, const PackOptions& pack) {
  hasher.add_text(ENCDEC_VERSION);
  // Typical input widths. The description of the backend includes whether rows are independent at these widths.
  constexpr Dim kWidths[] = {512, 2048};
  hasher.add_text(backend::description(pack.backend, pack.precision, kWidths));
  hasher.add_text(backend::onednn_version());
  hasher.add_text(kernels::vector_target());
  hasher.add_text(to_string(pack.precision));
  hasher.add_number(attends_in_bfloat16(pack.precision) ? 1 : 0);
}

std::string fingerprint(const std::filesystem::path& folder, const Checkpoint& checkpoint, const PackOptions& pack) {
  std::set<std::filesystem::path> files = setting_files(folder);
  for (const std::string& name : tokenizer_files(folder)) files.insert(folder / name);
  if (checkpoint.settings.form == CheckpointSettings::Form::marian) {
    if (const auto shortlist = MarianFiles(folder).shortlist()) files.insert(*shortlist);
  }
  // Hash the kernels and the weights, then each file by its name and content.
  ContentHasher hasher;
  add_kernels(hasher, pack);
  hasher.add(content_of(*checkpoint.weights));
  for (const std::filesystem::path& path : files) {
    hasher.add_text(path.lexically_relative(folder).generic_string());
    hasher.add_text(read_text_file(path, kMaxSettingsBytes));
  }
  return to_string(hasher.hash());
}

}  // namespace encdec
