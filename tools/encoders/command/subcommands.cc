#include <array>

#include "command/commands.h"
#include "slice.h"

namespace encdec::cli {

// Each is in the file of its name; rerank and tag are in classify.cc.
Action add_embed(CLI::App& command);
Action add_rerank(CLI::App& command);
Action add_classify(CLI::App& command);
Action add_tag(CLI::App& command);

std::span<const Subcommand> encoders_subcommands() {
  static constexpr std::array kSubcommands = {
      Subcommand{"embed", "Compute one vector for each text with an encoder-only model", add_embed,
                 "echo \"A sentence\" | encdec embed --model all-MiniLM-L6-v2"},
      Subcommand{"rerank", "Order documents by how well they answer a query, with a cross-encoder", add_rerank},
      Subcommand{"classify", "Label each text, or pair of texts, with a classifier", add_classify},
      Subcommand{"tag", "Find names and other entities in texts with a classifier of tokens", add_tag},
  };
  return kSubcommands;
}

}  // namespace encdec::cli
