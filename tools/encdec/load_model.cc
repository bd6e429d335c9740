#include "load_model.h"

#include <spdlog/spdlog.h>

namespace encdec::cli {

Model load_model(const std::string& folder, const LoadOptions& options, Notes notes) {
  Model model = Model::load(folder, options);
  if (notes == Notes::show && !model.precision_note().empty()) spdlog::info("{}: {}", folder, model.precision_note());
  return model;
}

}  // namespace encdec::cli
