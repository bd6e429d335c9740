#include "slice.h"

#include <encdec/encoders/classifier.h>
#include <encdec/encoders/embedder.h>

#include <array>
#include <nlohmann/json.hpp>

#include "command/commands.h"

namespace encdec::cli {

// Each is in the file of its name; rerank and tag are in classify.cc.
Action add_embed(CLI::App& command);
Action add_rerank(CLI::App& command);
Action add_classify(CLI::App& command);
Action add_tag(CLI::App& command);

namespace {

// Adds the labels of a classifier, and the kinds of vectors that the model gives.
void inspect(const Model& model, nlohmann::ordered_json& json) {
  if (const auto classifier = Classifier(model).labels()) {
    const bool of_tokens = model.config().head.kind == HeadKind::tokens;
    json["classifier"] = {{"of", of_tokens ? "tokens" : "texts"},
                          {"labels", classifier->names()},
                          {"function", name_of(kScoreFunctionNames, classifier->function())},
                          {"rerank_function", name_of(kScoreFunctionNames, classifier->ranking_function())}};
  }
  for (const auto& [output, name] : kEmbedOutputNames) {
    if (Embedder(model).gives(output)) json["vectors"].push_back(name);
  }
}

}  // namespace

CommandSlice encoders_command_slice() {
  static constexpr std::array kSubcommands = {
      Subcommand{"embed", "Compute one vector for each text with an encoder-only model", add_embed,
                 "echo \"A sentence\" | encdec embed --model all-MiniLM-L6-v2"},
      Subcommand{"rerank", "Order documents by how well they answer a query, with a cross-encoder", add_rerank},
      Subcommand{"classify", "Label each text, or pair of texts, with a classifier", add_classify},
      Subcommand{"tag", "Find names and other entities in texts with a classifier of tokens", add_tag},
  };
  return {.subcommands = kSubcommands, .inspect = &inspect};
}

}  // namespace encdec::cli
