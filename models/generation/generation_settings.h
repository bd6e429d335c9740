#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/generation/generate_options.h"
#include "encdec/models/generation/option_row.h"
#include "encdec/models/network/config.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// A setting of transformers that encdec does not support. A value that is not neutral adds a note to
// StoredSettings::unsupported. Neutral values are a number equal to `neutral`, false, and an empty value.
struct UnsupportedSetting {
  enum class Kind : std::uint8_t { number, flag, anything };
  std::string_view name;
  Kind kind;
  std::optional<double> neutral = {};
};

// Return all settings that a checkpoint may store, each once. In GenerateOptions these settings are std::optional.
std::span<const OptionRow<GenerateOptions>> generation_settings();
std::span<const UnsupportedSetting> unsupported_settings();
// Returns the other options of a call, for which a checkpoint has no defaults.
std::span<const OptionRow<GenerateOptions>> generation_call_options();

// Upper bound of the numbers of beams, results and top tokens. A larger number is assumed to be a typo.
inline constexpr int kMaxSequences = 1'000;
inline constexpr int kMaxTokenCount = 1'000'000;  // maximum of lengths and n-gram sizes

// Returns `options` with unset settings taken from `defaults`.
GenerateOptions operator|(const GenerateOptions& defaults, const GenerateOptions& options);

// Returns `options` with unset settings filled in: neutral values where defined, and empty lists.
GenerateOptions with_neutral_values(const GenerateOptions& options);

// Throws ConfigError for a setting that is out of range and for a token id that is not below
// `vocabulary`. The error names the setting, its value and the expected values.
void check_settings(const GenerateOptions& options, Dim vocabulary);

// Returns the maximum number of new tokens after a prompt: at least 1, and 20 if no option sets a maximum.
int new_token_limit(const GenerateOptions& options, std::size_t prompt_length = 1);

struct StoredSettings {
  GenerateOptions options;
  // Unsupported settings, to show to the user: "penalty_alpha 0.6".
  std::vector<std::string> unsupported = {};
};

// Reads the settings in generation_config.json or, without this file, in config.json. Throws ConfigError, which names
// the file and the key.
StoredSettings read_generation_settings(const JsonObject& generation, const TransformerConfig& config);

// Reads the settings of a call from JSON. A setting has the same key as in generation_config.json; a setting that files
// cannot contain has its name as key. Sets no defaults. Throws ConfigError as above.
StoredSettings read_call_settings(const JsonObject& call, const TransformerConfig& config);

// Reads the settings of a checkpoint in any format. If the format stores special tokens as texts,
// looks them up in `tokenizer` (may be null) and sets CTranslate2's default length limits.
StoredSettings read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                        const Tokenizer* tokenizer);

// Returns a report for users: the settings that differ from their neutral values, under the keys of
// generation_config.json, and the maximum number of new tokens.
nlohmann::ordered_json to_json(const GenerateOptions& options);

}  // namespace encdec
