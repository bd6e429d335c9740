#include "encdec/models/generation/generation_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

constexpr int kDefaultNewTokens = 20;
// CTranslate2's max_decoding_length of a Translator, and max_length of a Generator.
constexpr int kDefaultTranslationTokens = 256;
constexpr int kDefaultTextTokens = 512;
constexpr NumberRange kFactor = {.min = kMinFactor, .max = kMaxFactor};
constexpr NumberRange kExponent = {.min = -kMaxScoreExponent, .max = kMaxScoreExponent};
constexpr IntegerRange kAnyToken = {.min = INT32_MIN, .max = INT32_MAX};

using TokenList = std::vector<std::int32_t>;

TokenList read_tokens(const JsonObject& object, std::string_view key, Dim vocabulary) {
  TokenList tokens;
  for (const std::int64_t id : object.integers(key, {0, vocabulary - 1})) {
    tokens.push_back(static_cast<std::int32_t>(id));
  }
  return tokens;
}

// Tokens that must not come. Those of a larger vocabulary will not, and checkpoints name some.
TokenList read_unwanted_tokens(const JsonObject& object, std::string_view key, Dim vocabulary) {
  TokenList tokens;
  for (const std::int64_t id : object.integers(key, kAnyToken)) {
    if (id >= 0 && id < vocabulary) tokens.push_back(static_cast<std::int32_t>(id));
  }
  return tokens;
}

// Sequences of tokens; empty ones say nothing.
std::vector<TokenList> read_words(const JsonObject& object, std::string_view key, Dim vocabulary) {
  std::vector<TokenList> words;
  for (const auto& word : object.integer_lists(key, {0, vocabulary - 1})) {
    if (!word.empty()) words.emplace_back(word.begin(), word.end());
  }
  return words;
}

std::optional<int> read_int(const JsonObject& object, std::string_view key, IntegerRange range) {
  const auto value = object.integer(key, range);
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

std::optional<int> read_length(const JsonObject& object, std::string_view key, std::int64_t minimum) {
  return read_int(object, key, {minimum, kMaxTokenCount});
}

float read_float(const JsonObject& object, std::string_view key, NumberRange range, float missing) {
  return static_cast<float>(object.number(key, range).value_or(missing));
}

EarlyStopping read_early_stopping(const JsonObject& object) {
  constexpr std::string_view kKey = "early_stopping";
  const auto found = object.value().find(kKey);
  if (found == object.value().end() || !found->is_string()) {
    return object.boolean(kKey).value_or(false) ? EarlyStopping::when_full : EarlyStopping::heuristic;
  }
  if (*found != "never") {
    throw ConfigError(fmt::format("{}: '{}' is \"{}\", expected true, false or \"never\"", object.file(), kKey,
                                  printable(*object.string(kKey))));
  }
  return EarlyStopping::never;
}

std::optional<ExponentialDecay> read_decay(const JsonObject& object) {
  constexpr std::string_view kKey = "exponential_decay_length_penalty";
  if (!object.has(kKey)) return std::nullopt;
  const auto& pair = object.value()[kKey];
  const auto fail = [&] {
    throw ConfigError(fmt::format("{}: '{}' is {}, expected [start from 0 to {}, factor from {} to {}]", object.file(),
                                  kKey, printable(pair.dump()), kMaxTokenCount, kFactor.min, kFactor.max));
  };
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number()) fail();
  // A double holds every integer in range, and no other rounds to one.
  const double start = pair[0].get<double>(), factor = pair[1].get<double>();
  if (start < 0 || start > kMaxTokenCount || factor < kFactor.min || factor > kFactor.max) fail();
  return ExponentialDecay{static_cast<int>(start), static_cast<float>(factor)};
}

// Whether force_words_ids has lists of words, any of which may be used (lists in lists in lists).
bool has_alternative_force_words(const JsonObject& object) {
  if (!object.has("force_words_ids")) return false;
  const auto is_nested = [](const nlohmann::json& list) {
    return list.is_array() && std::ranges::any_of(list, [](const nlohmann::json& item) { return item.is_array(); });
  };
  return std::ranges::any_of(object.value()["force_words_ids"], is_nested);
}

// Settings of transformers that ask for what is not built.
std::vector<std::string> unsupported_settings(const JsonObject& object) {
  struct Neutral {
    std::string_view key;
    double value;
  };
  constexpr std::array<Neutral, 9> kNumbers = {{{"num_beam_groups", 1},
                                                {"diversity_penalty", 0},
                                                {"penalty_alpha", 0},
                                                {"typical_p", 1},
                                                {"epsilon_cutoff", 0},
                                                {"eta_cutoff", 0},
                                                {"min_p", 0},
                                                {"guidance_scale", 1},
                                                {"prompt_lookup_num_tokens", 0}}};
  constexpr std::array kSwitches = {"renormalize_logits", "remove_invalid_values", "token_healing"};
  constexpr std::array kAnyValue = {"sequence_bias", "watermarking_config", "constraints", "stop_strings", "max_time",
                                    "top_h",         "forced_decoder_ids"};
  std::vector<std::string> found;
  for (const auto& [key, neutral] : kNumbers) {
    if (const auto value = object.number(key); value && *value != neutral)
      found.push_back(fmt::format("{} {}", key, *value));
  }
  for (const std::string_view key : kSwitches) {
    if (object.boolean(key).value_or(false)) found.push_back(fmt::format("{} true", key));
  }
  for (const std::string_view key : kAnyValue) {
    if (object.has(key) && !object.value()[key].empty()) found.emplace_back(key);
  }
  if (has_alternative_force_words(object)) found.emplace_back("force_words_ids with alternatives");
  return found;
}

