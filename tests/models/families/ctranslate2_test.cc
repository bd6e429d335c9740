#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/families/model_description.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using Kind = PositionOptions::Kind;

constexpr Dim kWidth = 48;

Tensor number(int value, const Shape& shape = {}) {
  Tensor tensor = Tensor::allocate(shape, DataType::int8);
  *tensor.raw() = static_cast<std::byte>(value);
  return tensor;
}

// A model.bin of the first converters, which stored weights but few settings.
struct OldModel {
  std::string spec = "TransformerBase";
  std::uint32_t revision = 2;
  std::map<std::string, Tensor> variables = {};

  OldModel() {
    add_stack("encoder");
    add_stack("decoder");
  }

  void add_stack(const std::string& stack) {
    const auto add = [&](const std::string& name, const Shape& shape) {
      variables[stack + "/" + name] = Tensor::allocate(shape);
    };
    add("embeddings/weight", {20, kWidth});
    add("layer_0/self_attention/linear_0/weight", {3 * kWidth, kWidth});
    add("layer_0/self_attention/linear_0/bias", {3 * kWidth});
    add("layer_0/self_attention/layer_norm/beta", {kWidth});
    add("layer_0/ffn/linear_0/weight", {12, kWidth});
    add("layer_norm/gamma", {kWidth});
  }

  TransformerConfig read() const {
    Checkpoint checkpoint;
    nlohmann::json network = {{"spec_name", spec}, {"spec_revision", revision}};
    checkpoint.settings = {.form = CheckpointSettings::Form::ctranslate2,
                           .network = JsonObject(std::move(network), "model.bin")};
    auto store = std::make_shared<WeightStore>("model.bin");
    for (const auto& [name, tensor] : variables) store->add(name, tensor);
    checkpoint.weights = std::move(store);
    return describe_ctranslate2(checkpoint).config;
  }

  std::string error() const {
    return message_of<ConfigError>([&] { read(); });
  }
};

TEST(OldCTranslate2, MissingSettingsDefaultToThoseOfOpenNMT) {
  const TransformerConfig config = OldModel().read();
  EXPECT_EQ(config.architecture, Architecture::encoder_decoder);
  EXPECT_EQ(config.encoder.attention.heads, 8);
  EXPECT_EQ(config.decoder.attention.heads, 8);
  EXPECT_EQ(config.encoder.norm_order, NormOrder::first);
  EXPECT_EQ(config.encoder.norm.kind, NormKind::layer);
  EXPECT_EQ(config.encoder.norm.epsilon, 1e-5f);
  EXPECT_EQ(config.encoder.activation, Activation::relu);
  EXPECT_FLOAT_EQ(config.encoder.embedding_scale, std::sqrt(48.0f));
  EXPECT_FLOAT_EQ(config.decoder.embedding_scale, std::sqrt(48.0f));
  EXPECT_EQ(config.encoder.positions.kind, Kind::sinusoidal);
  EXPECT_EQ(config.encoder.positions.layout, SinusoidLayout::timing_signal);
  EXPECT_EQ(config.encoder.positions.offset, 1);
}

TEST(OldCTranslate2, BeforeRevision3TheNameOfTheSpecImpliesTheHeads) {
  struct Case {
    const char* spec;
    std::uint32_t revision;
    int heads;
  };
  for (const auto& [spec, revision, heads] :
       {Case{"", 1, 8}, Case{"TransformerBase", 1, 8}, Case{"TransformerBig", 1, 16}, Case{"TransformerBig", 2, 16},
        Case{"TransformerBig", 3, 8}, Case{"TransformerSpec", 3, 8}}) {
    OldModel model;
    model.spec = spec;
    model.revision = revision;
    EXPECT_EQ(model.read().decoder.attention.heads, heads) << spec << " " << revision;
  }
  OldModel model;
  model.spec = "TransformerSpec";
  EXPECT_THAT(model.error(), HasSubstr("model.bin: 'encoder/num_heads' is 0, expected at least 1"));
  model.variables["num_heads"] = number(4);
  EXPECT_EQ(model.read().encoder.attention.heads, 4);
}

TEST(OldCTranslate2, BeforeRevision5SettingsOfTheModelApplyToBothStacks) {
  OldModel model;
  model.spec = "TransformerSpec";
  for (const char* stack : {"encoder", "decoder"}) model.variables.erase(stack + std::string("/layer_norm/gamma"));
  model.variables["num_heads"] = number(4);
  model.variables["pre_norm"] = number(0);
  model.variables["activation"] = number(3);
  model.revision = 4;
  EXPECT_EQ(model.read().encoder.attention.heads, 4);
  EXPECT_EQ(model.read().encoder.norm_order, NormOrder::last);
  EXPECT_EQ(model.read().encoder.activation, Activation::gelu);
  model.variables["encoder/num_heads"] = number(2);
  EXPECT_EQ(model.read().encoder.attention.heads, 2);
  EXPECT_EQ(model.read().decoder.attention.heads, 4);
  model.revision = 5;
  EXPECT_EQ(model.read().decoder.attention.heads, 8);
  EXPECT_EQ(model.read().encoder.norm_order, NormOrder::first);
  model.variables["encoder/pre_norm"] = number(0);
  EXPECT_THAT(model.error(), HasSubstr("model.bin: 'decoder/pre_norm' is 1, expected 0 as in the encoder"));
}

