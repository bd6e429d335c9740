#include "encdec/models/generation/generation_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The settings of a file, with neutral values for settings that the file does not have.
struct ReadSettings : GenerateOptions {
  std::vector<std::string> unsupported;
};

ReadSettings read(const char* text) {
  TransformerConfig config;
  config.decoder.vocabulary = 100;
  config.decoder_start_token = 99;
  const auto [options, unsupported] =
      read_generation_settings(JsonObject(parse_json(text, "g.json"), "g.json"), config);
  return {with_neutral_values(options), unsupported};
}

std::string config_failure(const char* text) {
  return message_of<ConfigError>([&] { read(text); });
}

TEST(GenerationSettings, HaveTheDefaultsOfTransformers) {
  const auto config = read("{}");
  EXPECT_EQ(config.num_beams, 1);
  EXPECT_EQ(config.num_return_sequences, 1);
  EXPECT_EQ(config.length_penalty, 1.0f);
  EXPECT_EQ(config.early_stopping, EarlyStopping::heuristic);
  EXPECT_EQ(config.do_sample, false);
  EXPECT_EQ(config.temperature, 1.0f);
  EXPECT_EQ(config.top_k, 50);
  EXPECT_EQ(config.top_p, 1.0f);
  EXPECT_EQ(config.repetition_penalty, 1.0f);
  EXPECT_EQ(config.encoder_repetition_penalty, 1.0f);
  EXPECT_EQ(config.decoder_start_token, 99) << "that of the network's configuration";
}

TEST(GenerationSettings, EarlyStoppingIsABooleanOrNever) {
  EXPECT_EQ(read(R"({"early_stopping": "never"})").early_stopping, EarlyStopping::never);
  EXPECT_EQ(read(R"({"early_stopping": true})").early_stopping, EarlyStopping::when_full);
  EXPECT_EQ(read(R"({"early_stopping": false})").early_stopping, EarlyStopping::heuristic);
}

TEST(GenerationSettings, MaxNewTokensOverridesMaxLengthAndTheDefaultIsTwenty) {
  EXPECT_EQ(new_token_limit(read(R"({"max_length": 10, "max_new_tokens": 3})")), 3);
  EXPECT_EQ(new_token_limit(read(R"({"max_length": 10})")), 9);
  EXPECT_EQ(new_token_limit(read("{}")), 20);
  EXPECT_EQ(new_token_limit(read(R"({"max_length": 10})"), 4), 6) << "max_length counts the prompt";
  EXPECT_EQ(new_token_limit(read(R"({"max_length": 10})"), 10), 1);
  EXPECT_EQ(new_token_limit(read("{}"), 30), 20);
}

TEST(GenerationSettings, OldFoldersOfBartHaveAnotherNameForForcingTheFirstToken) {
  EXPECT_EQ(read(R"({"force_bos_token_to_be_generated": true, "bos_token_id": 5})").forced_bos_token, 5);
  EXPECT_EQ(read(R"({"force_bos_token_to_be_generated": false, "bos_token_id": 5})").forced_bos_token, std::nullopt);
}

TEST(GenerationSettings, WordsWithoutTokensAreIgnored) {
  const auto config = read(R"({"bad_words_ids": [[4], [], [4, 5]], "force_words_ids": [[]]})");
  EXPECT_THAT(*config.bad_words, ElementsAre(ElementsAre(4), ElementsAre(4, 5)));
  EXPECT_THAT(*config.force_words, IsEmpty());
}

TEST(GenerationSettings, AFileMayNameTokensOfALargerVocabulary) {
  const auto config =
      read(R"({"bos_token_id": 50256, "eos_token_id": [50256, 5, -1], "suppress_tokens": [-1, 0, 99, 100],
                               "begin_suppress_tokens": [220, 7]})");
  EXPECT_THAT(*config.eos_tokens, ElementsAre(5));
  EXPECT_THAT(*config.suppress_tokens, ElementsAre(0, 99));
  EXPECT_THAT(*config.begin_suppress_tokens, ElementsAre(7));
}

TEST(GenerationSettings, ATemperatureOfZeroIsIgnoredWithoutSampling) {
  const auto config = read(R"({"temperature": 0.0})");
  EXPECT_EQ(config.temperature, 1.0f);
  EXPECT_THAT(config.unsupported, ElementsAre("temperature 0"));
}

