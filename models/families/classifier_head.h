#pragma once

#include <nlohmann/json.hpp>
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

}  // namespace encdec
