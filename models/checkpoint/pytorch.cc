#include "encdec/models/checkpoint/pytorch.h"

#include <array>
#include <optional>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint_format.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/torch_file.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxTorchRank = 32;  // torch allows 64
// Large checkpoints have about 100,000 tensors in a hundred files. A hostile file can refer to one tensor many times in
// few bytes, but each reference takes about 400 bytes of memory.
constexpr std::size_t kMaxTensors = 1u << 17;
// Tensors that are not row-major are copied. The copies may take at most this number of bytes more than the file.
constexpr std::uint64_t kFreeCopyBytes = 1u << 20;
// Keys under which training programs store the dict of tensors, in order of preference.
constexpr std::array<std::string_view, 4> kNested = {"state_dict", "model", "module", "model_state_dict"};

// Makes tensors from their descriptions in the pickle.
class TensorReader {
 public:
  explicit TensorReader(const TorchFile& file)
      : file_(file), pickle_(file.pickle), copy_bytes_(file.source.bytes.size() + kFreeCopyBytes) {}

  // Returns the tensor that `object` describes, or nullopt if `object` is not a tensor. `name` is for error messages.
  std::optional<Tensor> read(Pickle::Index object, std::string_view name) {
    where_ = fmt::format("{}: tensor '{}'", file_.source.name, printable(name));
    // Unwrap parameters. A parameter contains a tensor, or a wrapper that contains a tensor and attributes.
    for (int depth = 0; depth < 4; ++depth) {
      const auto* call = pickle_.get<Pickle::Call>(object);
      if (call == nullptr) break;
      const auto builder = torch_builder(*pickle_.get<Pickle::Global>(call->function));
      if (!builder) return std::nullopt;
      const auto& arguments = pickle_.get<Pickle::Tuple>(call->arguments)->items;
      if (is_plain(*builder)) return rebuild(arguments, *builder);
      if (*builder == TorchBuilder::with_attributes) return rebuild_wrapped(arguments);
      object = argument(arguments, 0);
      if (pickle_.get<Pickle::Call>(object) == nullptr)
        refuse(where_, "a parameter of something else, expected a tensor");
    }
    if (pickle_.get<Pickle::Call>(object) != nullptr) refuse(where_, "parameters of parameters, expected a tensor");
    return std::nullopt;
  }

 private:
  using Items = std::vector<Pickle::Index>;

  static bool is_plain(TorchBuilder builder) {
    return builder == TorchBuilder::tensor || builder == TorchBuilder::typed_tensor;
  }

  Pickle::Index argument(const Items& arguments, std::size_t index) const {
    if (index >= arguments.size()) {
      refuse(where_, "made of {} arguments, expected at least {}", arguments.size(), index + 1);
    }
    return arguments[index];
  }

  std::uint64_t size(Pickle::Index object, std::string_view what) const {
    const auto* value = pickle_.get<std::int64_t>(object);
    if (value == nullptr || *value < 0) refuse(where_, "{} is not a size, expected an integer of at least 0", what);
    return static_cast<std::uint64_t>(*value);
  }

  std::vector<std::uint64_t> sizes(Pickle::Index object, std::string_view what) const {
    // Some files have torch.Size((2, 3)) in place of the tuple.
    if (const auto* call = pickle_.get<Pickle::Call>(object)) {
      const auto* global = pickle_.get<Pickle::Global>(call->function);
      const auto& arguments = pickle_.get<Pickle::Tuple>(call->arguments)->items;
      if (global->name == "Size" && arguments.size() == 1) object = arguments[0];
    }
    const auto* tuple = pickle_.get<Pickle::Tuple>(object);
    if (tuple == nullptr || tuple->items.size() > kMaxTorchRank) {
      refuse(where_, "{} is not a tuple of at most {} sizes", what, kMaxTorchRank);
    }
    std::vector<std::uint64_t> values;
    for (const Pickle::Index item : tuple->items) values.push_back(size(item, what));
    return values;
  }

  struct Storage {
    const StoredType* type;
    std::span<const std::byte> bytes;
  };

  // Returns the storage that a persistent id refers to. Throws FileError if the id gives a different size.
  Storage read_storage(Pickle::Index object) const {
    const TorchStorageId id = read_storage_id(pickle_, object, where_);
    const auto found = file_.storages.find(id.key);
    if (found == file_.storages.end()) {
      refuse(where_, "storage '{}' is missing, expected it in the file", printable(id.key));
    }
    if (id.bytes != found->second.size()) {
      refuse(where_, "a storage of {} {} elements in {} bytes, expected {} bytes for each", id.elements, id.type->torch,
             found->second.size(), id.type->bytes());
    }
    return {id.type, found->second};
  }

  // Makes a tensor from (storage, offset, sizes, strides, requires_grad, hooks[, dtype, ...]).
  Tensor rebuild(const Items& arguments, TorchBuilder builder) {
    const Storage storage = read_storage(argument(arguments, 0));
    const StoredType* type = storage.type;
    if (builder == TorchBuilder::typed_tensor) {
      const auto* global = pickle_.get<Pickle::Global>(argument(arguments, 6));
      type = global == nullptr ? nullptr : dtype_type(*global);
      if (type == nullptr) refuse(where_, "of an unknown dtype, expected one of torch's");
    } else if (type->torch == kUntypedStorage) {
      refuse(where_, "a storage without type, expected one of torch's types");
    }
    const auto dims = sizes(argument(arguments, 2), "its shape"), strides = sizes(argument(arguments, 3), "its stride");
    const StridedLayout layout{dims, strides, size(argument(arguments, 1), "its offset")};
    check(layout, *type, storage.bytes.size() / type->bytes());
    return stored_tensor(storage.bytes, *type, layout, file_.source.owner);
  }

