#pragma once

#include <cstddef>
#include <string>

#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/generation/prompter.h"

namespace encdec {

// The work of one call of Model::embed() or RequestQueue::submit(). Turns each text into tokens, and the hidden states
// of these tokens into a vector. May be used by many threads at once.
class EmbeddingTask {
 public:
  // REQUIRES: what `parts` refers to and `embedder` outlive this object.
  // Throws ConfigError if an option is out of range, the folder has no prompt of the given name, or the model has a
  // decoder; TokenizerError if there is no tokenizer.
  EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options);

  // Returns the token ids of a text. Throws InputError, naming the text by `number`, if the model cannot read it.
  TokenIds tokens(const std::string& text, std::size_t number) const;
  // Returns the number of elements of a vector.
  Dim width() const;
  // Writes the vector [width()] of a text. `hidden` [tokens, D] are the last hidden states of its tokens.
  void embed(const Tensor& hidden, float* vector) const;

 private:
  ModelParts parts_;
  const SentenceEmbedder& embedder_;
  EmbedOptions options_;
  std::string prompt_;
  std::size_t limit_ = 0;  // maximum number of tokens; 0 for no limit
};

}  // namespace encdec