TEST(GenerationSettings, NamesUnknownSettings) {
  EXPECT_THAT(read(R"({"num_beam_groups": 2, "diversity_penalty": 0.5, "penalty_alpha": 0.6, "typical_p": 0.9,
               "epsilon_cutoff": 0.25, "eta_cutoff": 0.25, "min_p": 0.125, "guidance_scale": 1.5,
               "renormalize_logits": true, "sequence_bias": [[[1], -2.0]], "watermarking_config": {"bias": 2},
               "stop_strings": "###", "force_words_ids": [[1, 2], [[3], [4]]]})")
                  .unsupported,
              ElementsAre("num_beam_groups 2", "diversity_penalty 0.5", "penalty_alpha 0.6", "typical_p 0.9",
                          "epsilon_cutoff 0.25", "eta_cutoff 0.25", "min_p 0.125", "guidance_scale 1.5",
                          "renormalize_logits true", "sequence_bias", "watermarking_config", "stop_strings",
                          "force_words_ids with alternatives"));
}

TEST(GenerationSettings, NeutralValuesOfUnknownSettingsAreNotReported) {
  EXPECT_THAT(read(R"({"num_beam_groups": 1, "diversity_penalty": 0.0, "typical_p": 1.0, "epsilon_cutoff": 0.0,
                       "eta_cutoff": 0, "min_p": 0, "guidance_scale": 1, "renormalize_logits": false,
                       "remove_invalid_values": false, "forced_decoder_ids": [], "task_specific_params": {"a": 1}})")
                  .unsupported,
              IsEmpty());
}

TEST(GenerationSettings, ErrorsNameTheFileTheKeyAndTheRange) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"max_length": 0})", "'max_length' is 0, expected"},
      {R"({"forced_bos_token_id": 100})", "'forced_bos_token_id' is 100, expected"},
      {R"({"bad_words_ids": [[100]]})", "'bad_words_ids[0][0]' is 100, expected"},
      {R"({"bad_words_ids": 3})", "'bad_words_ids' is 3, expected"},
      {R"({"force_words_ids": [3]})", "'force_words_ids[0]' is 3, expected"},
      {R"({"num_beams": 0})", "'num_beams' is 0, expected an integer from 1 to 1000"},
      {R"({"temperature": -1})", "'temperature' is -1, expected"},
      {R"({"temperature": 0.0, "do_sample": true})", "'temperature' is 0.0, expected"},
      {R"({"early_stopping": 1})", "'early_stopping' is 1, expected true or false"},
      {R"({"early_stopping": "now"})", R"('early_stopping' is "now", expected true, false or "never")"},
      {R"({"force_bos_token_to_be_generated": true, "bos_token_id": 50256})",
       "'bos_token_id' is 50256, expected an integer from 0 to 99"}};
  for (const auto& [text, message] : kCases) {
    EXPECT_THAT(config_failure(text), testing::StartsWith(std::string("g.json: ") + message)) << text;
  }
  for (const char* bad : {"[1]", "[1, 2, 3]", "[-1, 2]", "[1.5, 2]", "[1, 0]", "[1, \"2\"]", "3", "[1000001, 2]"}) {
    const std::string text = R"({"exponential_decay_length_penalty": )" + std::string(bad) + "}";
    EXPECT_THAT(config_failure(text.c_str()), HasSubstr("g.json: 'exponential_decay_length_penalty' is ")) << bad;
  }
}

TEST(GenerationSettings, WithoutAStartTokenTheFirstTokenOfATextIsUsed) {
  TransformerConfig config;
  config.decoder.vocabulary = 10;
  const JsonObject none(parse_json("{}", "g.json"), "g.json");
  EXPECT_EQ(read_generation_settings(none, config).options.decoder_start_token, std::nullopt);
  const JsonObject bos(parse_json(R"({"bos_token_id": 3})", "g.json"), "g.json");
  EXPECT_EQ(read_generation_settings(bos, config).options.decoder_start_token, 3);
}

TEST(GenerationSettings, OptionsOverrideDefaultsAndAnEmptyListIsAValue) {
  const GenerateOptions defaults{
      .num_beams = 4, .top_p = 0.5f, .bad_words = std::vector<TokenIds>{{1}}, .batch_size = 3};
  const GenerateOptions options{.top_p = 0.0f, .bad_words = std::vector<TokenIds>{}, .batch_size = 8};
  const GenerateOptions both = defaults | options;
  EXPECT_EQ(both.num_beams, 4);
  EXPECT_EQ(both.top_p, 0.0f);
  EXPECT_THAT(*both.bad_words, IsEmpty());
  EXPECT_EQ(both.batch_size, 8);
  EXPECT_EQ(both.max_new_tokens, std::nullopt);
}

