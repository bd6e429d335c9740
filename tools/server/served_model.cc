#include "server/served_model.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "server/http/message.h"

namespace encdec::serve {
namespace {

const char* what_it_does(const ServedModel& model) {
  return model.embeds(EmbedOutput::dense) ? "embeds texts"
         : model.embeds()                 ? "gives sparse vectors"
         : model.transcribes()            ? "transcribes recordings"
         : model.classifies()             ? "classifies texts"
         : model.tags()                   ? "classifies tokens"
                                          : "generates text";
}

// Returns the languages that a model translates. A model that transcribes has none, although its tokenizer has tokens
// for languages.
ModelLanguages languages_of(const Model& model, const ModelSource& source) {
  if (model.config().source_kind() == SourceKind::tokens) {
    return source.languages.empty() ? ModelLanguages::of(model, source.folder)
                                    : ModelLanguages::parse(source.languages);
  }
  if (source.languages.empty()) return {};
  throw ConfigError(
      fmt::format("--languages: model '{}' transcribes recordings, expected one that translates texts", source.name));
}

}  // namespace

ServedModel::ServedModel(const ModelSource& source, const ServeSettings& settings, const ModelMetrics& metrics)
    : name_(source.name),
      metrics_(metrics),
      model_(Model::load(source.folder, settings.load)),
      embedder_(model_),
      classifier_(model_),
      speech_(model_.config().source_kind() == SourceKind::frames ? std::optional<SpeechModel>(model_) : std::nullopt),
      queue_(model_, {.workers = settings.workers, .batch_size = settings.batch_size}),
      languages_(languages_of(model_, source)),
      loaded_at_(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                     .count()) {}

void ModelSet::add(std::unique_ptr<ServedModel> model) {
  translators_.push_back(model->model());
  routes_.add(model->languages());
  models_.push_back(std::move(model));
}

template <class Fits>
ServedModel& ModelSet::find(const std::string& name, const Fits& fits, const std::string& what, int status) const {
  std::vector<std::string> names;
  for (const auto& model : models_) {
    if (!std::invoke(fits, *model)) continue;
    if (name.empty() || model->name() == name) return *model;
    names.push_back(model->name());
  }
  if (name.empty()) throw HttpError(status, fmt::format("no model here {}", what));
  const auto other = std::ranges::find(models_, name, [](const auto& model) { return model->name(); });
  if (other != models_.end()) {
    throw HttpError(status, fmt::format("model '{}' {}, expected one that {}: {}", name, what_it_does(**other), what,
                                        names.empty() ? "there is none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  throw HttpError(404, names.empty() ? fmt::format("model '{}': no model here {}", name, what)
                                     : fmt::format("unknown model '{}', expected {}", name, fmt::join(names, ", ")));
}

ServedModel& ModelSet::embedder(const std::string& name, EmbedOutput output, int status) const {
  return find(
      name, [output](const ServedModel& model) { return model.embeds(output); },
      output == EmbedOutput::dense ? "embeds texts"
                                   : fmt::format("gives {} vectors", name_of(kEmbedOutputNames, output)),
      status);
}

ServedModel& ModelSet::classifier(const std::string& name) const {
  return find(name, &ServedModel::classifies, "classifies texts");
}

ServedModel& ModelSet::ranker(const std::string& name) const {
  return find(name, &ServedModel::ranks, "ranks documents");
}

ServedModel& ModelSet::generator(const std::string& name) const {
  return find(name, &ServedModel::generates, "generates text");
}

ServedModel& ModelSet::transcriber(const std::string& name) const {
  return find(name, &ServedModel::transcribes, "transcribes recordings");
}

ServedModel& ModelSet::any(const std::string& name) const {
  return find(
      name, [](const ServedModel&) { return true; }, "is loaded");
}

}  // namespace encdec::serve
