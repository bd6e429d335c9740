#include "load_model.h"

#include <spdlog/spdlog.h>

namespace encdec::cli {

Model load_model(const std::string& folder, const LoadOptions& options, Notes notes) {
  Model model = Model::load(folder, options);
  if (notes == Notes::show && !model.precision_note().empty()) spdlog::info("{}: {}", folder, model.precision_note());
  const std::string cache = options.packed_weights_cache.string();
  for (const std::string& note : model.notes()) {
    if (notes == Notes::show && !cache.empty() && note.starts_with(cache)) spdlog::warn("{}", note);
  }
  return model;
}

}  // namespace encdec::cli
