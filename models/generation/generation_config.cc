#include "encdec/models/generation/generation_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

constexpr std::int64_t kMaxLength = 1'000'000;
constexpr int kDefaultNewTokens = 20;
// CTranslate2's max_decoding_length of a Translator, and max_length of a Generator.
constexpr int kDefaultTranslationTokens = 256;
constexpr int kDefaultTextTokens = 512;
constexpr double kMinPenalty = 1e-6, kMaxPenalty = 1e6;

std::vector<std::int32_t> read_tokens(const JsonObject& object, std::string_view key, Dim vocabulary) {
  std::vector<std::int32_t> tokens;
  for (const std::int64_t id : object.integers(key, {0, vocabulary - 1})) {
    tokens.push_back(static_cast<std::int32_t>(id));
  }
  return tokens;
}

std::optional<int> read_length(const JsonObject& object, std::string_view key, std::int64_t minimum) {
  const auto length = object.integer(key, {minimum, kMaxLength});
  return length ? std::optional(static_cast<int>(*length)) : std::nullopt;
}

// Settings of transformers that change the result and are not built yet.
std::vector<std::string> unsupported_settings(const JsonObject& object) {
  struct Neutral {
    std::string_view key;
    double value;
  };
  constexpr std::array<Neutral, 2> kNumbers = {{{"num_beams", 1}, {"encoder_repetition_penalty", 1}}};
  std::vector<std::string> found;
  for (const auto& [key, neutral] : kNumbers) {
    if (const auto value = object.number(key); value && *value != neutral)
      found.push_back(fmt::format("{} {}", key, *value));
  }
  if (object.boolean("do_sample").value_or(false)) found.emplace_back("do_sample true");
  for (const std::string_view key : {"suppress_tokens", "begin_suppress_tokens"}) {
    if (!object.integers(key).empty()) found.emplace_back(key);
  }
  return found;
}

}  // namespace

int GenerationConfig::new_token_limit(std::size_t prompt_length) const {
  if (max_new_tokens) return std::max(1, *max_new_tokens);
  if (max_length) return std::max(1, *max_length - static_cast<int>(prompt_length));
  return kDefaultNewTokens;
}

std::optional<std::int32_t> GenerationConfig::forced_token(std::size_t prompt_length, std::size_t generated) const {
  if (!forced_eos_tokens.empty() && generated + 1 == static_cast<std::size_t>(new_token_limit(prompt_length))) {
    return std::ranges::min(forced_eos_tokens);
  }
  if (prompt_length + generated == 1) return forced_bos_token;
  return std::nullopt;
}

GenerationConfig read_generation_config(const JsonObject& generation, const TransformerConfig& config) {
  const Dim vocabulary = config.decoder.vocabulary;
  GenerationConfig result;
  result.max_length = read_length(generation, "max_length", 1);
  result.max_new_tokens = read_length(generation, "max_new_tokens", 1);
  result.min_length = read_length(generation, "min_length", 0).value_or(0);
  result.min_new_tokens = read_length(generation, "min_new_tokens", 0);
  result.repetition_penalty =
      static_cast<float>(generation.number("repetition_penalty", {kMinPenalty, kMaxPenalty}).value_or(1.0));
  result.no_repeat_ngram_size = read_length(generation, "no_repeat_ngram_size", 0).value_or(0);
  result.encoder_no_repeat_ngram_size = read_length(generation, "encoder_no_repeat_ngram_size", 0).value_or(0);
  result.eos_tokens = read_tokens(generation, "eos_token_id", vocabulary);
  result.forced_eos_tokens = read_tokens(generation, "forced_eos_token_id", vocabulary);
  const auto forced_bos = read_tokens(generation, "forced_bos_token_id", vocabulary);
  if (!forced_bos.empty()) result.forced_bos_token = forced_bos.front();

  const auto start = read_tokens(generation, "decoder_start_token_id", vocabulary);
  const auto bos = read_tokens(generation, "bos_token_id", vocabulary);
  if (config.has_encoder()) {  // a decoder-only model goes on from its prompt
    if (!start.empty()) {
      result.decoder_start_token = start.front();
    } else if (config.decoder_start_token) {
      result.decoder_start_token = config.decoder_start_token;
    } else if (!bos.empty()) {
      result.decoder_start_token = bos.front();
    }
  }
  for (const auto& word : generation.integer_lists("bad_words_ids", {0, vocabulary - 1})) {
    std::vector<std::int32_t> tokens(word.begin(), word.end());
    // As in transformers, a ban of the end token alone does not count.
    const bool is_end =
        tokens.size() == 1 && std::ranges::find(result.eos_tokens, tokens[0]) != result.eos_tokens.end();
    if (!tokens.empty() && !is_end) result.bad_words.push_back(std::move(tokens));
  }
  result.unsupported = unsupported_settings(generation);
  return result;
}

GenerationConfig read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                          const Tokenizer* tokenizer) {
  const std::filesystem::path generation = checkpoint.folder / "generation_config.json";
  if (std::filesystem::exists(generation)) return read_generation_config(read_json_object(generation), config);
  if (checkpoint.format != CheckpointFormat::ctranslate2 && checkpoint.format != CheckpointFormat::npz) {
    return read_generation_config(*checkpoint.config, config);
  }
  GenerationConfig result;
  const auto token_of = [&](std::string_view key, std::string_view missing) -> std::optional<std::int32_t> {
    const auto named = checkpoint.config ? checkpoint.config->string(key) : std::nullopt;
    return tokenizer != nullptr ? tokenizer->token_id(named.value_or(std::string(missing))) : std::nullopt;
  };
  if (const auto end = token_of("eos_token", "</s>")) result.eos_tokens = {*end};
  if (config.has_encoder()) {
    result.decoder_start_token =
        config.decoder_start_token ? config.decoder_start_token : token_of("decoder_start_token", "<s>");
    result.max_new_tokens = kDefaultTranslationTokens;
  } else {
    result.max_length = kDefaultTextTokens;
  }
  return result;
}

}  // namespace encdec
