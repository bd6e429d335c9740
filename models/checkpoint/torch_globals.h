#pragma once

#include <optional>
#include <string_view>

#include "encdec/models/checkpoint/pickle.h"
#include "encdec/models/checkpoint/tensor_layout.h"

namespace encdec {

// What the names in PyTorch's pickles mean.

// The name of the type that a storage without type has.
inline constexpr std::string_view kUntypedStorage = "UntypedStorage";

// The elements of a storage, by its class: torch.FloatStorage. Null for other globals.
const StoredType* storage_type(const Pickle::Global& global);

// The elements of a tensor, by its dtype: torch.float8_e4m3fn. Null for other globals.
const StoredType* dtype_type(const Pickle::Global& global);

// Functions that make tensors:
// - tensor(storage, offset, sizes, strides, ...);
// - typed_tensor, the same over a storage without type, with the dtype as argument 6;
// - parameter(tensor, ...);
// - with_attributes(function, class, arguments, attributes).
enum class TorchBuilder { tensor, typed_tensor, parameter, with_attributes };
std::optional<TorchBuilder> torch_builder(const Pickle::Global& global);

// The whole list of what a checkpoint may name: all of the above, and what else stands beside tensors in ordinary ones.
bool is_torch_global(const Pickle::Global& global);

}  // namespace encdec