TEST(GenerationSettings, OnlyLimitsAndForcedTokensHaveNoNeutralValue) {
  std::vector<std::string_view> without;
  const GenerateOptions neutral = with_neutral_values({});
  for (const auto& row : generation_settings()) {
    row.visit(neutral, [&]<class T>(const std::optional<T>& value) {
      if (!value) without.push_back(row.name);
    });
  }
  EXPECT_THAT(without, ElementsAre("max_length", "max_new_tokens", "min_new_tokens", "exponential_decay_length_penalty",
                                   "decoder_start_token", "forced_bos_token"));
}

const GenerateOptions kNone;

TEST(GenerationSettings, EachIsListedOnceAndIsOptional) {
  std::set<std::string_view> names;
  const auto add = [&](std::string_view name) { EXPECT_TRUE(names.insert(name).second) << name; };
  for (const UnsupportedSetting& setting : unsupported_settings()) add(setting.name);
  for (const auto& row : generation_call_options()) std::ranges::for_each(row.names(), add);
  for (const auto& row : generation_settings()) {
    std::ranges::for_each(row.names(), add);
    bool is_optional = false;
    row.visit(kNone, [&]<class T>(const std::optional<T>& /*value*/) { is_optional = true; });
    EXPECT_TRUE(is_optional) << row.name;
  }
}

// Return values as a file contains them that are not neutral.
std::string json_value(const UnsupportedSetting& setting) {
  return setting.kind == UnsupportedSetting::Kind::flag ? "true" : "7";
}
std::string json_value(const OptionRow<GenerateOptions>& row) {
  std::string json = "7";
  row.visit(kNone, [&]<class T>(const std::optional<T>& /*value*/) {
    if (std::is_same_v<T, bool> || std::is_same_v<T, EarlyStopping>) json = "true";
    if (std::is_same_v<T, ExponentialDecay>) json = "[3,0.5]";
    if (std::is_same_v<T, float>) json = "0.5";
    if (std::is_same_v<T, TokenIds>) json = "[7]";
    if (std::is_same_v<T, std::vector<TokenIds>>) json = "[[7, 8]]";
  });
  return json;
}

ReadSettings read_one(std::string_view key, const std::string& value) {
  return read(("{\"" + std::string(key) + "\": " + value + "}").c_str());
}

TEST(GenerationSettings, EverySettingOfAFileIsEitherAppliedOrReportedAsUnsupportedAndNullIsNeither) {
  const nlohmann::json neutral = to_json(read("{}"));
  EXPECT_EQ(neutral.dump(), R"({"decoder_start_token_id":99,"eos_token_id":[],"min_length":0,"new_token_limit":20})");
  const auto expect_null_is_neutral = [&](std::string_view key) {
    EXPECT_EQ(nlohmann::json(to_json(read_one(key, "null"))), neutral) << key;
    EXPECT_THAT(read_one(key, "null").unsupported, IsEmpty()) << key;
  };
  for (const UnsupportedSetting& setting : unsupported_settings()) {
    EXPECT_FALSE(read_one(setting.name, json_value(setting)).unsupported.empty()) << setting.name;
    expect_null_is_neutral(setting.name);
  }
  for (const auto& row : generation_settings()) {
    const std::string key(row.key());
    const auto settings = read_one(key, json_value(row));
    EXPECT_THAT(settings.unsupported, IsEmpty()) << key;
    nlohmann::json expected = neutral;
    if (key == "max_length" || key == "max_new_tokens") {
      expected["new_token_limit"] = key == "max_length" ? 6 : 7;
    } else if (!row.only_in_calls) {
      expected[key] = nlohmann::json::parse(json_value(row));
    }
    EXPECT_EQ(nlohmann::json(to_json(settings)), expected) << key;
    expect_null_is_neutral(key);
  }
}

TEST(GenerationSettings, FilesAndCallsHaveTheSameRanges) {
  for (const auto& row : generation_settings()) {
    if (row.only_in_calls || row.range.is_token) continue;
    GenerateOptions options;
    row.visit(options, [&]<class T>(std::optional<T>& member) {
      if constexpr (std::is_same_v<T, int> || std::is_same_v<T, float>) {
        for (const double value : {row.range.min, row.range.max, row.range.min - 1}) {
          const bool fits = value >= row.range.min;
          const std::string text =
              std::is_same_v<T, int> ? std::to_string(static_cast<std::int64_t>(value)) : nlohmann::json(value).dump();
          member = static_cast<T>(value);
          const std::string file = R"({")" + std::string(row.key()) + R"(": )" + text + "}";
          EXPECT_EQ(config_failure(file.c_str()) == "no exception", fits) << file;
          if (fits) {
            EXPECT_NO_THROW(check_settings(options, 100)) << file;
          } else {
            EXPECT_THROW(check_settings(options, 100), ConfigError) << file;
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace encdec
