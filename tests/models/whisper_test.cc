// Compares a small Whisper model in every format with transformers. tests/golden/make_whisper.py makes the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/model.h"
#include "tests/support/batch_dependence.h"
#include "tests/support/comparison.h"
#include "tests/support/golden_cases.h"
#include "tests/support/message_of.h"

namespace encdec {
namespace {

const std::filesystem::path kFormats = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats";

struct WhisperCase {
  const char* folder;
  const char* weights;  // the type of the stored weights
};

const WeightStore& golden() {
  static const auto store = read_safetensors(kFormats / "expected.safetensors");
  return *store;
}

// Returns the encoder's input [frames, bands]. transformers has it as [bands, frames].
std::vector<Tensor> frames() {
  const Tensor& stored = *golden().find("input_features");
  const Dim bands = stored.shape()[1], count = stored.shape()[2];
  std::vector<Tensor> sources;
  for (Dim b = 0; b < stored.shape()[0]; ++b) {
    Tensor& source = sources.emplace_back(Tensor::allocate({count, bands}));
    for (Dim band = 0; band < bands; ++band) {
      for (Dim f = 0; f < count; ++f) source.row(f)[band] = stored.data<float>()[(b * bands + band) * count + f];
    }
  }
  return sources;
}

class WhisperTest : public testing::TestWithParam<WhisperCase> {};

TEST_P(WhisperTest, EqualsTransformers) {
  const Model model = Model::load(kFormats / GetParam().folder);
  const std::string expected = std::string(GetParam().weights) + "/";
  const std::vector<Tensor> sources = frames();
  const std::vector<TokenIds> targets = id_rows(golden(), "decoder_input_ids");
  EXPECT_THAT(model.notes().lines, testing::IsEmpty()) << "a tensor that is not used";
  const ForwardResult result = model.forward(sources, targets);
  EXPECT_LT(
      largest_difference(result.encoder_last_hidden_state, *golden().find(expected + "encoder_last_hidden_state")),
      2e-5);
  EXPECT_LT(largest_difference(result.logits, *golden().find(expected + "logits")), 2e-5);

  if (depends_on_batch(model)) return;
  const ForwardResult alone = model.forward(std::span(sources).last(1), std::span(targets).last(1));
  EXPECT_TRUE(same_bits(alone.logits, result.logits.slice(1, 1)));
}

std::vector<WhisperCase> readable_cases() {
  std::vector<WhisperCase> cases{
      {"hugging_face", "float16"}, {"ctranslate2/float16", "float16"}, {"ctranslate2/int8", "int8"}};
  std::erase_if(cases, [](const WhisperCase& one) { return !can_read_weights(kFormats / one.folder); });
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Formats, WhisperTest, testing::ValuesIn(readable_cases()),
                         [](const auto& instance) { return as_test_name(instance.param.folder); });

TEST(Whisper, FramesAreChecked) {
  const Model model = Model::load(kFormats / "hugging_face");
  const TokenIds target{288};
  const auto message = [&](const Shape& shape) {
    const Tensor wrong = Tensor::allocate(shape);
    return message_of<InputError>([&] { model.forward(std::span(&wrong, 1), std::span(&target, 1)); });
  };
  EXPECT_EQ(message({41, 16}), "source 1: frames float32 [41, 16], expected float32 [2 to 40, a multiple of 2; 16]");
  for (const Shape& shape : {Shape{42, 16}, {0, 16}, {40, 15}, {640}}) {
    EXPECT_THAT(message(shape), testing::HasSubstr("expected float32 [2 to 40, a multiple of 2; 16]"));
  }
}

TEST(Whisper, ContinuesAPrefixFromFrames) {
  const Model model = Model::load(kFormats / "hugging_face");
  std::vector<GenerateInput> inputs;
  for (const Tensor& source : frames())
    inputs.push_back({.source = TokenIds(), .prefix = TokenIds{300}, .frames = source});
  const auto results = model.generate_inputs(inputs, {.num_beams = 3, .max_new_tokens = 8});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].hypotheses[0].token_ids[0], 300);
  EXPECT_EQ(results[0].source_tokens, 20u);
  const auto alone = model.generate_inputs(std::span(inputs).last(1), {.num_beams = 3, .max_new_tokens = 8});
  EXPECT_EQ(alone[0].hypotheses[0].token_ids, results[1].hypotheses[0].token_ids);
  if (depends_on_batch(model)) return;
  EXPECT_EQ(alone[0].hypotheses[0].score, results[1].hypotheses[0].score);
}

TEST(Whisper, RefusesText) {
  const Model model = Model::load(kFormats / "hugging_face");
  const std::string expected = "is a whisper model, which reads audio; expected a text model";
  const TokenIds tokens{1, 2};
  for (const std::string& message :
       {message_of<ConfigError>([&] { model.generate({"hello"}); }),
        message_of<ConfigError>([&] { model.generate_ids(std::span(&tokens, 1)); }),
        message_of<ConfigError>([&] { model.score_ids(std::span(&tokens, 1), std::span(&tokens, 1)); }),
        message_of<ConfigError>([&] { model.attention_ids(tokens, tokens); }),
        message_of<ConfigError>([&] { model.forward(std::span(&tokens, 1), std::span(&tokens, 1)); })}) {
    EXPECT_NE(message.find(expected), message.npos) << message;
  }
}

}  // namespace
}  // namespace encdec
