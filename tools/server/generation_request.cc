#include "server/generation_request.h"

#include <encdec/models/generation/generation_settings.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "server/option_rows.h"

namespace encdec::serve {
namespace {

// Returns whether a value looks like a list of token ids.
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

// Throws HttpError for a name that is neither an option nor a setting of transformers' GenerationConfig.
void check_key(const std::string& key) {
  for (const OptionRow<GenerateOptions>& row : generation_call_options()) {
    if (std::ranges::count(row.names(), key) != 0) return;
  }
  if (std::ranges::count(generation_settings(), key, &OptionInfo::key) != 0) return;
  if (std::ranges::count(unsupported_settings(), key, &UnsupportedSetting::name) != 0) return;
  throw HttpError(400, fmt::format("unknown generation parameter '{}'", key));
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

GenerateOptions read_options(const Call& call, const JsonObject& parameters, const ServedModel& model) {
  for (const auto& item : parameters.value().items()) check_key(item.key());
  StoredSettings read = read_call_settings(parameters, model.model().config());
  if (!read.unsupported.empty()) {
    throw HttpError(400, fmt::format("this version does not support {}", fmt::join(read.unsupported, ", ")));
  }
  GenerateOptions options = std::move(read.options);
  read_rows(Parameters(parameters), generation_call_options(), options);
  for (const auto& slice : call.parts().settings.slices) slice->adjust(model, options);
  check_options(options, call.limits());
  return options;
}

void check_options(const GenerateOptions& options, const ServiceLimits& limits) {
  check_limit("num_beams", options.num_beams, limits.beams);
  check_limit("num_return_sequences", options.num_return_sequences, limits.beams);
  check_limit("max_new_tokens", options.max_new_tokens, limits.new_tokens);
  check_limit("max_length", options.max_length, limits.new_tokens);
  check_limit("min_new_tokens", options.min_new_tokens, limits.new_tokens);
}

}  // namespace encdec::serve
