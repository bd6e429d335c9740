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

// Options of Embedder, as encode() of sentence-transformers has them.
struct EmbedOptions {
  EmbedOutput output = EmbedOutput::dense;
  // Number of texts encoded together; 0 for enough to keep the CPU busy. Results do not depend on it.
  int batch_size = 0;
  // Scale each vector to length 1, even if the folder's own files do not ask for it. Dense vectors only.
  bool normalize = false;
  // Number of leading elements to keep of each vector; 0 for all. A vector is cut before it is scaled. Dense vectors
  // only.
  int dimensions = 0;
  // Prompt put before each text. If unset, the folder's prompt named `prompt_name`; if that is unset too, the folder's
  // default prompt.
  std::optional<std::string> prompt = {};
  std::optional<std::string> prompt_name = {};  // a name in config_sentence_transformers.json: "query", "document"
  // Handling of a text with more tokens than the model reads.
  LongSources long_texts = LongSources::truncate;
};

// A Model that turns texts into vectors. All functions may be called from many threads at once; copies share one model.
// Functions throw as Model::generate() does, and ConfigError for a model with a decoder, for a model that does not give
// vectors of this kind and for a prompt name that the folder does not have.
class Embedder {
 public:
  explicit Embedder(Model model) : model_(std::move(model)) {}

  const Model& model() const { return model_; }
  // Returns whether the model gives vectors of a kind.
  bool gives(EmbedOutput output) const;

  // Returns one vector per text, float32 [N, D]: sentence embeddings of an encoder-only model. Hidden states are pooled
  // and normalised as the checkpoint's own files say (sentence-transformers); without such files a vector is the mean
  // of the last hidden states. Ignores options.output.
  Tensor embed(const std::vector<std::string>& texts, EmbedOptions options = {}) const;
  // Returns the vectors of each text, of the kind options.output. Of these:
  // - sparse: the weights of the tokens of the vocabulary that the text is about, as in sentence-transformers'
  //   SparseEncoder (SPLADE, Formal et al. 2021) or, for BGE-M3, of its own tokens.
  // - colbert: BGE-M3's, for late interaction. How well a text answers a query is the mean, over the query's vectors,
  //   of the largest dot product with one of the text's.
  std::vector<VectorResult> embed_each(const std::vector<std::string>& texts, const EmbedOptions& options) const;
  // Submits texts to a queue of this model: texts of many requests are read in one pass. The vectors are of the kind
  // options.output. `client`: see RequestQueue::submit().
  Request submit(RequestQueue& queue, std::span<const std::string> texts, const EmbedOptions& options,
                 Handlers<VectorResult> handlers, std::uint64_t client = 0) const;

 private:
  Model model_;
};

}  // namespace encdec
