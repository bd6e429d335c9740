// Tests one small Whisper model in every format. tests/golden/make_whisper.py makes the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/families/model_description.h"
#include "encdec/models/families/whisper.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::filesystem::path kFormats = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats";

// That files hold the same weights under their names is tested with their outputs, in whisper_test.cc.
TEST(WhisperFormats, DescribeTheSameNetwork) {
  const auto config_of = [](const char* name) { return describe_model(open_checkpoint(kFormats / name)).config; };
  const TransformerConfig expected = config_of("hugging_face");
  for (const TransformerConfig& config : {config_of("ctranslate2/float16"), config_of("ctranslate2/int8")}) {
    EXPECT_EQ(config.model_type, "whisper");
    EXPECT_EQ(config.model_dim(), expected.model_dim());
    EXPECT_EQ(config.encoder.frames.width, 16);
    EXPECT_EQ(config.encoder.layers, 2);
    EXPECT_EQ(config.encoder.attention.heads, expected.encoder.attention.heads);
    EXPECT_EQ(config.encoder.hidden_dim, expected.encoder.hidden_dim);
    EXPECT_EQ(config.encoder.positions.count, 20);
    EXPECT_EQ(config.decoder.vocabulary, expected.decoder.vocabulary);
    EXPECT_EQ(config.decoder.layers, 2);
    EXPECT_EQ(config.decoder.attention.heads, expected.decoder.attention.heads);
    EXPECT_EQ(config.decoder.hidden_dim, expected.decoder.hidden_dim);
    EXPECT_EQ(config.decoder.positions.count, 24);
    EXPECT_EQ(config.decoder.embedding_scale, 1.0f);
    EXPECT_EQ(config.encoder.activation, Activation::gelu);
    EXPECT_EQ(config.encoder.norm_order, NormOrder::first);
    EXPECT_EQ(config.encoder.norm.epsilon, expected.encoder.norm.epsilon);
    EXPECT_EQ(config.output_bias, Bias::none);
  }
}

// A WhisperSpec with some variables changed. An empty tensor removes the variable.
struct WhisperSpec {
  std::uint32_t revision = 3;
  std::map<std::string, Tensor> changes = {};

  TransformerConfig read() const {
    Checkpoint checkpoint = open_checkpoint(kFormats / "ctranslate2" / "float16");
    auto store = std::make_shared<WeightStore>("model.bin");
    for (const auto& [name, tensor] : checkpoint.weights->tensors()) {
      if (!changes.contains(name)) store->add(name, tensor);
    }
    for (const auto& [name, tensor] : changes) {
      if (!tensor.empty()) store->add(name, tensor);
    }
    nlohmann::json network = {{"spec_name", "WhisperSpec"}, {"spec_revision", revision}};
    checkpoint.settings.network = JsonObject(std::move(network), "model.bin");
    checkpoint.weights = std::move(store);
    return describe_model(checkpoint).config;
  }
  std::string error() const {
    return refusal_of<ConfigError>("model.bin: ", [&] { read(); });
  }
};

Tensor setting_of(int value) {
  Tensor tensor = Tensor::allocate({}, DataType::int8);
  *tensor.raw() = static_cast<std::byte>(value);
  return tensor;
}

TEST(CTranslate2Whisper, RefusesSettingsThatItsEncoderDoesNotSupport) {
  EXPECT_EQ(WhisperSpec().read().encoder.attention.heads, 2);
  const auto with = [](const char* name, Tensor tensor) {
    return WhisperSpec{.changes = {{name, std::move(tensor)}}}.error();
  };
  EXPECT_THAT(with("decoder/pre_norm", setting_of(0)),
              HasSubstr("'decoder/pre_norm' is 0 and 'decoder/activation' 3, expected 1 and 3 as in the encoder"));
  EXPECT_THAT(with("decoder/activation", setting_of(0)), HasSubstr("'decoder/activation' 0"));
  EXPECT_THAT(with("encoder/num_heads", setting_of(5)), HasSubstr("5 heads do not divide the model dimension 32"));
  EXPECT_THAT(with("encoder/num_heads", setting_of(0)), HasSubstr("'encoder/num_heads' is 0"));
  EXPECT_THAT(with("encoder/conv1/weight", {}), HasSubstr("no variable 'encoder/conv1/weight'"));
  EXPECT_THAT(with("encoder/conv1/weight", Tensor::allocate({2, 3})),
              HasSubstr("has shape [2, 3], expected three dimensions"));
  EXPECT_THAT(with("decoder/alibi", setting_of(1)), HasSubstr("'decoder/alibi' is not supported"));
  EXPECT_THAT(WhisperSpec{.revision = 4}.error(),
              HasSubstr("revision 4 of model specification 'WhisperSpec', expected at most 3"));
}

TransformerConfig whisper_of(int encoder_layers, int decoder_layers, int heads, Dim vocabulary) {
  TransformerConfig config = whisper_config();
  config.encoder.layers = encoder_layers;
  config.decoder.vocabulary = vocabulary;
  config.decoder.layers = decoder_layers;
  config.decoder.attention.heads = heads;
  return config;
}

TEST(WhisperAlignmentHeads, AreThoseOfOpenAiForKnownModels) {
  EXPECT_THAT(
      whisper_alignment_heads(whisper_of(4, 4, 6, 51864)),
      ElementsAre(Pair(1, 0), Pair(2, 0), Pair(2, 5), Pair(3, 0), Pair(3, 1), Pair(3, 2), Pair(3, 3), Pair(3, 4)));
  EXPECT_THAT(whisper_alignment_heads(whisper_of(4, 4, 6, 51865)),
              ElementsAre(Pair(2, 2), Pair(3, 0), Pair(3, 2), Pair(3, 3), Pair(3, 4), Pair(3, 5)));
  EXPECT_EQ(whisper_alignment_heads(whisper_of(32, 32, 20, 51865)).size(), 23u);
  EXPECT_EQ(whisper_alignment_heads(whisper_of(32, 32, 20, 51866)).front(), std::pair(7, 0));
  EXPECT_EQ(whisper_alignment_heads(whisper_of(32, 4, 20, 51866)).back(), std::pair(3, 14));
}

TEST(WhisperAlignmentHeads, AreThoseOfTheLastLayersForOtherModels) {
  EXPECT_THAT(whisper_alignment_heads(whisper_of(4, 4, 2, 51864)),
              ElementsAre(Pair(2, 0), Pair(2, 1), Pair(3, 0), Pair(3, 1)));
  EXPECT_EQ(whisper_alignment_heads(whisper_of(32, 2, 20, 51866)).size(), 20u);
  EXPECT_EQ(whisper_alignment_heads(whisper_of(2, 1, 1, 100)).size(), 1u);
}

}  // namespace
}  // namespace encdec
