#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "encdec/models/families/config_reader.h"

namespace encdec {

// Returns the head of the classifier that "architectures" names, if it names one. `activation` is that of the first
// linear map of a head for texts.
inline HeadConfig read_head(const JsonObject& json, Activation activation) {
  const std::vector<std::string> names = json.strings("architectures");
  const std::string name = names.empty() ? "" : names.front();
  HeadConfig head;
  if (name.ends_with("ForSequenceClassification")) {
    head = {.kind = HeadKind::sequences, .activation = activation};
  } else if (name.ends_with("ForTokenClassification")) {
    head.kind = HeadKind::tokens;
  } else {
    return {};
  }
  const auto labels = json.object("id2label");
  head.labels = labels ? static_cast<Dim>(labels->value().size()) : ConfigReader(json).width("num_labels", 2);
  return head;
}

// The same for an encoder-decoder, whose head for texts reads the decoder's row of the last end token: eos_token_id, or
// `missing_end`. `start` is the first token that the decoder reads; unset: the last token of the text.
inline HeadConfig read_decoder_head(const JsonObject& json, Dim vocabulary, std::int32_t missing_end,
                                    std::optional<std::int32_t> start) {
  HeadConfig head = read_head(json, Activation::tanh);
  if (head.kind != HeadKind::sequences) return head;
  head.pooling = HeadPooling::last_end;
  head.end_token = ConfigReader(json).token("eos_token_id", vocabulary).value_or(missing_end);
  head.start_token = start;
  return head;
}

}  // namespace encdec
