#pragma once

#include <cstddef>
#include <string>

#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/generation/prompter.h"

namespace encdec {

// What a call asks of each of its texts: makes tokens of them, and vectors of their hidden states. May be used by many
// threads at once.
class EmbeddingTask {
 public:
  // Throws ConfigError for options that are out of range, prompts that the folder does not name and models with a
  // decoder, TokenizerError where there is no tokenizer. The parts and the embedder must outlive it.
  EmbeddingTask(const ModelParts& parts, const SentenceEmbedder& embedder, EmbedOptions options);

  // Throws InputError, naming a text by its number, for what the model cannot read.
  TokenIds tokens(const std::string& text, std::size_t number) const;
  // Numbers of a vector.
  Dim width() const;
  // hidden [tokens, D], the last hidden states of a text -> its vector [width()].
  void embed(const Tensor& hidden, float* vector) const;

 private:
  ModelParts parts_;
  const SentenceEmbedder& embedder_;
  EmbedOptions options_;
  std::string prompt_;
  std::size_t limit_ = 0;  // of tokens; 0 for none
};

}  // namespace encdec