void read_search(const JsonObject& object, GenerationConfig& config) {
  config.num_beams = read_int(object, "num_beams", {1, kMaxSequences}).value_or(1);
  config.num_return_sequences = read_int(object, "num_return_sequences", {1, kMaxSequences}).value_or(1);
  config.length_penalty = read_float(object, "length_penalty", kExponent, config.length_penalty);
  config.early_stopping = read_early_stopping(object);
}

void read_sampling(const JsonObject& object, GenerationConfig& config) {
  config.do_sample = object.boolean("do_sample").value_or(false);
  config.top_k = read_int(object, "top_k", {0, INT32_MAX}).value_or(config.top_k);
  config.top_p = read_float(object, "top_p", {0, 1}, config.top_p);
  // Folders that do not sample may say 0, for the likeliest token.
  const NumberRange range = {.min = config.do_sample ? kFactor.min : 0, .max = kFactor.max};
  const double temperature = object.number("temperature", range).value_or(1.0);
  if (temperature >= kFactor.min) {
    config.temperature = static_cast<float>(temperature);
  } else {
    config.unsupported.push_back(fmt::format("temperature {}", temperature));
  }
}

void read_lengths(const JsonObject& object, GenerationConfig& config) {
  config.max_length = read_length(object, "max_length", 1);
  config.max_new_tokens = read_length(object, "max_new_tokens", 1);
  config.min_length = read_length(object, "min_length", 0).value_or(0);
  config.min_new_tokens = read_length(object, "min_new_tokens", 0);
  config.exponential_decay_length_penalty = read_decay(object);
}

void read_rules(const JsonObject& object, Dim vocabulary, GenerationConfig& config) {
  config.repetition_penalty = read_float(object, "repetition_penalty", kFactor, 1.0f);
  config.encoder_repetition_penalty = read_float(object, "encoder_repetition_penalty", kFactor, 1.0f);
  config.no_repeat_ngram_size = read_length(object, "no_repeat_ngram_size", 0).value_or(0);
  config.encoder_no_repeat_ngram_size = read_length(object, "encoder_no_repeat_ngram_size", 0).value_or(0);
  config.bad_words = read_words(object, "bad_words_ids", vocabulary);
  config.suppress_tokens = read_unwanted_tokens(object, "suppress_tokens", vocabulary);
  config.begin_suppress_tokens = read_unwanted_tokens(object, "begin_suppress_tokens", vocabulary);
  if (!has_alternative_force_words(object)) config.force_words = read_words(object, "force_words_ids", vocabulary);
}

void read_special_tokens(const JsonObject& object, const TransformerConfig& model, GenerationConfig& config) {
  const Dim vocabulary = model.decoder.vocabulary;
  config.eos_tokens = read_tokens(object, "eos_token_id", vocabulary);
  config.forced_eos_tokens = read_tokens(object, "forced_eos_token_id", vocabulary);
  const auto first_of = [&](std::string_view key) -> std::optional<std::int32_t> {
    const TokenList tokens = read_tokens(object, key, vocabulary);
    return tokens.empty() ? std::nullopt : std::optional(tokens.front());
  };
  const auto start = first_of("decoder_start_token_id"), bos = first_of("bos_token_id");
  config.forced_bos_token = first_of("forced_bos_token_id");
  // The name that old folders of BART have for it.
  if (object.boolean("force_bos_token_to_be_generated").value_or(false)) config.forced_bos_token = bos;
  if (!model.has_encoder()) return;  // goes on from its prompt
  config.decoder_start_token = start ? start : model.decoder_start_token ? model.decoder_start_token : bos;
}

}  // namespace

int GenerationConfig::new_token_limit(std::size_t prompt_length) const {
  if (max_new_tokens) return std::max(1, *max_new_tokens);
  if (max_length) return std::max(1, *max_length - static_cast<int>(prompt_length));
  return kDefaultNewTokens;
}

GenerationConfig read_generation_config(const JsonObject& generation, const TransformerConfig& config) {
  GenerationConfig result;
  result.unsupported = unsupported_settings(generation);
  read_search(generation, result);
  read_sampling(generation, result);
  read_lengths(generation, result);
  read_rules(generation, config.decoder.vocabulary, result);
  read_special_tokens(generation, config, result);
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
