// Tests one small Whisper model in every format. tests/golden/make_whisper.py makes the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
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

// A checkpoint and its tensors by their canonical names.
struct Described {
  explicit Described(const std::string& name)
      : checkpoint(open_checkpoint(kFormats / name)),
        description(describe_model(checkpoint)),
        weights(checkpoint.weights, description.weight_names) {}

  std::vector<float> values(const std::string& name, const Shape& shape) const {
    const Tensor tensor = weights.tensor(name, shape);
    return {tensor.data<float>(), tensor.data<float>() + tensor.elements()};
  }

  Checkpoint checkpoint;
  ModelDescription description;
  WeightScope weights;
};

struct NamedShape {
  std::string name;
  Shape shape;
};

std::vector<NamedShape> all_tensors(const TransformerConfig& config) {
  const Dim width = config.model_dim();
  std::vector<NamedShape> all = {
      {"encoder.convolution_1.weight", {width, config.encoder.frames.width, 3}},
      {"encoder.convolution_1.bias", {width}},
      {"encoder.convolution_2.weight", {width, width, 3}},
      {"encoder.convolution_2.bias", {width}},
      {"decoder.embedding.weight", {config.decoder.vocabulary, width}},
      {"output_projection.weight", {config.decoder.vocabulary, width}},
  };
  const auto add = [&](const std::string& name, Dim rows, Dim columns) {
    all.push_back({name + ".weight", {rows, columns}});
    all.push_back({name + ".bias", {rows}});
  };
  const auto add_norm = [&](const std::string& name) {
    all.push_back({name + ".weight", {width}});
    all.push_back({name + ".bias", {width}});
  };
  for (const std::string side : {"encoder", "decoder"}) {
    const StackConfig& stack = side == "encoder" ? config.encoder : config.decoder;
    all.push_back({side + ".positional_encoding.weight", {stack.positions.count, width}});
    add_norm(side + ".norm");
    for (int i = 0; i < stack.layers; ++i) {
      const std::string layer = side + "." + std::to_string(i) + ".";
      for (const std::string attention : {"self_attention", "cross_attention"}) {
        if (side == "encoder" && attention == "cross_attention") continue;
        for (const char* part : {".query", ".value", ".output"}) add(layer + attention + part, width, width);
        all.push_back({layer + attention + ".key.weight", {width, width}});
        add_norm(layer + attention + "_norm");
      }
      add(layer + "feed_forward.expand", stack.hidden_dim, width);
      add(layer + "feed_forward.project", width, stack.hidden_dim);
      add_norm(layer + "feed_forward_norm");
    }
  }
  return all;
}

struct FormatCase {
  const char* name;
  double error;  // bound on the relative error of a tensor, in the Euclidean norm
};

class WhisperFormats : public testing::TestWithParam<FormatCase> {};

TEST_P(WhisperFormats, DescribeTheSameNetwork) {
  const TransformerConfig expected = Described("hugging_face").description.config;
  const TransformerConfig config = Described(GetParam().name).description.config;
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

TEST_P(WhisperFormats, HoldTheSameWeights) {
  const Described expected("hugging_face"), found(GetParam().name);
  for (const auto& [name, shape] : all_tensors(expected.description.config)) {
    const auto values = found.values(name, shape), right = expected.values(name, shape);
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      error += std::pow(values[i] - right[i], 2);
      norm += std::pow(right[i], 2);
    }
    EXPECT_LE(std::sqrt(error), GetParam().error * std::sqrt(norm)) << name;
  }
  for (const std::string& name : found.weights.unused()) {
    const bool is_setting = found.checkpoint.weights->find(name)->elements() <= 2;
    EXPECT_TRUE(is_setting) << name;
  }
}

// The bound of int8 is half a quantization step, on average.
INSTANTIATE_TEST_SUITE_P(Files, WhisperFormats,
                         testing::Values(FormatCase{"ctranslate2/float16", 0}, FormatCase{"ctranslate2/int8", 0.01}));

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
  EXPECT_THAT((WhisperSpec{.changes = {{"decoder/pre_norm", setting_of(0)}}}.error()),
              HasSubstr("'decoder/pre_norm' is 0 and 'decoder/activation' 3, expected 1 and 3 as in the encoder"));
  EXPECT_THAT((WhisperSpec{.changes = {{"decoder/activation", setting_of(0)}}}.error()),
              HasSubstr("'decoder/activation' 0"));
  EXPECT_THAT((WhisperSpec{.changes = {{"encoder/num_heads", setting_of(5)}}}.error()),
              HasSubstr("5 heads do not divide the model dimension 32"));
  EXPECT_THAT((WhisperSpec{.changes = {{"encoder/num_heads", setting_of(0)}}}.error()),
              HasSubstr("'encoder/num_heads' is 0"));
  EXPECT_THAT((WhisperSpec{.changes = {{"encoder/conv1/weight", {}}}}.error()),
              HasSubstr("no variable 'encoder/conv1/weight'"));
  EXPECT_THAT((WhisperSpec{.changes = {{"encoder/conv1/weight", Tensor::allocate({2, 3})}}}.error()),
              HasSubstr("has shape [2, 3], expected three dimensions"));
  EXPECT_THAT((WhisperSpec{.changes = {{"decoder/alibi", setting_of(1)}}}.error()),
              HasSubstr("'decoder/alibi' is not supported"));
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
