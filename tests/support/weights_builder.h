#pragma once

#include <map>
#include <string>

#include "encdec/engine/base/weights.h"

namespace encdec {

// A scope whose stored names are the canonical ones, of a store called "test":
//   make_scope({{"query.weight", tensor}, ...}) / "query"
WeightScope make_scope(const std::map<std::string, Tensor>& tensors, const PackOptions& pack = {});

}  // namespace encdec
