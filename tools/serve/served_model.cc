#include "served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "http/message.h"

namespace encdec::serve {

ServedModel::ServedModel(const ModelSource& source, const ServeSettings& settings, const ModelMetrics& metrics)
    : name_(source.name),
      metrics_(metrics),
      model_(Model::load(source.folder, settings.load)),
      queue_(model_, {.workers = settings.workers, .batch_size = settings.batch_size}),
      languages_(source.languages.empty() ? ModelLanguages::of(model_, source.folder)
                                          : ModelLanguages::told(source.languages)),
      loaded_at_(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                     .count()) {}

template <class Fits>
ServedModel& ModelSet::find(const std::string& name, const Fits& fits, const char* what) const {
  std::vector<std::string> names;
  for (const auto& model : models_) {
    if (!fits(*model)) continue;
    if (name.empty() || model->name() == name) return *model;
    names.push_back(model->name());
  }
  if (name.empty()) throw HttpError(404, fmt::format("no model here {}", what));
  throw HttpError(404, names.empty() ? fmt::format("model '{}': no model here {}", name, what)
                                     : fmt::format("model '{}': not here, expected {}", name, fmt::join(names, ", ")));
}

ServedModel& ModelSet::embedder(const std::string& name) const {
  return find(
      name, [](const ServedModel& model) { return model.embeds(); }, "embeds texts");
}

ServedModel& ModelSet::generator(const std::string& name) const {
  return find(
      name, [](const ServedModel& model) { return !model.embeds(); }, "generates text");
}

ServedModel& ModelSet::any(const std::string& name) const {
  return find(
      name, [](const ServedModel&) { return true; }, "is loaded");
}

ServedModel* ModelSet::translator(const std::string& source, const std::string& target) const {
  for (const auto& model : models_) {
    if (model->languages().translates(source, target)) return model.get();
  }
  return nullptr;
}

std::vector<std::string> ModelSet::source_languages() const {
  std::set<std::string> sources;
  for (const auto& model : models_) {
    for (const auto& [code, own] : model->languages().sources) sources.insert(code);
  }
  return {sources.begin(), sources.end()};
}

std::vector<std::string> ModelSet::target_languages(const std::optional<std::string>& source) const {
  std::set<std::string> targets;
  for (const auto& model : models_) {
    const ModelLanguages& languages = model->languages();
    for (const auto& [code, own] : languages.targets) {
      const auto leads_here = [&languages, &code = code](const auto& from) {
        return languages.translates(from.first, code);
      };
      const bool is_target =
          source ? languages.translates(*source, code) : std::ranges::any_of(languages.sources, leads_here);
      if (is_target) targets.insert(code);
    }
  }
  return {targets.begin(), targets.end()};
}

}  // namespace encdec::serve