TEST(OldCTranslate2, InRevision1DecodersHaveSettingsOfTheModel) {
  OldModel model;
  model.spec = "TransformerDecoderSpec";
  model.variables["num_heads"] = number(4);
  model.variables["activation"] = number(1);
  model.revision = 1;
  EXPECT_EQ(model.read().architecture, Architecture::decoder_only);
  EXPECT_EQ(model.read().decoder.attention.heads, 4);
  EXPECT_EQ(model.read().encoder.activation, Activation::gelu_tanh);
  model.revision = 2;
  EXPECT_EQ(model.read().decoder.attention.heads, 8);
  EXPECT_EQ(model.read().encoder.activation, Activation::relu);
}

TEST(OldCTranslate2, EmbeddingsAreScaledByDefault) {
  OldModel model;
  model.variables["encoder/embeddings/multiply_by_sqrt_depth"] = number(0);
  EXPECT_EQ(model.read().encoder.embedding_scale, 1.0f);
  EXPECT_FLOAT_EQ(model.read().decoder.embedding_scale, std::sqrt(48.0f));
  model.variables["encoder/scale_embeddings"] = number(1);
  EXPECT_FLOAT_EQ(model.read().encoder.embedding_scale, std::sqrt(48.0f));
}

TEST(OldCTranslate2, StoredPositionsLimitTheLength) {
  OldModel model;
  model.variables["encoder/position_encodings/encodings"] = Tensor::allocate({7, kWidth});
  EXPECT_EQ(model.read().encoder.position_limit(), 7);
  EXPECT_EQ(model.read().decoder.position_limit(), std::nullopt);
  model.variables["encoder/layer_0/self_attention/relative_attention_bias"] = Tensor::allocate({8, 8});
  EXPECT_EQ(model.read().encoder.positions.kind, Kind::none) << "a bias takes the place of positions";
}

TEST(CTranslate2Spec, RefusesUnknownNamesAndRevisions) {
  OldModel model;
  model.spec = "Wav2Vec2Spec";
  EXPECT_THAT(model.error(),
              HasSubstr("model.bin: model specification 'Wav2Vec2Spec' is not supported, expected TransformerSpec, "
                        "TransformerBase, TransformerBig, TransformerDecoderSpec, TransformerEncoderSpec or "
                        "WhisperSpec"));
  for (const auto& [spec, last] :
       {std::pair("TransformerBase", 7u), {"TransformerSpec", 7u}, {"TransformerDecoderSpec", 8u}}) {
    model.spec = spec;
    model.revision = last;
    EXPECT_EQ(model.error(), "no exception");
    model.revision = last + 1;
    EXPECT_EQ(model.error(), fmt::format("model.bin: revision {} of model specification '{}', expected at most {}",
                                         last + 1, spec, last));
  }
}

TEST(CTranslate2Spec, RefusesWhatTheGraphsDoNotSupport) {
  const auto with = [](const std::string& name, Tensor tensor) {
    OldModel model;
    model.variables[name] = std::move(tensor);
    return model.error();
  };
  EXPECT_THAT(with("decoder/layer_0/self_attention/relative_position_keys", Tensor::allocate({9, 6})),
              HasSubstr("model.bin: 'decoder/layer_0/self_attention/relative_position_keys' is not supported, expected "
                        "positions as encodings or as relative_attention_bias"));
  EXPECT_THAT(with("decoder/layer_0/self_attention/q_norm/gamma", number(0, {1})), HasSubstr("is not supported"));
  EXPECT_THAT(with("decoder/alibi", number(1)), HasSubstr("'decoder/alibi' is not supported"));
  EXPECT_EQ(with("decoder/alibi", number(0)), "no exception");
  EXPECT_EQ(with("decoder/layer_0/layer_scalar", number(1)), "no exception");
  EXPECT_THAT(with("decoder/layer_0/layer_scalar", number(0)), HasSubstr("is not supported, expected layers as they"));
  EXPECT_EQ(with("decoder/layer_0/self_attention/rotary_dim", number(-1)), "no exception");
  EXPECT_THAT(with("encoder/pre_norm", number(0)), HasSubstr("'decoder/pre_norm' is 1"));
  EXPECT_THAT(with("encoder/embeddings_1/weight", Tensor::allocate({2, kWidth})),
              HasSubstr("features of source tokens are not supported"));
  OldModel norm_last;
  norm_last.revision = 4;
  norm_last.variables["pre_norm"] = number(0);
  EXPECT_THAT(norm_last.error(), HasSubstr("'encoder/layer_norm/gamma', expected no norm at the end of a stack"));
}

}  // namespace
}  // namespace encdec
