#include "encdec/models/checkpoint/ctranslate2.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::HasSubstr;

CTranslate2Model read_model(const std::string& text) {
  const ExactBytes memory(text);
  return parse_ctranslate2({memory.bytes(), memory.owner(), "model.bin"});
}

std::string model_refusal(const std::string& text) {
  return refusal_of("model.bin: ", [&] { read_model(text); });
}

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string string(const std::string& text) {
  return number(text.size() + 1, 2) + text + '\0';
}

struct Variable {
  std::string name;
  std::vector<std::uint32_t> dims = {};
  int type = 0;
  std::string data = {};
};

std::string bytes_of(const Variable& variable) {
  std::string text = string(variable.name) + number(variable.dims.size(), 1);
  for (const std::uint32_t dim : variable.dims) text += number(dim, 4);
  return text + number(static_cast<std::uint64_t>(variable.type), 1) + number(variable.data.size(), 4) + variable.data;
}

std::string model_of(const std::vector<Variable>& variables,
                     const std::vector<std::pair<std::string, std::string>>& aliases = {}, std::uint32_t version = 6) {
  std::string text = number(version, 4) + string("Spec") + number(7, 4) + number(variables.size(), 4);
  for (const Variable& variable : variables) text += bytes_of(variable);
  text += number(aliases.size(), 4);
  for (const auto& [alias, target] : aliases) text += string(alias) + string(target);
  return text;
}

const Variable kFloats = {"w", {2, 2}, 0, std::string(16, 'w')};
const Variable kBytes = {"w", {2, 2}, 1, "abcd"};
const Variable kScale = {"w_scale", {2}, 0, std::string("\0\0\x80?\0\0\0@", 8)};  // the scales 1 and 2

TEST(CTranslate2, ReadsWhatTheConverterWrote) {
  for (const std::string name :
       {"marian_float32", "marian_int8", "marian_int16", "t5_bfloat16", "t5_int8_float16", "whisper_int8"}) {
    SCOPED_TRACE(name);
    const auto model = read_model(read_golden("ctranslate2/" + name + "/model.bin"));
    EXPECT_EQ(model.spec_name, name.starts_with("whisper") ? "WhisperSpec" : "TransformerSpec");
    EXPECT_EQ(model.revision, name.starts_with("whisper") ? 3u : 7u);
    expect_golden(*model.weights, "ctranslate2/" + name + "/model.bin");
  }
}

TEST(CTranslate2, AliasesAreSecondNamesOfTheSameMemory) {
  const auto model = read_model(read_golden("ctranslate2/marian_int8/model.bin"));
  const WeightStore& store = *model.weights;
  EXPECT_EQ(store.find("decoder/projection/weight")->raw(), store.find("decoder/embeddings/weight")->raw());
  ASSERT_NE(store.find_scale("decoder/projection/weight"), nullptr);
  EXPECT_EQ(store.find_scale("decoder/projection/weight")->raw(), store.find_scale("decoder/embeddings/weight")->raw());
  EXPECT_EQ(store.find("decoder/embeddings/weight_scale"), nullptr);
}

TEST(CTranslate2, AliasesOfScalesAreNotTensors) {
  const auto model = read_model(model_of({kBytes, kScale}, {{"v", "w"}, {"v_scale", "w_scale"}}));
  EXPECT_EQ(model.weights->tensors().size(), 2u);
  EXPECT_NE(model.weights->find_scale("v"), nullptr);
}

TEST(CTranslate2, ReadsOlderVersions) {
  // Version 3 stores the size of an element and their count, version 2 has no aliases, and version 1 has no spec.
  const std::string variable = string("w") + number(1, 1) + number(3, 4) + number(2, 1) + number(3, 4) + "aabbcc";
  const auto third = read_model(number(3, 4) + string("Spec") + number(5, 4) + number(1, 4) + variable + number(1, 4) +
                                string("v") + string("w"));
  EXPECT_EQ(third.weights->find("v")->type(), DataType::int16);
  EXPECT_EQ(third.revision, 5u);
  const auto second = read_model(number(2, 4) + string("Spec") + number(5, 4) + number(1, 4) + variable);
  EXPECT_EQ(second.weights->tensors().size(), 1u);
  const auto first = read_model(number(1, 4) + number(1, 4) + variable);
  EXPECT_EQ(first.spec_name, "");
  EXPECT_EQ(first.weights->find("w")->shape(), Shape({3}));
  for (const std::uint32_t version : {4u, 5u, 6u}) {
    EXPECT_EQ(read_model(model_of({kFloats}, {}, version)).weights->tensors().size(), 1u);
  }
  EXPECT_THAT(model_refusal(number(0, 4)), HasSubstr("version 0 of the format, expected 1 to 6"));
  EXPECT_THAT(model_refusal(number(7, 4)), HasSubstr("version 7"));
}

