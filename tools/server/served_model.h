#pragma once

#include <encdec/models/model.h>
#include <encdec/models/model/request_queue.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/metrics.h"
#include "server/settings.h"

namespace encdec::serve {

// A model with its request queue and its metrics.
class ServedModel {
 public:
  // Loads `settings.models[number]`. Keeps a reference to `settings`. Throws as Model::load() does.
  ServedModel(std::size_t number, const ServeSettings& settings, Metrics& metrics);

  std::size_t number() const { return number_; }
  const std::string& name() const { return argument().name; }
  const std::string& folder() const { return argument().folder; }
  const Model& model() const { return model_; }
  RequestQueue& queue() { return queue_; }
  QueueStatus status() const { return queue_.status(); }
  const ModelMetrics& metrics() const { return metrics_; }
  bool generates() const {
    return model_.config().has_decoder() && model_.config().source_kind() == SourceKind::tokens;
  }
  // Returns the model's task, as error messages name it: "generates text".
  std::string task() const;
  // Returns the time when the model was loaded, in seconds since 1970.
  std::int64_t loaded_at() const { return loaded_at_; }

 private:
  const ModelArgument& argument() const { return settings_.models[number_]; }

  std::size_t number_;
  const ServeSettings& settings_;
  ModelMetrics metrics_;
  Model model_;
  RequestQueue queue_;
  std::int64_t loaded_at_;
};

// The models of a service, in the order of the command line.
class ModelSet {
 public:
  void add(std::unique_ptr<ServedModel> model) { models_.push_back(std::move(model)); }

  // Returns all models; a model's number is its index.
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  // Returns the model called `name` or, if `name` is empty, the first that `fits` accepts. Throws HttpError: 404 for an
  // unknown name, `status` if `fits` rejects the model or all models. `what` is the required task: "embeds texts".
  ServedModel& find(const std::string& name, const std::function<bool(const ServedModel&)>& fits,
                    const std::string& what, int status = 404) const;
  ServedModel& generator(const std::string& name) const;
  ServedModel& any(const std::string& name) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace encdec::serve