  // Throws FileError unless the tensor lies within its storage. If the tensor must be copied, subtracts its size from
  // copy_bytes_, and throws FileError if copy_bytes_ is too small.
  void check(const StridedLayout& layout, const StoredType& type, std::uint64_t available) {
    const auto described = [&] {
      return fmt::format("{} of shape [{}] with strides [{}] from element {}", type.torch,
                         fmt::join(layout.sizes, ", "), fmt::join(layout.strides, ", "), layout.offset);
    };
    if (layout.sizes.size() != layout.strides.size()) refuse(where_, "{}, expected one stride per size", described());
    const auto end = extent(layout);
    if (!checked_elements(layout.sizes) || !end || *end > available) {
      refuse(where_, "{}, expected it inside a storage of {} elements", described(), available);
    }
    if (is_row_major(layout)) return;
    const auto bytes = stored_bytes(type, layout.sizes);
    if (!bytes || *bytes > copy_bytes_) {
      refuse(where_, "{}, expected copies that are not much larger than the file", described());
    }
    copy_bytes_ -= *bytes;
  }

  // Makes a tensor from (builder, class, arguments, attributes). Ignores the attributes.
  std::optional<Tensor> rebuild_wrapped(const Items& arguments) {
    const auto* global = pickle_.get<Pickle::Global>(argument(arguments, 0));
    const auto* inner = pickle_.get<Pickle::Tuple>(argument(arguments, 2));
    const auto builder = global == nullptr ? std::nullopt : torch_builder(*global);
    if (!builder || !is_plain(*builder) || inner == nullptr)
      refuse(where_, "attributes of something else, expected a tensor");
    return rebuild(inner->items, *builder);
  }

  const TorchFile& file_;
  const Pickle& pickle_;
  std::uint64_t copy_bytes_;  // bytes that may still be copied
  std::string where_;
};

struct Found {
  std::shared_ptr<WeightStore> tensors;
  std::size_t others = 0;   // number of entries that are not tensors
  std::string first_other;  // printable name of the first entry that is not a tensor
};

// Reads the tensors of a dict, and counts the entries that are not tensors.
Found read_dict(const TorchFile& file, const Pickle::Dict& dict, TensorReader& reader) {
  Found found;
  found.tensors = std::make_shared<WeightStore>(file.source.name);
  for (const auto& [key, value] : dict.items) {
    const auto* name = file.pickle.get<Pickle::Text>(key);
    if (auto tensor = name == nullptr ? std::nullopt : reader.read(value, name->text)) {
      if (found.tensors->find(name->text) != nullptr) {
        refuse(file.source.name, "tensor '{}' is there twice, expected it once", printable(name->text));
      }
      if (name->text.size() > kMaxTorchNameBytes) {
        refuse(file.source.name, "tensor '{}': a name of {} bytes, expected at most {}", printable(name->text),
               name->text.size(), kMaxTorchNameBytes);
      }
      found.tensors->add(std::string(name->text), *std::move(tensor));
      if (found.tensors->tensors().size() > kMaxTensors) refuse(file.source.name, "more than {} tensors", kMaxTensors);
    } else if (found.others++ == 0) {
      found.first_other = name == nullptr ? "?" : printable(name->text);
    }
  }
  return found;
}

// Tries the keys of kNested in turn. Returns the first dict that is found; null if there is none.
const Pickle::Dict* nested_dict(const Pickle& pickle, const Pickle::Dict& dict) {
  for (const std::string_view wanted : kNested) {
    for (const auto& [key, value] : dict.items) {
      const auto* name = pickle.get<Pickle::Text>(key);
      const auto* inner = pickle.get<Pickle::Dict>(value);
      if (name != nullptr && inner != nullptr && name->text == wanted) return inner;
    }
  }
  return nullptr;
}

// Returns the tensors of the outermost dict that contains tensors.
Found find_tensors(const TorchFile& file) {
  const Pickle& pickle = file.pickle;
  TensorReader reader(file);
  const auto* dict = pickle.get<Pickle::Dict>(pickle.root());
  for (int depth = 0; dict != nullptr && depth < 3; ++depth) {
    auto found = read_dict(file, *dict, reader);
    if (!found.tensors->tensors().empty()) return found;
    dict = nested_dict(pickle, *dict);
  }
  refuse(file.source.name, "no tensors, expected a dict of them, or one inside '{}'", fmt::join(kNested, "' or '"));
}

}  // namespace

std::shared_ptr<WeightStore> parse_pytorch(const FileBytes& file, std::vector<std::string>* notes) {
  const Found found = find_tensors(open_torch_file(file));
  if (notes != nullptr && found.others > 0) {
    notes->push_back(fmt::format("{}: {} entries that are not tensors are ignored, the first is '{}'", file.name,
                                 found.others, found.first_other));
  }
  return found.tensors;
}

std::shared_ptr<const WeightStore> read_pytorch(const std::filesystem::path& folder_or_file,
                                                std::vector<std::string>* notes) {
  return read_weights(find_weights(folder_or_file, "pytorch_model.bin"),
                      [notes](const FileBytes& file) { return parse_pytorch(file, notes); });
}

FormatRow pytorch_format() {
  return {.format = CheckpointFormat::pytorch,
          .files = "pytorch_model.bin (or one of their .index.json)",
          .find = [](const CheckpointFolder& folder) { return folder.with_weights("pytorch_model.bin"); },
          .open = [](const std::filesystem::path& folder,
                     Checkpoint& checkpoint) { checkpoint.weights = read_pytorch(folder, &checkpoint.notes); }};
}

}  // namespace encdec