TEST(CTranslate2, TensorsOfTheFirstRevisionsGetTheLaterNames) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"transformer/encoder/w_embs:0", "encoder/embeddings/weight"},
      {"transformer/encoder/layer_0/multi_head/conv1d/kernel:0", "encoder/layer_0/self_attention/linear_0/weight"},
      {"transformer/encoder/layer_0/multi_head/LayerNorm/beta", "encoder/layer_0/self_attention/layer_norm/beta"},
      {"transformer/decoder/layer_1/masked_multi_head/conv1d_1/bias", "decoder/layer_1/self_attention/linear_1/bias"},
      {"transformer/decoder/layer_1/multi_head/conv1d_2/kernel", "decoder/layer_1/attention/linear_2/weight"},
      {"transformer/decoder/dense/kernel", "decoder/projection/weight"},
  };
  std::string variables;
  for (const auto& [old, now] : names)
    variables += string(old) + number(1, 1) + number(1, 4) + number(4, 1) + number(1, 4) + "data";
  const std::string counted = number(names.size(), 4) + variables;
  const auto with_spec = [&](const std::string& spec, int revision) {
    return read_model(number(2, 4) + string(spec) + number(static_cast<std::uint64_t>(revision), 4) + counted).weights;
  };
  for (const auto& [old, now] : names) {
    for (const auto& weights : {read_model(number(1, 4) + counted).weights, with_spec("TransformerBig", 1)}) {
      EXPECT_NE(weights->find(now), nullptr) << now;
    }
    for (const auto& weights : {with_spec("TransformerBig", 2), with_spec("TransformerDecoderSpec", 1)}) {
      EXPECT_NE(weights->find(old), nullptr) << old;
    }
  }
}

TEST(CTranslate2, Int16WeightsWithoutAScaleHaveTheScaleOfTheFirstConverters) {
  const auto model =
      read_model(model_of({{"weight", {1, 2}, 2, std::string("\xd0\x07\xff\xff", 4)}, {"x", {1}, 2, "ab"}}));
  const Tensor values = WeightScope(model.weights).tensor("weight", {1, 2});
  EXPECT_FLOAT_EQ(values.row(0)[0], 2.0f);
  EXPECT_FLOAT_EQ(values.row(0)[1], -0.001f);
  EXPECT_EQ(model.weights->find_scale("x"), nullptr);
}

TEST(CTranslate2, OlderVersionsStoreSettingsOfTokensInVariables) {
  const Variable unknown = {"unk_token", {3}, 1, "UNK"}, end = {"eos_token", {3}, 1, "EOS"};
  const auto settings = [](const std::vector<Variable>& variables, std::uint32_t version = 5) {
    const JsonObject config(parse_json(R"({"eos_token": "E", "layer_norm_epsilon": 0.5})", "config.json"),
                            "config.json");
    return token_settings(read_model(model_of(variables, {}, version)), config)->value();
  };
  const auto flag = [](const std::string& name, char value) { return Variable{name, {}, 1, std::string(1, value)}; };
  EXPECT_EQ(settings({}), parse_json(R"({"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>",
      "add_source_bos": false, "add_source_eos": false, "decoder_start_token": "<s>", "layer_norm_epsilon": 0.5})",
                                     ""));
  EXPECT_EQ(settings({unknown})["unk_token"], "UNK");
  const auto around =
      settings({end, flag("with_source_bos", 1), flag("with_source_eos", 1), flag("with_target_bos", 0)});
  EXPECT_EQ(around["add_source_bos"], true);
  EXPECT_EQ(around["add_source_eos"], true);
  EXPECT_EQ(around["decoder_start_token"], "EOS");
  EXPECT_TRUE(settings({flag("user_decoder_start_tokens", 1)})["decoder_start_token"].is_null());
  EXPECT_EQ(settings({unknown}, 6)["eos_token"], "E");
  EXPECT_FALSE(settings({unknown}, 6).contains("unk_token"));
  EXPECT_THROW(settings({{"bos_token", {1}, 0, "1234"}}), WeightError);
}

