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
  // Loads model number `number` of the settings, to which it keeps a reference. Throws as Model::load() does.
  ServedModel(std::size_t number, const ServeSettings& settings, Metrics& metrics);

  std::size_t number() const { return number_; }
  const std::string& name() const { return source().name; }
  const std::string& folder() const { return source().folder; }
  const Model& model() const { return model_; }
  RequestQueue& queue() { return queue_; }
  QueueStatus status() const { return queue_.status(); }
  const ModelMetrics& metrics() const { return metrics_; }
  bool generates() const {
    return model_.config().has_decoder() && model_.config().source_kind() == SourceKind::tokens;
  }
  // Returns the model's work in the words of an error: "generates text".
  std::string what_it_does() const;
  // Returns the time of loading, in seconds since 1970.
  std::int64_t loaded_at() const { return loaded_at_; }

 private:
  const ModelSource& source() const { return settings_.models[number_]; }

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

  // Returns all models; their numbers are their places.
  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  // Returns the model called `name` or, if the name is empty, the first model that `fits`. Throws HttpError if there is
  // none: 404, or `status` if models exist but do not fit. `what` is the required work in its message: "embeds texts".
  ServedModel& find(const std::string& name, const std::function<bool(const ServedModel&)>& fits,
                    const std::string& what, int status = 404) const;
  ServedModel& generator(const std::string& name) const;
  ServedModel& any(const std::string& name) const;

 private:
  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace encdec::serve
