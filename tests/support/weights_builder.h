#pragma once

#include <map>
#include <string>

#include "encdec/engine/base/weights.h"

namespace encdec {

// Returns a scope of a new store named "test". The names in the store are the canonical names:
//   make_scope({{"query.weight", tensor}, ...}) / "query"
WeightScope make_scope(const std::map<std::string, Tensor>& tensors, const PackOptions& pack = {});

}  // namespace encdec
