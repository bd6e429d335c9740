#pragma once

#include <string>

#include "encdec/models/model.h"

namespace encdec {

// Returns true if oneDNN was chosen and, on this CPU, a result depends on the other sources of its batch.
inline bool depends_on_batch(const Model& model) {
  return model.notes().precision.find("bits of a row depend") != std::string::npos;
}

}  // namespace encdec
