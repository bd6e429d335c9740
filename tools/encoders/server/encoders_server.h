#pragma once

#include <encdec/encoders/classifier.h>
#include <encdec/encoders/embedder.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "server/call.h"

namespace encdec::serve {

// The part of the server for encoder-only models and classifiers.
struct EncodersServer : ServerSlice {
  struct Faces {
    Embedder embedder;
    Classifier classifier;
  };
  std::vector<Faces> models = {};
  const Faces& of(const ServedModel& model) const { return models[model.number()]; }
};

// Return the model called `name`, like ModelSet::find().
ServedModel& embedder_of(const Call& call, const std::string& name, EmbedOutput output = EmbedOutput::dense,
                         int status = 404);
ServedModel& classifier_of(const Call& call, const std::string& name);
ServedModel& ranker_of(const Call& call, const std::string& name);

// Return a VectorResult for each text or pair of texts. Throw HttpError 413 if there are too many.
asio::awaitable<std::vector<VectorResult>> embed_texts(Call& call, ServedModel& model, std::vector<std::string> texts,
                                                       EmbedOptions options);
asio::awaitable<std::vector<VectorResult>> classify_texts(Call& call, ServedModel& model, std::vector<TextPair> texts,
                                                          ClassifyOptions options);

// Reads the inputs of read_inputs(), and decodes token ids. All read_...() functions throw HttpError 400.
std::vector<std::string> read_texts(const Call& call, const JsonObject& request, const std::string& key,
                                    const ServedModel& model);
// Reads "truncate" and "truncation_direction" of text-embeddings-inference.
LongSources read_long_texts(const JsonObject& request);

// Reads the embedding options of text-embeddings-inference. `is_normal` is the default of "normalize".
EmbedOptions read_embed_options(const JsonObject& request, bool is_normal);

// Returns a dense vector as [0.1, ...], a sparse one as [{"index", "value"}, ...], token vectors as [[0.1, ...], ...].
nlohmann::ordered_json vector_json(const VectorResult& result);

}  // namespace encdec::serve
