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

// A setting of transformers that encdec does not support. Reading a value other than the neutral one, which for a flag
// is false and for anything else empty, adds a note to StoredSettings::unsupported.
struct UnsupportedSetting {
  enum class Kind : std::uint8_t { number, flag, anything };
  std::string_view name;
  Kind kind;
  std::optional<double> neutral = {};  // neutral value of a number
};

// Return all settings of a checkpoint, each once. Their members are std::optional.
std::span<const OptionRow<GenerateOptions>> generation_settings();
std::span<const UnsupportedSetting> unsupported_settings();
// Returns the rows of those options of a call that are not settings: a checkpoint has no defaults for them.
std::span<const OptionRow<GenerateOptions>> generation_call_options();

// Maximum number of beams, results and top tokens. A larger number is assumed to be a typo.
inline constexpr int kMaxSequences = 1'000;
// Maximum of a length and of an n-gram's size.
inline constexpr int kMaxTokenCount = 1'000'000;

// Returns `options`, with settings that it leaves unset taken from `defaults`.
GenerateOptions operator|(const GenerateOptions& defaults, const GenerateOptions& options);

// Returns `options` with unset settings filled in: with the neutral value if there is one, and lists as empty lists.
GenerateOptions with_neutral_values(const GenerateOptions& options);

// Throws ConfigError for a setting that is out of range, and for a token id outside a vocabulary of `vocabulary`
// tokens. The error names the setting, its value and the expected values.
void check_settings(const GenerateOptions& options, Dim vocabulary);

// Returns the maximum number of tokens to generate after a prompt of `prompt_length` tokens, at least 1. If options set
// no limit: 20, as in transformers.
int new_token_limit(const GenerateOptions& options, std::size_t prompt_length = 1);

// Settings read from a checkpoint.
struct StoredSettings {
  GenerateOptions options;
  // Settings that are not supported, to show to the user: "penalty_alpha 0.6".
  std::vector<std::string> unsupported = {};
};

// Reads settings from `generation`: generation_config.json, or config.json if the former does not exist. Throws a
// ConfigError that names the file and the key.
StoredSettings read_generation_settings(const JsonObject& generation, const TransformerConfig& config);

// Reads the settings of a call from JSON: those of a file under their keys, and those that files cannot contain under
// their names. Sets no defaults. Throws as above.
StoredSettings read_call_settings(const JsonObject& call, const TransformerConfig& config);

// Reads the settings of a checkpoint in any format. Formats without generation_config.json and config.json name their
// special tokens; the names are looked up in `tokenizer` (may be null). Their length limits are CTranslate2's defaults.
StoredSettings read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                        const Tokenizer* tokenizer);

// Returns a report for people: the settings that differ from their neutral values, under the keys of
// generation_config.json, and the maximum number of new tokens.
nlohmann::ordered_json to_json(const GenerateOptions& options);

}  // namespace encdec
