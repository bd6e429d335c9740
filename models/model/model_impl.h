#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "encdec/models/model/model.h"
#include "encdec/models/model/sentence_embedder.h"

namespace encdec {

struct Model::Impl {
  std::filesystem::path folder;
  TransformerConfig config;
  Checkpoint checkpoint;
  GenerateOptions generation;
  std::shared_ptr<const Transformer> network;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const LexicalShortlist> lexical_shortlist;
  SentenceEmbedder modules;
  ModelNotes notes;
  std::unique_ptr<SessionPool> sessions;

  ModelParts parts() const {
    return {*network, generation, tokenizer.get(), checkpoint.weights->origin(), *sessions, lexical_shortlist};
  }
};

}  // namespace encdec
