#include "encdec/models/checkpoint/torch_tensors.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "encdec/engine/checked_math.h"
#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/torch_globals.h"

namespace encdec {
namespace {

using Index = Pickle::Index;

constexpr std::size_t kMaxTorchRank = 32;  // torch takes 64
constexpr std::size_t kMaxTensors = 1u << 20;
constexpr std::array<std::string_view, 4> kNested = {"state_dict", "model", "module", "model_state_dict"};

// Makes tensors of what the pickle says about them.
class TensorReader {
 public:
  TensorReader(const TorchFile& file, std::uint64_t copy_bytes)
      : file_(file), pickle_(file.pickle), copy_bytes_(copy_bytes) {}

  // Nullopt if the object is no tensor. `name` is for messages.
  std::optional<Tensor> read(Index object, std::string_view name) {
    where_ = fmt::format("{}: tensor '{}'", file_.name, printable(name));
    // Parameters wrap tensors, and attributes wrap both.
    for (int depth = 0; depth < 4; ++depth) {
      const auto* call = pickle_.get<Pickle::Call>(object);
      if (call == nullptr) break;
      const auto builder = torch_builder(*pickle_.get<Pickle::Global>(call->function));
      if (!builder) return std::nullopt;
      const auto& arguments = pickle_.get<Pickle::Tuple>(call->arguments)->items;
      if (*builder == TorchBuilder::tensor || *builder == TorchBuilder::typed_tensor)
        return rebuild(arguments, *builder);
      if (*builder == TorchBuilder::with_attributes) return rebuild_wrapped(arguments);
      object = argument(arguments, 0);
      if (pickle_.get<Pickle::Call>(object) == nullptr) fail("a parameter of something else, expected a tensor");
    }
    if (pickle_.get<Pickle::Call>(object) != nullptr) fail("parameters of parameters, expected a tensor");
    return std::nullopt;
  }

 private:
  using Items = std::vector<Index>;

  [[noreturn]] void fail(std::string_view found) const { throw FileError(fmt::format("{}: {}", where_, found)); }

  Index argument(const Items& arguments, std::size_t index) const {
    if (index >= arguments.size()) {
      fail(fmt::format("made of {} arguments, expected at least {}", arguments.size(), index + 1));
    }
    return arguments[index];
  }

  std::uint64_t size(Index object, std::string_view what) const {
    const auto* value = pickle_.get<std::int64_t>(object);
    if (value == nullptr || *value < 0) fail(fmt::format("{} is no size, expected an integer of at least 0", what));
    return static_cast<std::uint64_t>(*value);
  }

  std::vector<std::uint64_t> sizes(Index object, std::string_view what) const {
    // torch.Size((2, 3)) in some files.
    if (const auto* call = pickle_.get<Pickle::Call>(object)) {
      const auto* global = pickle_.get<Pickle::Global>(call->function);
      const auto& arguments = pickle_.get<Pickle::Tuple>(call->arguments)->items;
      if (global->name == "Size" && arguments.size() == 1) object = arguments[0];
    }
    const auto* tuple = pickle_.get<Pickle::Tuple>(object);
    if (tuple == nullptr || tuple->items.size() > kMaxTorchRank) {
      fail(fmt::format("{} is no tuple of at most {} sizes", what, kMaxTorchRank));
    }
    std::vector<std::uint64_t> values;
    for (const Index item : tuple->items) values.push_back(size(item, what));
    return values;
  }

  struct Storage {
    const StoredType* type;
    std::span<const std::byte> bytes;
  };

  Storage read_storage(Index object) const {
    const TorchStorageId id = read_storage_id(pickle_, object, where_);
    const auto found = file_.storages.find(id.key);
    if (found == file_.storages.end()) {
      fail(fmt::format("storage '{}' is missing, expected it in the file", printable(id.key)));
    }
    if (id.bytes != found->second.size()) {
      fail(fmt::format("a storage of {} {} elements in {} bytes, expected {} bytes for each", id.elements,
                       id.type->name, found->second.size(), id.type->bytes));
    }
    return {id.type, found->second};
  }

