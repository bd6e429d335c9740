#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encdec/models/model/model.h"
#include "encdec/models/model/request_queue.h"
#include "encdec/models/model/sentence_embedder.h"

namespace encdec {

// Options of Embedder, like the options of sentence-transformers' encode().
struct EmbedOptions {
  EmbedOutput output = EmbedOutput::dense;
  int batch_size = 0;  // texts per batch; 0: automatic. Does not change the results
  // Scale dense vectors to length 1, even if the folder's files do not specify it.
  bool normalize = false;
  // Number of leading elements of dense vectors to keep, before normalisation; 0: all.
  int dimensions = 0;
  // Text to prepend to each input text. Default: the folder's prompt `prompt_name`, else the folder's default prompt.
  std::optional<std::string> prompt = {};
  std::optional<std::string> prompt_name = {};     // from config_sentence_transformers.json: "query", "document"
  LongSources long_texts = LongSources::truncate;  // what to do with a text that has too many tokens
};

// A Model that turns texts into vectors. Thread-safe; copies share one model. Functions throw as Model::generate()
// does, and ConfigError for a model with a decoder, a model without this kind of vectors, and an unknown prompt name.
class Embedder {
 public:
  explicit Embedder(Model model) : model_(std::move(model)) {}

  const Model& model() const { return model_; }
  // Returns whether the model supports this kind of vectors.
  bool gives(EmbedOutput output) const;

  // Returns a dense vector for each text, float32 [N, D]. Pools and normalises the hidden states as specified by the
  // folder's sentence-transformers files. Without these files, returns the mean hidden state. Ignores options.output.
  Tensor embed(const std::vector<std::string>& texts, EmbedOptions options = {}) const;
  // Returns the vectors of each text, of the kind options.output:
  // - sparse: weights of the vocabulary's tokens that describe the text, as in sentence-transformers' SparseEncoder
  //   (SPLADE, Formal et al. 2021); for BGE-M3, weights of the text's own tokens
  // - colbert: BGE-M3's vectors for late interaction. A document's relevance is the mean, over the query's vectors, of
  //   the largest dot product with one of the document's vectors
  std::vector<VectorResult> embed_each(const std::vector<std::string>& texts, const EmbedOptions& options) const;
  // Submits texts to a queue of this model, which batches the texts of several requests. `client`: see
  // RequestQueue::submit().
  Request submit(RequestQueue& queue, std::span<const std::string> texts, const EmbedOptions& options,
                 Handlers<VectorResult> handlers, std::uint64_t client = 0) const;

 private:
  Model model_;
};

}  // namespace encdec
