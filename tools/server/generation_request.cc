#include "server/generation_request.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/generation/generation_settings.h>
#include <encdec/models/tokenizer/base/utf8.h>
#include <encdec/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "common/json_arrays.h"
#include "server/option_rows.h"

namespace encdec::serve {
namespace {

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
  for (const OptionRow<GenerateOptions>& row : generation_call_options()) {
    if (std::ranges::count(row.names(), key) != 0) return;
  }
  if (std::ranges::count(generation_settings(), key, &OptionInfo::key) != 0) return;
  if (std::ranges::count(unsupported_settings(), key, &UnsupportedSetting::name) != 0) return;
  throw HttpError(400, fmt::format("unknown generation parameter '{}'", key));
}

// Returns the model's own code for a language in any spelling; empty if the model has no such codes.
std::string code_of(const std::string& language, const char* name, const std::map<std::string, std::string>& known) {
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

void check_limit(std::string_view name, std::optional<int> value, int limit) {
  if (value.value_or(0) <= limit) return;
  throw HttpError(400, fmt::format("{} is {}, expected at most {}", name, *value, limit));
}

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
  StoredSettings read = read_call_settings(parameters, model.model().config());
  if (!read.unsupported.empty()) {
    throw HttpError(400, fmt::format("this version does not support {}", fmt::join(read.unsupported, ", ")));
  }
  GenerateOptions options = std::move(read.options);
  read_rows(Parameters(parameters), generation_call_options(), options);
  options.source_lang = code_of(options.source_lang, "source_lang", model.languages().sources);
  options.target_lang = code_of(options.target_lang, "target_lang", model.languages().targets);
  check_options(options, limits);
  return options;
}

void check_options(const GenerateOptions& options, const ServiceLimits& limits) {
  check_limit("num_beams", options.num_beams, limits.beams);
  check_limit("num_return_sequences", options.num_return_sequences, limits.beams);
  check_limit("max_new_tokens", options.max_new_tokens, limits.new_tokens);
  check_limit("max_length", options.max_length, limits.new_tokens);
  check_limit("min_new_tokens", options.min_new_tokens, limits.new_tokens);
}

LongSources read_long_texts(const JsonObject& request) {
  LongSources result = LongSources::truncate;
  if (const auto word = request.string("truncation_direction")) {
    const auto side = value_named<TruncationSide>(kTruncationSides, lower_case(*word));
    if (!side) throw HttpError(400, fmt::format("'truncation_direction' is '{}', expected left or right", *word));
    result = *side == TruncationSide::left ? LongSources::truncate_left : LongSources::truncate_right;
  }
  return request.boolean("truncate").value_or(true) ? result : LongSources::error;
}

EmbedOptions read_embed_options(const JsonObject& request, bool is_normal) {
  EmbedOptions options;
  options.normalize = request.boolean("normalize").value_or(is_normal);
  options.prompt_name = request.string("prompt_name");
  options.dimensions = static_cast<int>(request.integer("dimensions", {.min = 1, .max = 1 << 20}).value_or(0));
  options.long_texts = read_long_texts(request);
  return options;
}

nlohmann::ordered_json vector_json(const VectorResult& result) {
  if (result.output == EmbedOutput::dense) return cli::to_array(result.values);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (result.output == EmbedOutput::sparse) {
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      list.push_back({{"index", result.token_ids[i]}, {"value", cli::short_number(result.values[i])}});
    }
    return list;
  }
  const std::span<const float> values = result.values;
  for (std::size_t row = 0; row < result.rows; ++row) {
    list.push_back(cli::to_array(values.subspan(row * result.width, result.width)));
  }
  return list;
}

}  // namespace encdec::serve
