#include "slice.h"

#include <encdec/encoders/classifier.h>
#include <encdec/encoders/embedder.h>

#include <array>
#include <nlohmann/json.hpp>

#include "command/commands.h"

namespace encdec::cli {

// The functions below are defined in embed.cc and classify.cc.
Action add_embed(CLI::App& command);
Action add_rerank(CLI::App& command);
Action add_classify(CLI::App& command);
Action add_tag(CLI::App& command);

namespace {

// Adds a classifier's labels, and the kinds of vectors that the model supports, to the output of `inspect`.
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
      Subcommand{"rerank", "Rank documents by their relevance to a query, with a cross-encoder", add_rerank},
      Subcommand{"classify", "Label texts, or pairs of texts, with a classifier", add_classify},
      Subcommand{"tag", "Find names and other entities in texts, with a token classifier", add_tag},
  };
  return {.subcommands = kSubcommands, .inspect = &inspect};
}

}  // namespace encdec::cli