  // (storage, offset, sizes, strides, requires_grad, hooks[, dtype, ...])
  Tensor rebuild(const Items& arguments, TorchBuilder builder) {
    const Storage storage = read_storage(argument(arguments, 0));
    const StoredType* type = storage.type;
    if (builder == TorchBuilder::typed_tensor) {
      const auto* global = pickle_.get<Pickle::Global>(argument(arguments, 6));
      type = global == nullptr ? nullptr : dtype_type(*global);
      if (type == nullptr) fail("of an unknown dtype, expected one of torch's");
    } else if (type->name == kUntypedStorage) {
      fail("a storage without type, expected one of torch's types");
    }
    const auto dims = sizes(argument(arguments, 2), "its shape"), strides = sizes(argument(arguments, 3), "its stride");
    const StridedLayout layout{dims, strides, size(argument(arguments, 1), "its offset")};
    check(layout, *type, storage.bytes.size() / type->bytes);
    return stored_tensor(storage.bytes, *type, layout, file_.owner);
  }

  void check(const StridedLayout& layout, const StoredType& type, std::uint64_t available) {
    const auto described = [&] {
      return fmt::format("{} of shape [{}] with strides [{}] from element {}", type.name, fmt::join(layout.sizes, ", "),
                         fmt::join(layout.strides, ", "), layout.offset);
    };
    if (layout.sizes.size() != layout.strides.size()) fail(fmt::format("{}, expected a stride a size", described()));
    const auto elements = checked_elements(layout.sizes);
    const auto end = extent(layout);
    if (!elements || !end || *end > available) {
      fail(fmt::format("{}, expected it inside a storage of {} elements", described(), available));
    }
    if (is_row_major(layout)) return;
    const auto bytes = checked_multiply(*elements, type.bytes);
    if (!bytes || *bytes > copy_bytes_) {
      fail(fmt::format("{}, expected copies that are not much larger than the file", described()));
    }
    copy_bytes_ -= *bytes;
  }

  // (builder, class, arguments, attributes)
  std::optional<Tensor> rebuild_wrapped(const Items& arguments) {
    const auto* global = pickle_.get<Pickle::Global>(argument(arguments, 0));
    const auto* inner = pickle_.get<Pickle::Tuple>(argument(arguments, 2));
    const auto builder = global == nullptr ? std::nullopt : torch_builder(*global);
    const bool is_plain = builder == TorchBuilder::tensor || builder == TorchBuilder::typed_tensor;
    if (!is_plain || inner == nullptr) fail("attributes of something else, expected a tensor");
    return rebuild(inner->items, *builder);
  }

  const TorchFile& file_;
  const Pickle& pickle_;
  std::uint64_t copy_bytes_;  // that copies may still take
  std::string where_;
};

// The tensors of one dict.
TorchTensors read_dict(const TorchFile& file, const Pickle::Dict& dict, TensorReader& reader) {
  TorchTensors found;
  for (const auto& [key, value] : dict.items) {
    const auto* name = file.pickle.get<Pickle::Text>(key);
    if (auto tensor = name == nullptr ? std::nullopt : reader.read(value, name->text)) {
      if (name->text.size() > kMaxTorchNameBytes) {
        throw FileError(fmt::format("{}: tensor '{}': a name of {} bytes, expected at most {}", file.name,
                                    printable(name->text), name->text.size(), kMaxTorchNameBytes));
      }
      found.tensors.push_back({std::string(name->text), *std::move(tensor)});
      if (found.tensors.size() > kMaxTensors) {
        throw FileError(fmt::format("{}: more than {} tensors", file.name, kMaxTensors));
      }
    } else if (found.others++ == 0) {
      found.first_other = name == nullptr ? "?" : printable(name->text);
    }
  }
  return found;
}

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

}  // namespace

TorchTensors read_torch_tensors(const TorchFile& file, std::uint64_t copy_bytes) {
  const Pickle& pickle = file.pickle;
  TensorReader reader(file, copy_bytes);
  const auto* dict = pickle.get<Pickle::Dict>(pickle.root());
  for (int depth = 0; dict != nullptr && depth < 3; ++depth) {
    auto found = read_dict(file, *dict, reader);
    if (!found.tensors.empty()) return found;
    dict = nested_dict(pickle, *dict);
  }
  throw FileError(fmt::format("{}: no tensors, expected a dict of them, or one inside '{}'", file.name,
                              fmt::join(kNested, "' or '")));
}

}  // namespace encdec
