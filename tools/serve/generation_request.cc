#include "serve/generation_request.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/json_arrays.h"
#include "common/lower_case.h"
#include "serve/http/form.h"
#include "serve/text/language.h"

namespace encdec::serve {
namespace {

constexpr std::array<std::string_view, 10> kOwnKeys = {
    "source_lang",  "src_lang", "target_lang",   "tgt_lang",         "max_source_tokens",
    "long_sources", "seed",     "top_log_probs", "coverage_penalty", "shortlist"};

bool is_ids(const nlohmann::json& value) {
  return value.is_array() && !value.empty() && value.front().is_number();
}

TokenIds ids_of(const nlohmann::json& value, const std::string& key) {
  TokenIds ids;
  for (const auto& id : value) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > INT32_MAX) {
      throw HttpError(400, fmt::format("'{}' has {}, expected token ids", key, id.dump()));
    }
    ids.push_back(static_cast<std::int32_t>(id.get<std::int64_t>()));
  }
  return ids;
}

void check_key(const std::string& key) {
  if (std::ranges::find(kOwnKeys, key) != kOwnKeys.end()) return;
  for (const Setting& setting : generation_settings()) {
    if (!setting.key().empty() && setting.key() == key) return;
  }
  throw HttpError(400, fmt::format("unknown generation parameter '{}'", key));
}

void check_limit(std::string_view name, std::optional<int> value, int limit, std::string_view option) {
  if (value.value_or(0) <= limit) return;
  throw HttpError(400, fmt::format("{} is {}, expected at most {} ({})", name, *value, limit, option));
}

// Reads a language in any spelling and returns the model's own code for it; empty if the model has no such codes.
std::string language_of(const JsonObject& parameters, const char* name, const char* other,
                        const std::map<std::string, std::string>& known) {
  const std::string language = parameters.string(name).value_or(parameters.string(other).value_or(""));
  const auto found = known.find(canonical_language(language));
  if (found != known.end()) return found->second;
  const bool has_codes = std::ranges::any_of(known, [](const auto& entry) { return !entry.second.empty(); });
  if (!language.empty() && !known.empty() && !has_codes) {
    std::vector<std::string> codes;
    for (const auto& [code, own] : known) codes.push_back(code);
    throw HttpError(400, fmt::format("'{}' is '{}', expected one of {}", name, language, fmt::join(codes, ", ")));
  }
  return language;
}

}  // namespace

std::vector<GenerateInput> read_inputs(const Call& call, const JsonObject& request, const std::string& key,
                                       const ServedModel& model) {
  std::vector<GenerateInput> inputs;
  if (!request.has(key)) return inputs;
  const nlohmann::json& value = request.value().at(key);
  const bool is_list = value.is_array() && !value.empty() && !is_ids(value);
  const auto add = [&](const nlohmann::json& input) {
    if (input.is_string()) {
      if (model.model().tokenizer() == nullptr) {
        throw HttpError(400, fmt::format("model '{}' has no tokenizer, expected token ids", model.name()));
      }
      inputs.emplace_back().source = input.get<std::string>();
    } else if (is_ids(input)) {
      inputs.emplace_back().source = ids_of(input, key);
    } else {
      throw HttpError(400, fmt::format("'{}' has {}, expected texts or lists of token ids", key, input.type_name()));
    }
  };
  if (is_list) {
    call.check_inputs(value.size());
    for (const auto& input : value) add(input);
  } else if (!value.is_array() || !value.empty()) {
    add(value);
  }
  return inputs;
}

std::vector<std::string> read_texts(const Call& call, const JsonObject& request, const std::string& key,
                                    const ServedModel& model) {
  std::vector<std::string> texts;
  for (const GenerateInput& input : read_inputs(call, request, key, model)) {
    const auto* text = std::get_if<std::string>(&input.source);
    if (model.model().tokenizer() == nullptr) {
      throw HttpError(400, fmt::format("model '{}' has no tokenizer, so it has no texts", model.name()));
    }
    texts.push_back(text != nullptr ? *text : model.model().tokenizer()->decode(std::get<TokenIds>(input.source)));
  }
  return texts;
}

