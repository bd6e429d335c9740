#include "encdec/models/checkpoint/pytorch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "encdec/engine/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/pickle.h"
#include "encdec/models/checkpoint/shards.h"
#include "encdec/models/checkpoint/tensor_layout.h"
#include "encdec/models/checkpoint/torch_globals.h"
#include "encdec/models/checkpoint/zip_archive.h"

namespace encdec {
namespace {

using Index = Pickle::Index;

constexpr std::size_t kMaxRank = 32;  // torch takes 64
constexpr std::size_t kMaxTensors = 1u << 20;
// Of names and keys: a pickle can use one long text for many tensors, and each would copy it.
constexpr std::size_t kMaxNameBytes = 1000;
// Copies of tensors with strides may take as much memory as the file and this.
constexpr std::uint64_t kFreeCopyBytes = 1u << 20;
constexpr std::array<std::string_view, 4> kNested = {"state_dict", "model", "module", "model_state_dict"};

void refuse_older_formats(std::span<const std::byte> bytes, const std::string& file) {
  constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14);
  const std::string_view text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 512)));
  constexpr std::string_view kAdvice =
      "expected a zip archive: loading and saving it with torch 1.6 or later makes one";
  if (text.starts_with(kLegacyMagic)) {
    throw FileError(fmt::format("{}: in the format of torch before 1.6, {}", file, kAdvice));
  }
  if (text.size() > 262 && text.substr(257, 5) == "ustar") {
    throw FileError(fmt::format("{}: in the tar format of torch before 0.1.10, {}", file, kAdvice));
  }
}

// The archive of one file: its top folder has any name.
class TorchArchive {
 public:
  TorchArchive(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file)
      : zip_(bytes, owner, file), folder_(find_folder()) {
    if (zip_.find(folder_ + "constants.pkl") != nullptr) {
      throw FileError(
          fmt::format("{}: a TorchScript program, expected the weights of one: torch.save(state_dict)", file));
    }
    if (const ZipEntry* entry = zip_.find(folder_ + "byteorder")) {
      const auto order = as_text(read(*entry).bytes);
      if (order != "little") {
        throw FileError(fmt::format("{}: byte order '{}', expected 'little'", file, printable(order)));
      }
    }
  }

  const std::string& file() const { return zip_.file(); }

  std::span<const std::byte> pickle() const { return read(*zip_.find(folder_ + "data.pkl")).bytes; }

  ZipArchive::Content storage(std::string_view key, const std::string& where) const {
    const ZipEntry* entry = key.size() > kMaxNameBytes ? nullptr : zip_.find(fmt::format("{}data/{}", folder_, key));
    if (entry == nullptr) {
      throw FileError(fmt::format("{}: storage '{}' is missing, expected it in the archive", where, printable(key)));
    }
    return read(*entry);
  }

 private:
  std::string find_folder() const {
    constexpr std::string_view kPickle = "data.pkl";
    const ZipEntry* found = nullptr;
    for (const ZipEntry& entry : zip_.entries()) {
      const std::size_t slash = entry.name.find('/');
      if (slash == entry.name.npos || std::string_view(entry.name).substr(slash + 1) != kPickle) continue;
      if (found != nullptr) {
        throw FileError(fmt::format("{}: entries '{}' and '{}', expected one {}", zip_.file(), printable(found->name),
                                    printable(entry.name), kPickle));
      }
      found = &entry;
    }
    if (found == nullptr) {
      throw FileError(
          fmt::format("{}: a zip archive without NAME/{}, expected what torch.save writes", zip_.file(), kPickle));
    }
    return found->name.substr(0, found->name.size() - kPickle.size());
  }

  ZipArchive::Content read(const ZipEntry& entry) const {
    if (entry.method != ZipEntry::Method::stored) {
      throw FileError(
          fmt::format("{}: entry '{}' is compressed, expected it stored", zip_.file(), printable(entry.name)));
    }
    return zip_.read(entry);
  }

  ZipArchive zip_;
  std::string folder_;  // with a slash
};

// Makes tensors of what the pickle says about them.
class TensorReader {
 public:
  TensorReader(const TorchArchive& archive, const Pickle& pickle, std::uint64_t copy_bytes)
      : archive_(archive), pickle_(pickle), copy_bytes_(copy_bytes) {}

  // Nullopt if the object is no tensor. `name` is for messages.
  std::optional<Tensor> read(Index object, std::string_view name) {
    where_ = fmt::format("{}: tensor '{}'", archive_.file(), printable(name));
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

  struct Storage {
    const StoredType* type = nullptr;
    ZipArchive::Content content;
  };

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
    if (tuple == nullptr || tuple->items.size() > kMaxRank) {
      fail(fmt::format("{} is no tuple of at most {} sizes", what, kMaxRank));
    }
    std::vector<std::uint64_t> values;
    for (const Index item : tuple->items) values.push_back(size(item, what));
    return values;
  }

