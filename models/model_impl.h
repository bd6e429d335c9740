#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/checkpoint/refuse.h"
#include "encdec/models/embedding_task.h"
#include "encdec/models/model.h"
#include "encdec/models/transcription/whisper_facts.h"

namespace encdec {

// What a model is made of.
struct Model::Impl {
  std::filesystem::path folder;
  TransformerConfig config;
  CheckpointFormat format = CheckpointFormat::safetensors;
  GenerateOptions generation;
  std::vector<std::string> unsupported_settings;
  std::shared_ptr<const WeightStore> weights;
  std::shared_ptr<const Transformer> network;
  std::unique_ptr<const Tokenizer> tokenizer;
  std::optional<WhisperFacts> whisper;  // of models that read sound
  SentenceEmbedder embedder;
  std::vector<std::string> notes;
  std::string precision_note;
  std::string weights_note;
  std::unique_ptr<SessionPool> sessions;

  // Throws ConfigError where the model reads text.
  const WhisperFacts& speech() const {
    if (whisper) return *whisper;
    refuse<ConfigError>(weights->origin(), "{} reads text, expected a model that reads sound", config.model_type);
  }
  ModelParts parts() const { return {*network, generation, tokenizer.get(), weights->origin(), *sessions}; }
};

}  // namespace encdec
