#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

using Options = GenerateOptions;
using Kind = UnsupportedSetting::Kind;
using Setting = OptionRow<Options>;

// CTranslate2's defaults: max_decoding_length of a Translator, and max_length of a Generator.
constexpr int kDefaultTranslationTokens = 256;
constexpr int kDefaultTextTokens = 512;

// Reads the settings in one JSON object: a checkpoint's file, or the options of a call. A call may also set options
// with only_in_calls. All token ids in a call must be in the vocabulary.
class SettingsReader {
 public:
  enum class Origin : std::uint8_t { file, call };
  SettingsReader(const JsonObject& object, Dim vocabulary, Origin origin)
      : object_(object), vocabulary_(vocabulary), origin_(origin) {}

  // Adds notes about unsupported settings and reads all other settings. Call read() only once.
  StoredSettings read() {
    for (const UnsupportedSetting& setting : unsupported_settings()) {
      if (object_.has(setting.name)) report(setting);
    }
    for (const Setting& row : generation_settings()) {
      if ((row.only_in_calls && origin_ == Origin::file) || !object_.has(row.key())) continue;
      row.visit(result_.options, [&]<class T>(std::optional<T>& value) { take(row, value); });
    }
    return std::move(result_);
  }

  // Returns the token id under a key, or the first id if the value is a list. Returns nullopt if there is no id.
  std::optional<std::int32_t> token(std::string_view key) const {
    const auto ids = object_.integers(key, in_vocabulary());
    return ids.empty() ? std::nullopt : std::optional(static_cast<std::int32_t>(ids.front()));
  }

 private:
  IntegerRange in_vocabulary() const { return {0, vocabulary_ - 1}; }

  // Adds a note about an unsupported setting if its value is not neutral.
  void report(const UnsupportedSetting& setting) {
    const std::string_view key = setting.name;
    if (setting.kind == Kind::number) {
      if (const double value = *object_.number(key); value != *setting.neutral) note("{} {}", key, value);
    } else if (setting.kind == Kind::flag) {
      if (*object_.boolean(key)) note("{} true", key);
    } else if (!object_.value()[key].empty()) {
      note("{}", key);
    }
  }

  // Each take() reads the value of a setting whose member in GenerateOptions has this type.
  void take(const Setting& row, std::optional<bool>& flag) { flag = object_.boolean(row.key()); }
  void take(const Setting& row, std::optional<std::string>& text) { text = object_.string(row.key()); }
  void take(const Setting& row, std::optional<int>& number) {
    if (row.range.is_token) {
      number = token(row.key());
      return;
    }
    const IntegerRange range{static_cast<std::int64_t>(row.range.min), static_cast<std::int64_t>(row.range.max)};
    number = static_cast<int>(*object_.integer(row.key(), range));
  }
  void take(const Setting& row, std::optional<std::uint64_t>& number) {
    number = static_cast<std::uint64_t>(*object_.integer(row.key(), {.min = 0}));
  }
  template <std::floating_point Number>
  void take(const Setting& row, std::optional<Number>& number) {
    NumberRange range{row.range.min, row.range.max};
    // Some checkpoints store temperature 0 for greedy search. Without do_sample, only add a note about temperature 0.
    if (row.name == "temperature" && !object_.boolean("do_sample").value_or(false)) range.min = 0;
    const double value = *object_.number(row.key(), range);
    if (value < row.range.min) return note("{} {}", row.key(), value);
    number = static_cast<Number>(value);
  }
  void take(const Setting& row, std::optional<EarlyStopping>& stopping) {
    if (!object_.value()[row.key()].is_string()) {
      stopping = *object_.boolean(row.key()) ? EarlyStopping::when_full : EarlyStopping::heuristic;
      return;
    }
    const std::string word = *object_.string(row.key());
    if (word != "never") {
      refuse<ConfigError>(object_.file(), "'{}' is \"{}\", expected true, false or \"never\"", row.key(),
                          printable(word));
    }
    stopping = EarlyStopping::never;
  }
  void take(const Setting& row, std::optional<ExponentialDecay>& decay) {
    const nlohmann::json& pair = object_.value()[row.key()];
    const auto fail = [&] {
      refuse<ConfigError>(object_.file(), "'{}' is {}, expected [start from 0 to {}, factor from {} to {}]", row.key(),
                          printable(pair.dump()), kMaxTokenCount, row.range.min, row.range.max);
    };
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number()) fail();
    // A double represents every integer in the range exactly.
    const double start = pair[0].get<double>(), factor = pair[1].get<double>();
    if (start < 0 || start > kMaxTokenCount || !row.range.has(factor)) fail();
    decay = ExponentialDecay{static_cast<int>(start), static_cast<float>(factor)};
  }
  void take(const Setting& row, std::optional<TokenIds>& tokens) {
    constexpr IntegerRange kAnyToken = {.min = INT32_MIN, .max = INT32_MAX};
    // If a file has ids outside the vocabulary, such as end tokens of a larger vocabulary, drop these ids.
    const bool any = origin_ == Origin::file;
    tokens.emplace();
    for (const std::int64_t id : object_.integers(row.key(), any ? kAnyToken : in_vocabulary())) {
      if (id >= 0 && id < vocabulary_) tokens->push_back(static_cast<std::int32_t>(id));
    }
  }
  void take(const Setting& row, std::optional<std::vector<TokenIds>>& phrases) {
    if (row.name == "force_words" && has_alternatives(object_.value()[row.key()])) {
      return note("{} with alternatives", row.key());
    }
    phrases.emplace();
    for (const auto& phrase : object_.integer_lists(row.key(), in_vocabulary())) {
      if (!phrase.empty()) phrases->emplace_back(phrase.begin(), phrase.end());
    }
  }
  // Returns whether force_words has alternatives for a phrase (three levels of lists), which are unsupported.
  static bool has_alternatives(const nlohmann::json& words) {
    const auto is_list = [](const nlohmann::json& item) { return item.is_array(); };
    return std::ranges::any_of(
        words, [&](const nlohmann::json& word) { return word.is_array() && std::ranges::any_of(word, is_list); });
  }

  template <class... Values>
  void note(fmt::format_string<Values...> format, Values&&... values) {
    result_.unsupported.push_back(fmt::format(format, std::forward<Values>(values)...));
  }

  const JsonObject& object_;
  Dim vocabulary_;
  Origin origin_;
  StoredSettings result_;
};