TEST(CTranslate2, RefusesVariablesWithWrongSizes) {
  const auto with = [](const Variable& variable) { return model_refusal(model_of({variable})); };
  EXPECT_THAT(with({"w", {2, 3}, 0, std::string(16, 'w')}), HasSubstr("variable 'w': 16 bytes, expected as many as"));
  EXPECT_THAT(with({"w", {0xffffffff, 0xffffffff, 0xffffffff, 4}, 0, ""}), HasSubstr("0 bytes, expected as many"));
  EXPECT_THAT(with({"w", {0x80000000, 0x80000000, 4}, 0, ""}), HasSubstr("0 bytes, expected as many"));
  EXPECT_THAT(with({"w", {1, 1, 1, 1, 1}, 0, "1234"}), HasSubstr("5 dimensions, expected at most 4"));
  EXPECT_THAT(with({"w", {1}, 6, "1234"}), HasSubstr("type 6, expected 0 to 5"));
  EXPECT_THAT(model_refusal(model_of({kFloats, kFloats})), HasSubstr("variable 'w' is there twice"));
  EXPECT_THAT(model_refusal(model_of({kFloats}, {{"w", "w"}})), HasSubstr("variable 'w' is there twice"));
  EXPECT_THAT(model_refusal(model_of({kFloats}, {{"v", "x"}})), HasSubstr("alias 'v' of 'x', which is no variable"));
  EXPECT_THAT(model_refusal(model_of({kFloats}, {{"v", "w"}, {"u", "v"}})), HasSubstr("alias 'u' of 'v'"));
  EXPECT_THAT(model_refusal(model_of({kFloats}) + "x"), HasSubstr("1 bytes after the end"));
}

TEST(CTranslate2, RefusesScalesThatDoNotFit) {
  EXPECT_THAT(model_refusal(model_of({kBytes, {"w_scale", {3}, 0, std::string(12, 's')}})),
              HasSubstr("variable 'w_scale': float32 of shape [3], expected float32 [2] or [1]"));
  EXPECT_THAT(model_refusal(model_of({kBytes, {"w_scale", {2}, 1, "ab"}})), HasSubstr("int8 of shape [2]"));
}

TEST(CTranslate2, RefusesStringsWithWrongSizes) {
  const std::string begin = number(6, 4);
  EXPECT_THAT(model_refusal(begin + number(0, 2)), HasSubstr("expected text that ends with a NUL byte"));
  EXPECT_THAT(model_refusal(begin + number(3, 2) + "abc"), HasSubstr("expected text that ends with a NUL byte"));
  EXPECT_THAT(model_refusal(begin + number(3, 2) + std::string("a\0\0", 3)),
              HasSubstr("expected text that ends with a NUL byte"));
  EXPECT_THAT(model_refusal(begin + number(65535, 2) + "abc"), HasSubstr("expected 65535 of the spec's name"));
  EXPECT_THAT(model_refusal(begin + string("S") + number(7, 4) + number(0xffffffff, 4)),
              HasSubstr("a variable's name"));
}

TEST(CTranslate2, ReportsAnErrorForEveryDamage) {
  const std::string first = number(1, 4) + number(1, 4) + string("a/kernel:0") + number(1, 1) + number(2, 4) +
                            number(2, 1) + number(2, 4) + "aabb";
  for (const std::string& whole : {first, model_of({kBytes, kScale, {"x", {}, 4, "hh"}}, {{"v", "w"}, {"y", "x"}}),
                                   read_golden("ctranslate2/t5_int8_float16/model.bin")}) {
    EXPECT_GT(read_damaged(whole, [](const std::string& text) { read_all(*read_model(text).weights); }).refused,
              whole.size());
  }
}

}  // namespace
}  // namespace encdec
