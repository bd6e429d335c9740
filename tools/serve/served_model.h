#pragma once

#include <encdec/models/model.h>
#include <encdec/models/model/request_queue.h>
#include <encdec/models/speech/speech_model.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "serve/metrics.h"
#include "serve/model_languages.h"
#include "serve/settings.h"

namespace encdec::serve {

// A model, and the queue in which all its requests meet.
class ServedModel {
 public:
  // Loads it. Throws as Model::load() does.
  ServedModel(const ModelSource& source, const ServeSettings& settings, const ModelMetrics& metrics);

  const std::string& name() const { return name_; }
  const Model& model() const { return model_; }
  RequestQueue& queue() { return queue_; }
  QueueStatus status() const { return queue_.status(); }
  const ModelMetrics& metrics() const { return metrics_; }
  const ModelLanguages& languages() const { return languages_; }
  bool embeds() const { return !model_.config().has_decoder(); }
  bool transcribes() const { return speech_.has_value(); }
  // REQUIRES: transcribes().
  const SpeechModel& speech() const { return *speech_; }
  bool generates() const { return !embeds() && !transcribes(); }
  // Whether its family was trained to translate sentences, not paragraphs.
  bool translates_sentences() const;
  // In seconds since 1970.
  std::int64_t loaded_at() const { return loaded_at_; }

 private:
  std::string name_;
  ModelMetrics metrics_;
  Model model_;
  std::optional<SpeechModel> speech_;
  RequestQueue queue_;
  ModelLanguages languages_;
  std::int64_t loaded_at_;
};

// All that a service has, in the order in which they were named.
class ModelSet {
 public:
  void add(std::unique_ptr<ServedModel> model) { models_.push_back(std::move(model)); }

  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  // By name, or the first of its kind where no name is said. Throws HttpError, 404.
  ServedModel& embedder(const std::string& name) const;
  ServedModel& generator(const std::string& name) const;
  ServedModel& transcriber(const std::string& name) const;
  ServedModel& any(const std::string& name) const;
  // One that translates from one canonical code to another; null if there is none.
  ServedModel* translator(const std::string& source, const std::string& target) const;
  // Canonical codes that any of them reads, in alphabetical order.
  std::vector<std::string> source_languages() const;
  // What can be translated to, from anything or from there.
  std::vector<std::string> target_languages(const std::optional<std::string>& source = {}) const;

 private:
  template <class Fits>
  ServedModel& find(const std::string& name, const Fits& fits, const char* what) const;

  std::vector<std::unique_ptr<ServedModel>> models_;
};

}  // namespace encdec::serve