// Each as_json() returns a value in the format of generation_config.json.
nlohmann::ordered_json as_json(EarlyStopping value) {
  return value == EarlyStopping::never ? nlohmann::ordered_json("never")
                                       : nlohmann::ordered_json(value == EarlyStopping::when_full);
}
nlohmann::ordered_json as_json(const ExponentialDecay& value) {
  return {value.start, value.factor};
}
template <class Value>
nlohmann::ordered_json as_json(const Value& value) {
  return value;
}

}  // namespace

StoredSettings read_generation_settings(const JsonObject& generation, const TransformerConfig& config) {
  SettingsReader reader(generation, config.decoder.vocabulary, SettingsReader::Origin::file);
  const auto bos = [&] { return reader.token("bos_token_id"); };  // reads and checks the id only where it is needed
  StoredSettings settings = reader.read();
  GenerateOptions& options = settings.options;
  // Old BART checkpoints have this key instead of forced_bos_token_id.
  if (generation.boolean("force_bos_token_to_be_generated").value_or(false)) options.forced_bos_token = bos();
  auto& start = options.decoder_start_token;
  // Use the start token in the file or else in the model's configuration. If both have none, use the BOS token.
  if (!config.has_encoder()) {
    start.reset();  // a decoder-only model begins with its prompt
  } else if (!start) {
    start = config.decoder_start_token ? config.decoder_start_token : bos();
  }
  return settings;
}

StoredSettings read_call_settings(const JsonObject& call, const TransformerConfig& config) {
  return SettingsReader(call, config.decoder.vocabulary, SettingsReader::Origin::call).read();
}

StoredSettings read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                        const Tokenizer* tokenizer) {
  const std::filesystem::path generation = checkpoint.folder / "generation_config.json";
  if (file_exists(generation)) return read_generation_settings(read_json_object(generation), config);
  const auto& stored = checkpoint.settings.config;
  if (!checkpoint.settings.tokens_are_texts) return read_generation_settings(*stored, config);
  // This format stores the texts of tokens. Look up the ids of the end token and the start token.
  StoredSettings settings;
  GenerateOptions& options = settings.options;
  const auto token_of = [&](std::string_view key, std::string_view missing) -> std::optional<std::int32_t> {
    const auto named = stored ? stored->string(key) : std::nullopt;
    return tokenizer != nullptr ? tokenizer->token_id(named.value_or(std::string(missing))) : std::nullopt;
  };
  if (const auto end = token_of("eos_token", "</s>")) options.eos_tokens = TokenIds{*end};
  if (config.has_encoder()) {
    options.decoder_start_token =
        config.decoder_start_token ? config.decoder_start_token : token_of("decoder_start_token", "<s>");
    options.max_new_tokens = kDefaultTranslationTokens;
    // Student models, which are small and have a recurrent decoder, need Marian's max-length-factor of 2.
    if (config.decoder.is_recurrent) options.max_length_factor = 2.0f;
  } else {
    options.max_length = kDefaultTextTokens;
  }
  return settings;
}

nlohmann::ordered_json to_json(const GenerateOptions& options) {
  const GenerateOptions neutral = with_neutral_values({});
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Setting& row : generation_settings()) {
    // Write one number, new_token_limit, instead of max_length and max_new_tokens.
    if (row.name == "max_length") {
      json["new_token_limit"] = new_token_limit(options);
    } else if (row.name != "max_new_tokens") {
      const bool always = row.name == "min_length" || row.name == "eos_tokens";
      row.visit(options, [&]<class T>(const std::optional<T>& value) {
        if (value && (always || value != row.get<std::optional<T>>(neutral)))
          json[std::string(row.key())] = as_json(*value);
      });
    }
  }
  return json;
}

}  // namespace encdec
