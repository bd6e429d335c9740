#include "encdec/models/speech/transcription/whisper_facts.h"

#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/families/whisper.h"

namespace encdec {
namespace {

// Returns a file of the folder; nullopt if it does not exist.
std::optional<JsonObject> read_optional(const Checkpoint& checkpoint, const char* file) {
  const std::filesystem::path path = checkpoint.folder / file;
  return file_exists(path) ? std::optional(read_json_object(path)) : std::nullopt;
}

std::vector<std::pair<int, int>> alignment_heads_in(const std::optional<JsonObject>& settings,
                                                    const TransformerConfig& config) {
  std::vector<std::pair<int, int>> heads;
  if (!settings || !settings->has("alignment_heads")) return heads;
  const std::int64_t most = std::max(config.decoder.layers, config.decoder.attention.heads) - 1;
  for (const auto& pair : settings->integer_lists("alignment_heads", {0, most})) {
    if (pair.size() != 2 || pair[0] >= config.decoder.layers || pair[1] >= config.decoder.attention.heads) {
      refuse<ConfigError>(settings->file(), "'alignment_heads': expected pairs of a layer below {} and a head below {}",
                          config.decoder.layers, config.decoder.attention.heads);
    }
    heads.emplace_back(static_cast<int>(pair[0]), static_cast<int>(pair[1]));
  }
  return heads;
}

// Returns the alignment heads of generation_config.json, or of config.json (CTranslate2). If neither has any, returns
// those that openai published for a model of this size.
std::vector<std::pair<int, int>> alignment_heads_of(const Checkpoint& checkpoint,
                                                    const std::optional<JsonObject>& generation_config,
                                                    const TransformerConfig& config) {
  auto heads = alignment_heads_in(generation_config, config);
  if (heads.empty()) heads = alignment_heads_in(read_optional(checkpoint, "config.json"), config);
  return heads.empty() ? whisper_alignment_heads(config) : heads;
}

}  // namespace

WhisperFacts::WhisperFacts(const Checkpoint& checkpoint, const TransformerConfig& config, const Tokenizer* tokenizer)
    : WhisperFacts(checkpoint, read_optional(checkpoint, "generation_config.json"), config, tokenizer) {}

WhisperFacts::WhisperFacts(const Checkpoint& checkpoint, const std::optional<JsonObject>& generation_config,
                           const TransformerConfig& config, const Tokenizer* tokenizer)
    : tokens(tokenizer, static_cast<std::int32_t>(config.decoder.vocabulary),
             generation_config ? generation_config->boolean("is_multilingual") : std::nullopt,
             checkpoint.folder.string()),
      mel(static_cast<int>(config.encoder.frames.width)),
      positions(config.encoder.positions.count),
      context(config.decoder.positions.count),
      alignment_heads(alignment_heads_of(checkpoint, generation_config, config)),
      non_speech(tokens.non_speech()) {}

}  // namespace encdec
