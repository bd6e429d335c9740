#pragma once

#include <encdec/models/model.h>

#include <string>

namespace encdec::cli {

enum class Notes { show, hide };

// Loads a model; says on standard error where its precision is not to the letter what was asked
// for, and what is wrong with its cache of packed weights.
Model load_model(const std::string& folder, const LoadOptions& options, Notes notes = Notes::show);

}  // namespace encdec::cli
