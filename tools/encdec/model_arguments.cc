#include "model_arguments.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "options.h"

namespace encdec::cli {

void ModelArguments::add_load_options(CLI::App& command) {
  add_threads_option(command, threads);
  add_precision_option(command, precision);
  add_weights_cache_option(command, weights_cache);
}

void ModelArguments::add_quiet_option(CLI::App& command, const std::string& description) {
  command.add_flag("--quiet", quiet, description + " on standard error");
}

Model ModelArguments::load() const {
  Model model =
      Model::load(folder, {.threads = threads, .precision = precision, .packed_weights_cache = weights_cache});
  if (quiet) return model;
  if (!model.precision_note().empty()) spdlog::info("{}: {}", folder, model.precision_note());
  for (const std::string& note : model.notes()) {
    if (!weights_cache.empty() && note.starts_with(weights_cache)) spdlog::warn("{}", note);
  }
  return model;
}

Model ModelArguments::load_for(LineForm form) const {
  Model model = load();
  if (form == LineForm::text && model.tokenizer() == nullptr) {
    throw TokenizerError(fmt::format("{}: no tokenizer files, expected token ids with --token-ids", folder));
  }
  return model;
}

}  // namespace encdec::cli
