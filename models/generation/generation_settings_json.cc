#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

using Options = GenerateOptions;
using NotSupported = Setting::NotSupported;
using Tokens = Setting::Range::Tokens;

// CTranslate2's defaults: max_decoding_length of a Translator, and max_length of a Generator.
constexpr int kDefaultTranslationTokens = 256;
constexpr int kDefaultTextTokens = 512;

// A reader of the settings in one JSON object.
class SettingsReader {
 public:
  enum class Source : std::uint8_t { file, call };
  SettingsReader(const JsonObject& object, Dim vocabulary, Source source)
      : object_(object), vocabulary_(vocabulary), source_(source) {}

  StoredSettings read() {
    for (const Setting& setting : generation_settings()) {
      if (const std::string_view key = key_of(setting); key.empty() || !object_.has(key)) continue;
      std::visit([&](auto member) { take(setting, member); }, setting.member);
    }
    return std::move(result_);
  }

  // Returns the token id under a key, or the first id if there is a list. Returns nullopt if there is none.
  std::optional<std::int32_t> token(std::string_view key) const {
    const auto ids = object_.integers(key, in_vocabulary());
    return ids.empty() ? std::nullopt : std::optional(static_cast<std::int32_t>(ids.front()));
  }

 private:
  std::string_view key_of(const Setting& setting) const {
    return setting.key().empty() && source_ == Source::call ? setting.name : setting.key();
  }
  IntegerRange in_vocabulary() const { return {0, vocabulary_ - 1}; }

  void take(const Setting& setting, NotSupported kind) {
    const std::string_view key = setting.name;
    if (kind == NotSupported::number) {
      if (const double value = *object_.number(key); value != *setting.neutral) note("{} {}", key, value);
    } else if (kind == NotSupported::flag) {
      if (*object_.boolean(key)) note("{} true", key);
    } else if (!object_.value()[key].empty()) {
      note("{}", key);
    }
  }
  void take(const Setting& setting, Setting::Member<bool> member) {
    result_.options.*member = object_.boolean(key_of(setting));
  }
  void take(const Setting& setting, Setting::Member<int> member) {
    if (setting.range.tokens != Tokens::none) {
      result_.options.*member = token(key_of(setting));
      return;
    }
    const IntegerRange range{static_cast<std::int64_t>(setting.range.min),
                             static_cast<std::int64_t>(setting.range.max)};
    result_.options.*member = static_cast<int>(*object_.integer(key_of(setting), range));
  }
  void take(const Setting& setting, Setting::Member<std::uint64_t> member) {
    result_.options.*member = static_cast<std::uint64_t>(*object_.integer(key_of(setting), {.min = 0}));
  }
  void take(const Setting& setting, Setting::Member<float> member) {
    NumberRange range{setting.range.min, setting.range.max};
    // Some folders store temperature 0 for greedy search. If do_sample is off, it is noted instead of refused.
    const bool may_be_none = member == &Options::temperature && !object_.boolean("do_sample").value_or(false);
    if (may_be_none) range.min = 0;
    const double value = *object_.number(key_of(setting), range);
    if (value < setting.range.min) return note("{} {}", key_of(setting), value);
    result_.options.*member = static_cast<float>(value);
  }
  void take(const Setting& setting, Setting::Member<EarlyStopping> member) {
    const nlohmann::json& value = object_.value()[setting.name];
    if (!value.is_string()) {
      const bool when_full = *object_.boolean(setting.name);
      result_.options.*member = when_full ? EarlyStopping::when_full : EarlyStopping::heuristic;
      return;
    }
    if (value != "never") {
      refuse<ConfigError>(object_.file(), "'{}' is \"{}\", expected true, false or \"never\"", setting.name,
                          printable(*object_.string(setting.name)));
    }
    result_.options.*member = EarlyStopping::never;
  }
  void take(const Setting& setting, Setting::Member<ExponentialDecay> member) {
    const nlohmann::json& pair = object_.value()[setting.name];
    const auto fail = [&] {
      refuse<ConfigError>(object_.file(), "'{}' is {}, expected [start from 0 to {}, factor from {} to {}]",
                          setting.name, printable(pair.dump()), kMaxTokenCount, setting.range.min, setting.range.max);
    };
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number()) fail();
    // A double holds every integer of the range exactly.
    const double start = pair[0].get<double>(), factor = pair[1].get<double>();
    if (start < 0 || start > kMaxTokenCount || factor < setting.range.min || factor > setting.range.max) fail();
    result_.options.*member = ExponentialDecay{static_cast<int>(start), static_cast<float>(factor)};
  }
  void take(const Setting& setting, Setting::Member<TokenIds> member) {
    constexpr IntegerRange kAnyToken = {.min = INT32_MIN, .max = INT32_MAX};
    // A file may name tokens that the vocabulary lacks, such as the end tokens of a larger one.
    const bool any = source_ == Source::file || setting.range.tokens == Tokens::of_any_vocabulary;
    TokenIds& tokens = (result_.options.*member).emplace();
    for (const std::int64_t id : object_.integers(key_of(setting), any ? kAnyToken : in_vocabulary())) {
      if (id >= 0 && id < vocabulary_) tokens.push_back(static_cast<std::int32_t>(id));
    }
  }
  // Skips empty phrases.
  void take(const Setting& setting, Setting::Member<std::vector<TokenIds>> member) {
    if (member == &Options::force_words && has_alternatives(object_.value()[key_of(setting)])) {
      return note("{} with alternatives", key_of(setting));
    }
    std::vector<TokenIds>& phrases = (result_.options.*member).emplace();
    for (const auto& phrase : object_.integer_lists(key_of(setting), in_vocabulary())) {
      if (!phrase.empty()) phrases.emplace_back(phrase.begin(), phrase.end());
    }
  }
  // Returns whether force_words has lists of alternatives, any of which may be used: three levels of lists.
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
  Source source_;
  StoredSettings result_;
};

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
  SettingsReader reader(generation, config.decoder.vocabulary, SettingsReader::Source::file);
  const auto bos = [&] { return reader.token("bos_token_id"); };  // read only where it is used
  StoredSettings settings = reader.read();
  GenerateOptions& options = settings.options;
  // Old BART checkpoints have this key instead of forced_bos_token_id.
  if (generation.boolean("force_bos_token_to_be_generated").value_or(false)) options.forced_bos_token = bos();
  auto& start = options.decoder_start_token;
  if (!config.has_encoder()) {
    start.reset();  // a decoder-only model begins with its prompt
  } else if (!start) {
    start = config.decoder_start_token ? config.decoder_start_token : bos();
  }
  return settings;
}