  std::string_view text(Index object, std::string_view what) const {
    const auto* found = pickle_.get<Pickle::Text>(object);
    if (found == nullptr) fail(fmt::format("{} is no string", what));
    return found->text;
  }

  // ('storage', class, key, device, number of elements)
  Storage read_storage(Index object) const {
    const auto* persistent = pickle_.get<Pickle::Persistent>(object);
    const auto* id = persistent == nullptr ? nullptr : pickle_.get<Pickle::Tuple>(persistent->id);
    if (id == nullptr || id->items.size() < 5 || text(id->items[0], "the kind of its storage") != "storage") {
      fail("made of something else, expected a storage of the file");
    }
    const auto* global = pickle_.get<Pickle::Global>(id->items[1]);
    Storage storage;
    if (global != nullptr) storage.type = storage_type(*global);
    if (storage.type == nullptr) fail("a storage of an unknown class, expected one of torch's");
    storage.content = archive_.storage(text(id->items[2], "the key of its storage"), where_);
    const auto bytes = checked_multiply(size(id->items[4], "the size of its storage"), storage.type->bytes);
    if (!bytes || *bytes != storage.content.bytes.size()) {
      fail(fmt::format("a storage of {} {} elements in {} bytes, expected {} bytes for each",
                       size(id->items[4], "the size of its storage"), storage.type->name, storage.content.bytes.size(),
                       storage.type->bytes));
    }
    return storage;
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
    check(layout, *type, storage.content.bytes.size() / type->bytes);
    return stored_tensor(storage.content.bytes, *type, layout, storage.content.owner);
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

  const TorchArchive& archive_;
  const Pickle& pickle_;
  std::uint64_t copy_bytes_;  // that copies may still take
  std::string where_;
};

struct Named {
  std::string name;
  Tensor tensor;
};

// The entries of a dict that are no tensors.
struct Others {
  std::size_t count = 0;
  std::string first;
};

// The tensors of one dict.
std::vector<Named> read_dict(const Pickle& pickle, const Pickle::Dict& dict, TensorReader& reader,
                             const std::string& file, Others& others) {
  std::vector<Named> tensors;
  for (const auto& [key, value] : dict.items) {
    const auto* name = pickle.get<Pickle::Text>(key);
    if (auto tensor = name == nullptr ? std::nullopt : reader.read(value, name->text)) {
      if (name->text.size() > kMaxNameBytes) {
        throw FileError(fmt::format("{}: tensor '{}': a name of {} bytes, expected at most {}", file,
                                    printable(name->text), name->text.size(), kMaxNameBytes));
      }
      tensors.push_back({std::string(name->text), *std::move(tensor)});
      if (tensors.size() > kMaxTensors) throw FileError(fmt::format("{}: more than {} tensors", file, kMaxTensors));
    } else if (others.count++ == 0) {
      others.first = name == nullptr ? "?" : printable(name->text);
    }
  }
  return tensors;
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

// The tensors of the outermost dict that has some.
std::vector<Named> read_tensors(const Pickle& pickle, TensorReader& reader, const std::string& file, Others& others) {
  const auto* dict = pickle.get<Pickle::Dict>(pickle.root());
  for (int depth = 0; dict != nullptr && depth < 3; ++depth) {
    others = {};
    auto tensors = read_dict(pickle, *dict, reader, file, others);
    if (!tensors.empty()) return tensors;
    dict = nested_dict(pickle, *dict);
  }
  throw FileError(
      fmt::format("{}: no tensors, expected a dict of them, or one inside '{}'", file, fmt::join(kNested, "' or '")));
}

void check_names(std::vector<Named>& tensors, const WeightStore& store, const std::string& file) {
  std::ranges::sort(tensors, {}, &Named::name);
  const auto twice = std::ranges::adjacent_find(tensors, {}, &Named::name);
  if (twice != tensors.end()) {
    throw FileError(fmt::format("{}: tensor '{}' is there twice, expected it once", file, printable(twice->name)));
  }
  for (const Named& tensor : tensors) {
    if (store.find(tensor.name) == nullptr) continue;
    throw FileError(
        fmt::format("{}: tensor '{}' is in another file too, expected it once", file, printable(tensor.name)));
  }
}

}  // namespace

void parse_pytorch(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner, const std::string& file,
                   WeightStore& store, std::vector<std::string>* notes) {
  refuse_older_formats(bytes, file);
  const TorchArchive archive(bytes, owner, file);
  const std::string pickle_name = fmt::format("{}: data.pkl", file);
  const Pickle pickle(archive.pickle(), pickle_name, is_torch_global);
  TensorReader reader(archive, pickle, bytes.size() + kFreeCopyBytes);
  Others others;
  auto tensors = read_tensors(pickle, reader, file, others);
  check_names(tensors, store, file);
  for (auto& [name, tensor] : tensors) store.add(std::move(name), std::move(tensor));
  if (notes != nullptr && others.count > 0) {
    notes->push_back(fmt::format("{}: {} entries that are no tensors are ignored, the first is '{}'", file,
                                 others.count, others.first));
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