GenerateOptions read_options(const JsonObject& parameters, const ServedModel& model, const ServiceLimits& limits) {
  for (const auto& item : parameters.value().items()) check_key(item.key());
  StoredSettings read = read_generation_settings(parameters, model.model().config());
  if (!read.unsupported.empty()) {
    throw HttpError(400, fmt::format("this version does not support {}", fmt::join(read.unsupported, ", ")));
  }
  GenerateOptions options = std::move(read.options);
  // read_generation_settings() sets a default for a missing decoder_start_token_id, because generation_config.json
  // needs one. A request without this parameter uses the model's value.
  if (!parameters.has("decoder_start_token_id")) options.decoder_start_token.reset();
  if (const auto seed = parameters.integer("seed", {.min = 0})) options.seed = static_cast<std::uint64_t>(*seed);
  if (const auto penalty = parameters.number("coverage_penalty")) {
    options.coverage_penalty = static_cast<float>(*penalty);
  }
  if (parameters.has("shortlist")) options.shortlist = ids_of(parameters.value().at("shortlist"), "shortlist");
  options.source_lang = language_of(parameters, "src_lang", "source_lang", model.languages().sources);
  options.target_lang = language_of(parameters, "tgt_lang", "target_lang", model.languages().targets);
  options.max_source_tokens =
      static_cast<int>(parameters.integer("max_source_tokens", {.min = 0, .max = kMaxTokenCount}).value_or(0));
  const std::string long_sources = parameters.string("long_sources").value_or("error");
  if (long_sources != "error" && long_sources != "truncate") {
    throw HttpError(400, fmt::format("'long_sources' is '{}', expected error or truncate", long_sources));
  }
  if (long_sources == "truncate") options.long_sources = LongSources::truncate;
  options.top_log_probs = static_cast<int>(parameters.integer("top_log_probs", {.min = 0, .max = 100}).value_or(0));
  check_options(options, limits);
  return options;
}

void check_options(const GenerateOptions& options, const ServiceLimits& limits) {
  check_limit("num_beams", options.num_beams, limits.beams, "--max-beams");
  check_limit("num_return_sequences", options.num_return_sequences, limits.beams, "--max-beams");
  check_limit("max_new_tokens", options.max_new_tokens, limits.new_tokens, "--max-new-tokens");
  check_limit("max_length", options.max_length, limits.new_tokens, "--max-new-tokens");
  check_limit("min_new_tokens", options.min_new_tokens, limits.new_tokens, "--max-new-tokens");
}

EmbedOptions read_embed_options(const JsonObject& request, bool is_normal) {
  EmbedOptions options;
  options.normalize = request.boolean("normalize").value_or(is_normal);
  options.prompt_name = request.string("prompt_name");
  options.dimensions = static_cast<int>(request.integer("dimensions", {.min = 1, .max = 1 << 20}).value_or(0));
  options.long_texts = request.boolean("truncate").value_or(true) ? LongSources::truncate : LongSources::error;
  if (const auto side = request.string("truncation_direction"); side && lower_case(*side) != "right") {
    throw HttpError(400, fmt::format("'truncation_direction' is '{}', expected right", *side));
  }
  return options;
}

bool is_special(const Model& model, std::int32_t id) {
  const GenerateOptions& defaults = model.generation_config();
  const auto has = [id](const std::optional<TokenIds>& tokens) {
    return tokens && std::ranges::find(*tokens, id) != tokens->end();
  };
  return has(defaults.eos_tokens) || has(defaults.forced_eos_tokens) || id == defaults.decoder_start_token ||
         id == defaults.forced_bos_token || id == model.config().pad_token;
}

nlohmann::ordered_json vectors_json(const std::vector<EmbedResult>& results) {
  nlohmann::ordered_json vectors = nlohmann::ordered_json::array();
  for (const EmbedResult& result : results) vectors.push_back(cli::to_array(result.values));
  return vectors;
}

}  // namespace encdec::serve
