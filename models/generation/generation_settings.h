#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/written_json_fwd.h"
#include "encdec/models/generation/generate_options.h"
#include "encdec/models/network/config.h"
#include "encdec/models/tokenizer/base/tokenizer.h"

namespace encdec {

// One setting of generation, told once: this is what files, calls, command lines and reports go by.
struct Setting {
  template <class T>
  using Member = std::optional<T> GenerateOptions::*;
  // What a setting of transformers is that asks for what is not built: noted, unless its value is the neutral one.
  enum class NotSupported : std::uint8_t { number, flag, anything };

  // What a number may be, an exponential decay's factor too; or which tokens.
  struct Range {
    double min = 0;
    double max = 0;
    enum class Tokens : std::uint8_t {
      none,
      of_the_vocabulary,
      of_any_vocabulary,  // in files: those of a larger one will not come, and checkpoints name some to keep them away
    };
    Tokens tokens = Tokens::none;
  };
  std::string_view name;  // of the member
  std::variant<NotSupported, Member<bool>, Member<int>, Member<std::uint64_t>, Member<float>, Member<EarlyStopping>,
               Member<ExponentialDecay>, Member<TokenIds>, Member<std::vector<TokenIds>>>
      member;
  Range range = {};
  std::optional<double> neutral = {};  // the value where nobody says one, where there is such a value; lists are empty
  std::optional<std::string_view> other_key = {};
  // As an option of the command line, with the name of its value: "--num-beams,--beam-size N". None if empty.
  std::string_view group = {};
  std::string_view usage = {};
  std::string_view help = {};

  // In generation_config.json; none if empty.
  constexpr std::string_view key() const { return other_key.value_or(name); }

  // Calls use(member), unless the setting is not supported.
  template <class Use>
  void with_member(const Use& use) const {
    std::visit(
        [&use](auto the_member) {
          if constexpr (!std::is_same_v<decltype(the_member), NotSupported>) use(the_member);
        },
        member);
  }
};

// All of them, each once.
std::span<const Setting> generation_settings();

// Beams of a source, results and likeliest tokens: more is a typing error.
inline constexpr int kMaxSequences = 1'000;
// Lengths, and sizes of n-grams.
inline constexpr int kMaxTokenCount = 1'000'000;

// Settings of `options`, and of `defaults` where they are not set; all else is that of `options`.
GenerateOptions operator|(const GenerateOptions& defaults, const GenerateOptions& options);

// With a value for everything that has a neutral one, and for lists.
GenerateOptions with_neutral_values(const GenerateOptions& options);

// Throws ConfigError, naming the setting, what it is and what is expected, for what is out of range or not in a
// vocabulary of this size.
void check_settings(const GenerateOptions& options, Dim vocabulary);

// Most tokens that may be generated after a prompt of so many tokens, at least 1. Without any limit: 20, as in
// transformers.
int new_token_limit(const GenerateOptions& options, std::size_t prompt_length = 1);

// What a checkpoint's file says.
struct StoredSettings {
  GenerateOptions options;
  // Keys that ask for what this version does not do, for a note to the user: "penalty_alpha 0.6".
  std::vector<std::string> unsupported = {};
};

// `generation` is generation_config.json, or config.json where there is none: then and only then are the generation
// keys of config.json in force. Throws ConfigError, naming the file and the key.
StoredSettings read_generation_settings(const JsonObject& generation, const TransformerConfig& config);

// The same for a folder in any format. Formats that have neither file have tokens by name, which are looked up in
// `tokenizer` (null for none), and limits as long as CTranslate2's.
StoredSettings read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                        const Tokenizer* tokenizer);

// For people: what differs from the neutral values, by the keys of generation_config.json, and the limit of new tokens.
WrittenJson to_json(const GenerateOptions& options);

}  // namespace encdec
