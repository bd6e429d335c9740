#include "encdec/models/checkpoint/ggml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/ggml_blocks.h"
#include "tests/models/checkpoint/ggml_writer.h"
#include "tests/models/checkpoint/golden_weights.h"
#include "tests/support/damage.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path kGgmlFiles = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats" / "ggml";

GgmlModel read_ggml_bytes(const std::string& text) {
  const ExactBytes memory(text);
  return parse_ggml({memory.bytes(), memory.owner(), "x.bin"});
}

template <class E = FileError>
std::string ggml_refusal(const GgmlFile& file) {
  return refusal_of<E>("x.bin: ", [&] { read_ggml_bytes(file.bytes()); });
}

std::string tensor_refusal(const GgmlTensor& tensor) {
  GgmlFile file;
  file.tensors = {tensor};
  return ggml_refusal<Error>(file);
}

std::string ggml_bytes_of(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

TEST(Ggml, ReadsWhatTheConverterWrote) {
  const GgmlModel model = read_ggml(kGgmlFiles / "tiny-f16.bin");
  EXPECT_EQ(model.sizes.required_integer("n_audio_state"), 32);
  EXPECT_EQ(model.sizes.required_integer("n_mels"), 16);
  EXPECT_EQ(model.text_tokens, 287);
  const WeightStore& store = *model.weights;
  EXPECT_EQ(store.tensors().size(), 90u);
  EXPECT_EQ(store.find("mel_filters")->shape(), Shape({16, 201}));
  EXPECT_EQ(store.find("encoder.conv1.weight")->shape(), Shape({32, 16, 3}));
  EXPECT_EQ(store.find("encoder.conv1.weight")->type(), DataType::float16);
  EXPECT_EQ(store.find("encoder.conv1.bias")->shape(), Shape({32, 1}));
  EXPECT_EQ(store.find("encoder.positional_embedding")->type(), DataType::float32);
  EXPECT_EQ(store.find("decoder.blocks.1.mlp.0.weight")->shape(), Shape({128, 32}));
}

TEST(Ggml, FloatsAreViewsOfTheFile) {
  GgmlFile file;
  file.tensors = {{}, {.name = "half", .dims = {4}, .type = 1, .data = "abcdefgh"}};
  const std::string text = file.bytes();
  const ExactBytes memory(text);
  const GgmlModel model = parse_ggml({memory.bytes(), memory.owner(), "x.bin"});
  const std::byte* end = memory.bytes().data() + text.size();
  EXPECT_EQ(model.weights->find("half")->raw(), end - 8);
  EXPECT_EQ(model.weights->find("half")->type(), DataType::float16);
  EXPECT_EQ(model.weights->find("x")->shape(), Shape({3, 2}));
  EXPECT_EQ(model.weights->find("mel_filters")->raw(), memory.bytes().data() + 56);
}

TEST(Ggml, ReadsTheVocabularyAlone) {
  const TempFolder folder;
  const auto path = folder.write("any", GgmlFile().bytes());
  EXPECT_TRUE(is_ggml(path));
  EXPECT_FALSE(is_ggml(folder.write("short", "lmg")));
  EXPECT_FALSE(is_ggml(folder.write("other", "GGUF....")));
  const GgmlVocabulary vocabulary = read_ggml_vocabulary(path);
  EXPECT_EQ(vocabulary.size, 9);
  EXPECT_THAT(vocabulary.texts, ElementsAre("a", "\xe2"));
}

struct GgmlBlockCase {
  std::int32_t type;
  const char* bytes;
  std::vector<float> values;
};

// The row 0.9 sin(1.7 i) + 0.05 as ggml 0.13.1 quantizes it, and the values that ggml reads from the blocks, in half
// precision.
const GgmlBlockCase kGgmlBlocks[] = {
    {2,
     "99af18c0da2f44e2ad0c71f56f09b0e82f35",
     {-0.0f,
      0.94970703125f,
      -0.2374267578125f,
      -0.8310546875f,
      0.474853515625f,
      0.71240234375f,
      -0.59375f,
      -0.474853515625f,
      0.8310546875f,
      0.356201171875f,
      -0.8310546875f,
      -0.11871337890625f,
      0.94970703125f,
      -0.0f,
      -0.8310546875f,
      0.356201171875f,
      0.8310546875f,
      -0.474853515625f,
      -0.59375f,
      0.71240234375f,
      0.474853515625f,
      -0.71240234375f,
      -0.2374267578125f,
      0.94970703125f,
      0.11871337890625f,
      -0.8310546875f,
      0.2374267578125f,
      0.94970703125f,
      -0.356201171875f,
      -0.71240234375f,
      0.71240234375f,
      0.59375f}},
    {3,
     "aa2fc6bae73f26d1bb1d52f38e0a90f64f17d0ca",
     {-0.0084228515625f, 0.94970703125f,    -0.128173828125f, -0.72705078125f, 0.470703125f,      0.7099609375f,
      -0.607421875f,     -0.4873046875f,    0.830078125f,     0.350830078125f, -0.8466796875f,    -0.128173828125f,
      0.94970703125f,    -0.0084228515625f, -0.8466796875f,   0.350830078125f, 0.830078125f,      -0.4873046875f,
      -0.607421875f,     0.7099609375f,     0.470703125f,     -0.72705078125f, -0.2479248046875f, 0.94970703125f,
      0.111328125f,      -0.8466796875f,    0.2310791015625f, 0.94970703125f,  -0.36767578125f,   -0.72705078125f,
      0.7099609375f,     0.59033203125f}},
    {6,
     "99abcc6c66322f80a33d78d34a09f2e9ce1160c15e5a",
     {0.059356689453125f, 0.94970703125f,      -0.1781005859375f, -0.771484375f,       0.474853515625f,
      0.771484375f,       -0.59375f,           -0.5341796875f,    0.8310546875f,       0.41552734375f,
      -0.8310546875f,     -0.059356689453125f, 0.94970703125f,    -0.059356689453125f, -0.8310546875f,
      0.356201171875f,    0.8310546875f,       -0.474853515625f,  -0.59375f,           0.771484375f,
      0.5341796875f,      -0.771484375f,       -0.2374267578125f, 0.94970703125f,      0.059356689453125f,
      -0.8310546875f,     0.2374267578125f,    0.89013671875f,    -0.356201171875f,    -0.71240234375f,
      0.65283203125f,     0.65283203125f}},
    {7,
     "6b2bc6ba329399cddf6f4cb1871cb5f60d0631ed8f3ea0a5",
     {0.022613525390625f, 0.94970703125f,     -0.1512451171875f, -0.78857421875f, 0.486328125f,     0.77587890625f,
      -0.55712890625f,    -0.4990234375f,     0.833984375f,      0.42822265625f,  -0.78857421875f,  -0.09326171875f,
      0.94970703125f,     -0.03533935546875f, -0.8466796875f,    0.370361328125f, 0.833984375f,     -0.4990234375f,
      -0.61474609375f,    0.71826171875f,     0.5439453125f,     -0.78857421875f, -0.209228515625f, 0.94970703125f,
      0.08056640625f,     -0.8466796875f,     0.25439453125f,    0.89208984375f,  -0.383056640625f, -0.6728515625f,
      0.66015625f,        0.66015625f}},
    {8,
     "a91f077ee8974267b2bc6e3693f57ffa923270c0af644699e37d0c8f2178d0a45755",
     {0.0523681640625f,  0.9423828125f,       -0.1795654296875f, -0.78564453125f, 0.49365234375f,    0.7705078125f,
      -0.58349609375f,   -0.5087890625f,      0.82275390625f,    0.404052734375f, -0.8154296875f,    -0.082275390625f,
      0.9501953125f,     -0.044891357421875f, -0.82275390625f,   0.3740234375f,   0.837890625f,      -0.478759765625f,
      -0.60595703125f,   0.748046875f,        0.5234375f,        -0.7705078125f,  -0.2169189453125f, 0.93505859375f,
      0.08978271484375f, -0.84521484375f,     0.246826171875f,   0.8974609375f,   -0.359130859375f,  -0.68798828125f,
      0.65087890625f,    0.6357421875f}},
};

TEST(Ggml, BlocksHaveTheValuesThatGgmlReads) {
  for (const auto& [number, bytes, values] : kGgmlBlocks) {
    const GgmlBlockType* type = ggml_block_type(number);
    ASSERT_NE(type, nullptr);
    SCOPED_TRACE(type->name);
    const std::string block = ggml_bytes_of(bytes);
    ASSERT_EQ(block.size(), type->bytes);
    GgmlFile file;
    file.tensors = {{.dims = {32, 2}, .type = number, .data = block + block}};
    const Tensor read = *read_ggml_bytes(file.bytes()).weights->find("x");
    EXPECT_EQ(read.shape(), Shape({2, 32}));
    EXPECT_EQ(read.type(), DataType::float16);
    EXPECT_EQ(floats_of(read.slice(0, 1)), values);
    EXPECT_EQ(floats_of(read.slice(1, 1)), values);
  }
}

// The smallest scale (2^-24), the largest (65504, whose product with 127 overflows), and NaN.
TEST(Ggml, BlocksMayHaveExtremeScales) {
  const auto read = [](const char* scale, char value) {
    GgmlFile file;
    file.tensors = {{.dims = {32}, .type = 8, .data = ggml_bytes_of(scale) + std::string(32, value)}};
    return floats_of(*read_ggml_bytes(file.bytes()).weights->find("x"))[0];
  };
  EXPECT_EQ(read("0100", 1), 0x1p-24f);
  EXPECT_EQ(read("0100", 127), 127 * 0x1p-24f);
  EXPECT_EQ(read("ff03", 2), 2 * 0x1.ff8p-15f);
  EXPECT_EQ(read("ff7b", 127), std::numeric_limits<float>::infinity());
  EXPECT_EQ(read("ff7b", -1), -65504.0f);
  EXPECT_TRUE(std::isnan(read("007e", 1)));
}

TEST(Ggml, RefusesImpossibleSizes) {
  const auto with = [](std::size_t place, std::int64_t size) {
    GgmlFile file;
    file.sizes[place] = size;
    return ggml_refusal(file);
  };
  EXPECT_THAT(with(0, 0), HasSubstr("x.bin: n_vocab is 0, expected 1 to 10000000 as in a model of Whisper"));
  EXPECT_THAT(with(1, -5), HasSubstr("n_audio_ctx is -5"));
  EXPECT_THAT(with(4, 1 << 20), HasSubstr("n_audio_layer is 1048576, expected 1 to 1024"));
  EXPECT_THAT(with(9, 2), HasSubstr("mel filters of 1 x 201, expected 2 x 201"));
  EXPECT_THAT(with(0, 1), HasSubstr("2 tokens, expected at most 1"));
  GgmlFile file;
  file.frequencies = 400;
  EXPECT_THAT(ggml_refusal(file), HasSubstr("mel filters of 1 x 400, expected 1 x 201"));
  file.frequencies = 201;
  file.magic = 0x46554747;
  EXPECT_THAT(ggml_refusal(file), HasSubstr("the magic number 0x46554747, expected ggml's, 0x67676d6c"));
  file = {};
  file.texts[1] = std::string(513, 'x');
  EXPECT_THAT(ggml_refusal(file), HasSubstr("token 1 has 513 bytes, expected at most 512"));
}

TEST(Ggml, RefusesImpossibleTensors) {
  EXPECT_THAT(tensor_refusal({.dims = {}}), HasSubstr("x.bin: tensor 1: 0 dimensions, expected 1 to 4"));
  EXPECT_THAT(tensor_refusal({.dims = {1, 1, 1, 1, 6}}), HasSubstr("5 dimensions"));
  EXPECT_THAT(tensor_refusal({.name = ""}), HasSubstr("a name of 0 bytes, expected 1 to 256"));
  EXPECT_THAT(tensor_refusal({.name = std::string(257, 'n')}), HasSubstr("a name of 257 bytes"));
  EXPECT_THAT(tensor_refusal({.dims = {3, 0}}), HasSubstr("tensor 'x': shape [0, 3], expected 1 to "));
  EXPECT_THAT(tensor_refusal({.dims = {-1, -1, -1, -1}}), HasSubstr("shape [4294967295, 4294967295, "));
  EXPECT_THAT(tensor_refusal({.dims = {-1, 1 << 30}}), HasSubstr("24 bytes left at byte "));
  EXPECT_THAT(tensor_refusal({.dims = {2, 4}}), HasSubstr("24 bytes left"));
  EXPECT_THAT(tensor_refusal({.name = "mel_filters"}), HasSubstr("'mel_filters': is there twice, expected it once"));
  EXPECT_THAT(tensor_refusal({.data = std::string(25, 'x')}), HasSubstr("1 bytes left at byte "));
  EXPECT_THAT(tensor_refusal({.dims = {16, 2}, .type = 8, .data = std::string(34, 'x')}),
              HasSubstr("q8_0 in rows of 16 elements, expected whole blocks of 32"));
  EXPECT_THAT(tensor_refusal({.dims = {32, 2}, .type = 8, .data = std::string(67, 'x')}), HasSubstr("67 bytes left"));
  EXPECT_THAT(tensor_refusal({.dims = {32, -1, -1, 1 << 20}, .type = 2}), HasSubstr("expected 1 to "));
  GgmlFile file;
  file.tensors = {{}, {}};
  EXPECT_THAT(ggml_refusal(file), HasSubstr("tensor 'x': is there twice"));
}

TEST(Ggml, RefusesUnsupportedTypes) {
  for (const std::int64_t type : {std::int64_t{4}, std::int64_t{9}, std::int64_t{12}, std::int64_t{-1}}) {
    GgmlFile file;
    file.tensors = {{.dims = {32}, .type = type, .data = std::string(64, 'x')}};
    EXPECT_THAT(ggml_refusal<UnsupportedModelError>(file),
                HasSubstr("of ggml's type " + std::to_string(type) + " is not supported, expected f32, f16, q4_0"));
  }
  GgmlFile file;
  file.sizes[10] = 1008;
  file.tensors = {{.dims = {32}, .type = 8, .data = std::string(34, 'x')}};
  EXPECT_THAT(ggml_refusal<UnsupportedModelError>(file),
              HasSubstr("q8_0 of version 1 of the quantisation is not supported, expected version 2"));
}

TEST(Ggml, DamagedFilesAreReadOrRefused) {
  GgmlFile file;
  file.tensors.push_back({.name = "q", .dims = {32}, .type = 2, .data = std::string(18, 'q')});
  const DamageReport report = read_damaged(file.bytes(), [](const std::string& text) {
    const ExactBytes memory(text);
    const GgmlModel model = parse_ggml({memory.bytes(), memory.owner(), "x.bin"});
    read_all(*model.weights);
    parse_ggml_vocabulary({memory.bytes(), memory.owner(), "x.bin"});
  });
  EXPECT_GT(report.refused, 1000u);
  EXPECT_GT(report.read, 1000u);
}

}  // namespace
}  // namespace encdec
