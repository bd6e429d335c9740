#include "encdec/models/checkpoint/pytorch.h"

#include <fmt/format.h>

#include <algorithm>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/torch_archive.h"
#include "encdec/models/checkpoint/torch_legacy.h"
#include "encdec/models/checkpoint/torch_tensors.h"

namespace encdec {
namespace {

// Copies of tensors with strides may take as much memory as the file and this.
constexpr std::uint64_t kFreeCopyBytes = 1u << 20;

TorchFile open_torch_file(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                          const std::string& file) {
  if (is_torch_legacy(bytes)) return open_torch_legacy(bytes, owner, file);
  const std::string_view head = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 512)));
  if (head.size() > 262 && head.substr(257, 5) == "ustar") {
    throw FileError(
        fmt::format("{}: in the tar format of torch before 0.1.10, expected a later one: loading and saving it with "
                    "a later torch makes one",
                    file));
  }
  return open_torch_archive(bytes, owner, file);
}

void check_names(std::vector<NamedTensor>& tensors, const WeightStore& store, const std::string& file) {
  std::ranges::sort(tensors, {}, &NamedTensor::name);
  const auto twice = std::ranges::adjacent_find(tensors, {}, &NamedTensor::name);
  if (twice != tensors.end()) {
    throw FileError(fmt::format("{}: tensor '{}' is there twice, expected it once", file, printable(twice->name)));
  }
  for (const NamedTensor& tensor : tensors) {
    if (store.find(tensor.name) == nullptr) continue;
    throw FileError(
        fmt::format("{}: tensor '{}' is in another file too, expected it once", file, printable(tensor.name)));
  }
}

}  // namespace

void parse_pytorch(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file,
                   WeightStore& store, std::vector<std::string>* notes) {
  const TorchFile torch_file = open_torch_file(bytes, owner, file);
  TorchTensors found = read_torch_tensors(torch_file, bytes.size() + kFreeCopyBytes);
  check_names(found.tensors, store, file);
  for (auto& [name, tensor] : found.tensors) store.add(std::move(name), std::move(tensor));
  if (notes != nullptr && found.others > 0) {
    notes->push_back(fmt::format("{}: {} entries that are no tensors are ignored, the first is '{}'", file,
                                 found.others, found.first_other));
  }
}

std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* notes) {
  const ReadWeights read_file = [notes](const std::filesystem::path& path, WeightStore& store) {
    const auto file = MappedFile::open(path);
    parse_pytorch(file->bytes(), file, path.string(), store, notes);
    store.add_memory(file);
  };
  return read_weights(find_weights(folder_or_file, "pytorch_model.bin"), read_file);
}

}  // namespace encdec