StoredSettings read_call_settings(const JsonObject& call, const TransformerConfig& config) {
  return SettingsReader(call, config.decoder.vocabulary, SettingsReader::Source::call).read();
}

StoredSettings read_generation_settings(const Checkpoint& checkpoint, const TransformerConfig& config,
                                        const Tokenizer* tokenizer) {
  const std::filesystem::path generation = checkpoint.folder / "generation_config.json";
  if (file_exists(generation)) return read_generation_settings(read_json_object(generation), config);
  const auto& stored = checkpoint.settings.config;
  if (!checkpoint.settings.tokens_are_texts) return read_generation_settings(*stored, config);
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
    // Students are decoded with Marian's max-length-factor 2.
    if (config.decoder.is_recurrent) options.max_length_factor = 2.0f;
  } else {
    options.max_length = kDefaultTextTokens;
  }
  return settings;
}

nlohmann::ordered_json to_json(const GenerateOptions& options) {
  const GenerateOptions neutral = with_neutral_values({});
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Setting& setting : generation_settings()) {
    const std::string key(setting.key().empty() ? setting.name : setting.key());
    if (setting.name == "max_length") {
      json["new_token_limit"] = new_token_limit(options);
    } else if (setting.name != "max_new_tokens") {
      const bool always = setting.name == "min_length" || setting.name == "eos_tokens";
      setting.with_member([&](auto member) {
        const auto& value = options.*member;
        if (value && (always || value != neutral.*member)) json[key] = as_json(*value);
      });
    }
  }
  return json;
}

}  // namespace encdec
