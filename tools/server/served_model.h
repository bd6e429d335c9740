#pragma once

#include <encdec/encoders/classifier.h>
#include <encdec/encoders/embedder.h>
#include <encdec/models/model.h>
#include <encdec/models/model/request_queue.h>
#include <encdec/speech/speech_model.h>
#include <encdec/translation/routes.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/metrics.h"
#include "server/settings.h"

namespace encdec::serve {

// A model with its request queue, its metrics and its languages.
class ServedModel {
 public:
  // Loads the model. Throws as Model::load() does.
  ServedModel(const ModelSource& source, const ServeSettings& settings, const ModelMetrics& metrics);

  const std::string& name() const { return name_; }
  const Model& model() const { return model_; }
  RequestQueue& queue() { return queue_; }
  QueueStatus status() const { return queue_.status(); }
  const ModelMetrics& metrics() const { return metrics_; }
  const ModelLanguages& languages() const { return languages_; }
  const Embedder& embedder() const { return embedder_; }
  const Classifier& classifier() const { return classifier_; }
  // Kinds of work; the model does one of them.
  bool embeds() const { return !model_.config().has_decoder() && classifier_.labels() == nullptr; }
  bool embeds(EmbedOutput output) const { return embeds() && embedder_.gives(output); }
  bool classifies() const { return model_.config().head.classifies_texts(); }
  bool tags() const { return model_.config().head.kind == HeadKind::tokens; }
  bool transcribes() const { return speech_.has_value(); }
  // REQUIRES: transcribes().
  const SpeechModel& speech() const { return *speech_; }
  bool generates() const { return model_.config().has_decoder() && !transcribes(); }
  // Returns whether the model has one label, so that its score ranks texts.
  bool ranks() const { return classifies() && classifier_.labels()->names().size() == 1; }
  // Returns the time of loading, in seconds since 1970.
  std::int64_t loaded_at() const { return loaded_at_; }

 private:
  std::string name_;
  ModelMetrics metrics_;
  Model model_;
  Embedder embedder_;
  Classifier classifier_;
  std::optional<SpeechModel> speech_;
  RequestQueue queue_;
  ModelLanguages languages_;
  std::int64_t loaded_at_;
};

// The models of a service, in the order of the command line.
class ModelSet {
 public:
  void add(std::unique_ptr<ServedModel> model);

  const std::vector<std::unique_ptr<ServedModel>>& all() const { return models_; }
  // Each returns the model called `name` or, if the name is empty, the first model of the kind. Throws HttpError, 404,
  // if there is none. `status` is that of the error if there are only models of other kinds.
  ServedModel& embedder(const std::string& name, EmbedOutput output = EmbedOutput::dense, int status = 404) const;
  ServedModel& classifier(const std::string& name) const;
  ServedModel& ranker(const std::string& name) const;
  ServedModel& generator(const std::string& name) const;
  ServedModel& transcriber(const std::string& name) const;
  ServedModel& any(const std::string& name) const;
  // Return all models, as TranslationJob takes them, and the ways between languages. Numbers of models are those of
  // all().
  std::span<const Model> translators() const { return translators_; }
  const TranslationRoutes& routes() const { return routes_; }

 private:
  template <class Fits>
  ServedModel& find(const std::string& name, const Fits& fits, const std::string& what, int status = 404) const;

  std::vector<std::unique_ptr<ServedModel>> models_;
  std::vector<Model> translators_;
  TranslationRoutes routes_;
};

}  // namespace encdec::serve
