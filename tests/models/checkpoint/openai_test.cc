#include "encdec/models/checkpoint/openai.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encdec/engine/base/error.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/models/checkpoint/pickle_writer.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/zip_writer.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using OpenAiItems = std::vector<std::pair<std::string, std::string>>;

const std::filesystem::path kTorchFile =
    std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats" / "openai" / "tiny.pt";

OpenAiItems openai_sizes() {
  OpenAiItems items;
  for (const char* name : {"n_mels", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_vocab",
                           "n_text_ctx", "n_text_state", "n_text_head", "n_text_layer"}) {
    items.emplace_back(name, pickle_integer(2));
  }
  return items;
}

std::string openai_file_of(const OpenAiItems& items) {
  return zip_bytes({{"top/data.pkl", pickle_of(pickle_dict(items))}, {"top/data/0", std::string(24, 'x')}});
}

std::string openai_file_with(const OpenAiItems& dims) {
  return openai_file_of(
      {{"dims", pickle_dict(dims)}, {"model_state_dict", pickle_dict({{"x", pickle_tensor(PickledTensor{})}})}});
}

OpenAiModel read_openai_bytes(const std::string& text) {
  const ExactBytes memory(text);
  return parse_openai({memory.bytes(), memory.owner(), "x.pt"});
}

std::string openai_refusal(const std::string& text) {
  return refusal_of("x.pt: ", [&] { read_openai_bytes(text); });
}

TEST(OpenAi, ReadsSizesAndTensors) {
  std::vector<std::string> notes;
  const OpenAiModel model = read_openai(kTorchFile, &notes);
  EXPECT_EQ(model.sizes.required_integer("n_vocab"), 287 + 107 + 21);
  EXPECT_EQ(model.sizes.required_integer("n_text_layer"), 2);
  EXPECT_EQ(model.weights->tensors().size(), 89u);
  EXPECT_EQ(model.weights->find("encoder.conv1.weight")->shape(), Shape({32, 16, 3}));
  EXPECT_EQ(model.weights->find("decoder.blocks.1.cross_attn_ln.bias")->type(), DataType::float16);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(read_openai_sizes(kTorchFile)->required_integer("n_mels"), 16);
}

TEST(OpenAi, OtherFilesOfTorchAreRefused) {
  EXPECT_FALSE(read_openai_sizes(kGoldenCheckpoints / "pytorch" / "plain.bin"));
  EXPECT_THAT(openai_refusal(read_golden("pytorch/nested.bin")),
              HasSubstr("x.pt: no 'dims' beside a 'model_state_dict', expected a model of openai/whisper"));
  EXPECT_THAT(openai_refusal(openai_file_of({{"dims", pickle_dict(openai_sizes())}})), HasSubstr("no 'dims' beside"));
  EXPECT_THAT(openai_refusal("not a file of torch"), HasSubstr("x.pt: "));
}

TEST(OpenAi, RefusesImpossibleSizes) {
  EXPECT_EQ(read_openai_bytes(openai_file_with(openai_sizes())).weights->tensors().size(), 1u);
  OpenAiItems items = openai_sizes();
  items[0].second = pickle_integer(0);
  EXPECT_THAT(openai_refusal(openai_file_with(items)), HasSubstr("n_mels is 0, expected 1 to 1024"));
  items[0].second = pickle_text("80");
  EXPECT_THAT(openai_refusal(openai_file_with(items)), HasSubstr("no n_mels among the sizes"));
  items[0].second = pickle_integer(std::int64_t{1} << 40);
  EXPECT_THAT(openai_refusal(openai_file_with(items)), HasSubstr("n_mels is 1099511627776"));
  items[0] = items[1];
  EXPECT_THAT(openai_refusal(openai_file_with(items)), HasSubstr("dims: 'n_audio_ctx' is there twice"));
  EXPECT_THAT(openai_refusal(openai_file_with(OpenAiItems(101, {"n", pickle_integer(1)}))),
              HasSubstr("dims: 101 sizes"));
}

}  // namespace
}  // namespace encdec
