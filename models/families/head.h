#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/families/config_reader.h"
#include "encdec/models/families/name_table.h"

namespace encdec {

// Returns the first of "architectures" in config.json; empty if there is none.
inline std::string architecture_name(const JsonObject& json) {
  const std::vector<std::string> names = json.strings("architectures");
  return names.empty() ? "" : names.front();
}

// Returns the head of the classifier that "architectures" names; HeadKind::none if there is none.
// `activation` follows the dense layer of a head for texts.
inline HeadConfig read_classifier_head(const JsonObject& json, Activation activation) {
  const std::string name = architecture_name(json);
  HeadConfig head;
  if (name.ends_with("ForSequenceClassification")) {
    head = {.kind = HeadKind::sequences, .activation = activation};
  } else if (name.ends_with("ForTokenClassification")) {
    head.kind = HeadKind::tokens;
  } else {
    return {};
  }
  const auto labels = json.object("id2label");
  if (labels && labels->value().empty()) refuse<ConfigError>(json.file(), "id2label has no labels, expected some");
  head.labels = labels ? static_cast<Dim>(labels->value().size()) : ConfigReader(json).width("num_labels", 2);
  return head;
}

// Like read_classifier_head(), for an encoder-decoder. The head of a text classifier reads the decoder's row for the
// last end token (config.json's eos_token_id, by default `missing_end`). `start` is the decoder's first token; if
// unset, the decoder's first token is the text's last token.
inline HeadConfig read_decoder_head(const JsonObject& json, Dim vocabulary, std::int32_t missing_end,
                                    std::optional<std::int32_t> start) {
  HeadConfig head = read_classifier_head(json, Activation::tanh);
  if (head.kind != HeadKind::sequences) return head;
  head.pooling = HeadPooling::last_end;
  head.end_token = ConfigReader(json).token("eos_token_id", vocabulary).value_or(missing_end);
  head.start_token = start;
  return head;
}

struct HeadActivations {
  Activation classifier;  // activation of a text classifier
  Activation language_model;
};

// Returns the head of a classifier, or of a masked language model with `vocabulary` tokens.
inline HeadConfig read_head(const JsonObject& json, HeadActivations activations, Dim vocabulary) {
  if (!architecture_name(json).ends_with("ForMaskedLM")) return read_classifier_head(json, activations.classifier);
  return {
      .kind = HeadKind::vocabulary, .labels = vocabulary, .activation = activations.language_model, .has_norm = true};
}

struct HeadNames {
  std::string dense = {}, output = {}, norm = {};
  std::string output_bias = {};  // another name of `output`'s bias
};

// Returns the names of a head's tensors. A masked language model's output has the weights of
// `embedding` and the bias `output_bias`, unless tie_word_embeddings is false in config.json.
inline std::vector<NamePattern> head_names(const JsonObject& json, const HeadConfig& head, const HeadNames& classifier,
                                           const HeadNames& language_model, const std::string& embedding) {
  if (head.kind != HeadKind::vocabulary) {
    return {{"head.dense", {classifier.dense}}, {"head.norm", {classifier.norm}}, {"head.output", {classifier.output}}};
  }
  const auto& [dense, output, norm, output_bias] = language_model;
  std::vector<StoredName> biases = {output + ".bias", output_bias};
  const bool is_tied = json.boolean("tie_word_embeddings").value_or(true);
  if (is_tied) std::ranges::reverse(biases);
  return {{"head.dense", {dense}},
          {"head.norm", {norm}},
          {"head.output.weight", {(is_tied ? embedding : output) + ".weight"}},
          {"head.output.bias", biases}};
}

}  // namespace encdec
