#include "server/served_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "server/http/message.h"

namespace encdec::serve {

ServedModel::ServedModel(std::size_t number, const ServeSettings& settings, Metrics& metrics)
    : number_(number),
      settings_(settings),
      metrics_(metrics.model(name())),
      model_(Model::load(folder(), settings.load)),
      queue_(model_, {.workers = settings.workers, .batch_size = settings.batch_size}),
      loaded_at_(std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
                     .count()) {}

std::string ServedModel::task() const {
  for (const auto& slice : settings_.slices) {
    if (std::string text = slice->task(*this); !text.empty()) return text;
  }
  return generates() ? "generates text" : "has no task that this build supports";
}

ServedModel& ModelSet::find(const std::string& name, const std::function<bool(const ServedModel&)>& fits,
                            const std::string& what, int status) const {
  std::vector<std::string> names;
  for (const auto& model : models_) {
    if (!fits(*model)) continue;
    if (name.empty() || model->name() == name) return *model;
    names.push_back(model->name());
  }
  if (name.empty()) throw HttpError(status, fmt::format("no model here {}", what));
  const auto other = std::ranges::find(models_, name, [](const auto& model) { return model->name(); });
  if (other != models_.end()) {
    throw HttpError(status, fmt::format("model '{}' {}, expected one that {}: {}", name, (*other)->task(), what,
                                        names.empty() ? "there is none" : fmt::format("{}", fmt::join(names, ", "))));
  }
  throw HttpError(404, names.empty() ? fmt::format("model '{}': no model here {}", name, what)
                                     : fmt::format("unknown model '{}', expected {}", name, fmt::join(names, ", ")));
}

ServedModel& ModelSet::generator(const std::string& name) const {
  return find(name, &ServedModel::generates, "generates text");
}

ServedModel& ModelSet::any(const std::string& name) const {
  return find(
      name, [](const ServedModel&) { return true; }, "is loaded");
}

}  // namespace encdec::serve
