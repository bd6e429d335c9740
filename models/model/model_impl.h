#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/classification/classification_task.h"
#include "encdec/models/embedding/embedding_task.h"
#include "encdec/models/model/model.h"

namespace encdec {

// The parts of a loaded model.
struct Model::Impl {
  std::filesystem::path folder;
  TransformerConfig config;
  Checkpoint checkpoint;
  GenerateOptions generation;
  std::vector<std::string> unsupported_settings;
  std::shared_ptr<const Transformer> network;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const LexicalShortlist> lexical_shortlist;
  SentenceEmbedder embedder;
  std::optional<Classifier> classifier;
  std::vector<std::string> notes;
  std::string precision_note;
  std::string weights_note;
  std::unique_ptr<SessionPool> sessions;

  ModelParts parts() const {
    return {*network, generation, tokenizer.get(), checkpoint.weights->origin(), *sessions, lexical_shortlist};
  }
};

}  // namespace encdec
