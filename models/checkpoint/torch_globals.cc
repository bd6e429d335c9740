#include "encdec/models/checkpoint/torch_globals.h"

#include <algorithm>
#include <array>

namespace encdec {
namespace {

// A storage by the class of its elements, and a type by the name of its torch.dtype.
struct TorchType {
  std::string_view storage;
  StoredType stored;
};
constexpr std::array<TorchType, 20> kTorchTypes = {{{"FloatStorage", {"float32", 4, DataType::float32}},
                                                    {"HalfStorage", {"float16", 2, DataType::float16}},
                                                    {"BFloat16Storage", {"bfloat16", 2, DataType::bfloat16}},
                                                    {"DoubleStorage", {"float64", 8, DataType::float64}},
                                                    {"CharStorage", {"int8", 1, DataType::int8}},
                                                    {"ShortStorage", {"int16", 2, DataType::int16}},
                                                    {"IntStorage", {"int32", 4, DataType::int32}},
                                                    {"LongStorage", {"int64", 8, DataType::int64}},
                                                    {"ByteStorage", {"uint8", 1, DataType::uint8}},
                                                    {"BoolStorage", {"bool", 1, DataType::boolean}},
                                                    {"ComplexFloatStorage", {"complex64", 8, {}}},
                                                    {"ComplexDoubleStorage", {"complex128", 16, {}}},
                                                    {"", {"uint16", 2, {}}},
                                                    {"", {"uint32", 4, {}}},
                                                    {"", {"uint64", 8, {}}},
                                                    {"", {"float8_e4m3fn", 1, {}}},
                                                    {"", {"float8_e5m2", 1, {}}},
                                                    {"", {"float8_e4m3fnuz", 1, {}}},
                                                    {"", {"float8_e5m2fnuz", 1, {}}},
                                                    {"", {"float8_e8m0fnu", 1, {}}}}};
constexpr StoredType kUntyped = {kUntypedStorage, 1, DataType::uint8};

}  // namespace

const StoredType* storage_type(const Pickle::Global& global) {
  if (global.module == "torch.storage" && global.name == kUntypedStorage) return &kUntyped;
  if (global.module != "torch" || global.name.empty()) return nullptr;
  const auto found = std::ranges::find(kTorchTypes, global.name, &TorchType::storage);
  return found == kTorchTypes.end() ? nullptr : &found->stored;
}

const StoredType* dtype_type(const Pickle::Global& global) {
  if (global.module != "torch") return nullptr;
  const auto found =
      std::ranges::find(kTorchTypes, global.name, [](const TorchType& type) { return type.stored.name; });
  return found == kTorchTypes.end() ? nullptr : &found->stored;
}

std::optional<TorchBuilder> torch_builder(const Pickle::Global& global) {
  if (global.module == "torch._utils") {
    if (global.name == "_rebuild_tensor" || global.name == "_rebuild_tensor_v2") return TorchBuilder::tensor;
    if (global.name == "_rebuild_tensor_v3") return TorchBuilder::typed_tensor;
    if (global.name == "_rebuild_parameter" || global.name == "_rebuild_parameter_with_state")
      return TorchBuilder::parameter;
  }
  if (global.module == "torch._tensor" && global.name == "_rebuild_from_type_v2") return TorchBuilder::with_attributes;
  return std::nullopt;
}

bool is_torch_global(const Pickle::Global& global) {
  constexpr std::array<Pickle::Global, 7> kHarmless = {{{"torch", "Size"},
                                                        {"torch", "device"},
                                                        {"torch", "Tensor"},
                                                        {"torch.nn.parameter", "Parameter"},
                                                        {"torch.nn.parameter", "Buffer"},
                                                        {"collections", "Counter"},
                                                        {"_codecs", "encode"}}};
  const auto same = [&](const Pickle::Global& other) {
    return other.module == global.module && other.name == global.name;
  };
  return torch_builder(global) || storage_type(global) != nullptr || dtype_type(global) != nullptr ||
         std::ranges::any_of(kHarmless, same);
}

}  // namespace encdec
