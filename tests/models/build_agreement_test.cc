// Tests that all builds compute the same bits with the same instruction set: with any compiler and any versions of
// Highway and the C library.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "encdec/engine/backend/backends.h"
#include "encdec/engine/kernels/matmul_epilogue.h"
#include "encdec/models/checkpoint/packed_weights_file.h"
#include "encdec/models/model.h"
#include "tests/support/random_marian.h"
#include "tests/support/random_tensors.h"

namespace encdec {
namespace {

// Returns a name of the instruction set. Kernels with the same name round in the same way; the width of vectors is a
// part of the name.
std::string instructions(Precision precision) {
  const backend::InstructionSets& cpu = backend::instruction_sets();
  const std::string target = kernels::vector_target();
  const std::string vectors = target.starts_with("avx3") ? "avx512" : target.starts_with("sse") ? "sse4" : target;
  if (precision == Precision::float32) return vectors;
  if (precision == Precision::int8) return vectors + (cpu.avx512_bfloat16 ? " bf16" : "");  // for attention
  return vectors + (cpu.amx ? " amx" : cpu.avx512_bfloat16 || kernels::has_matrix_products() ? " bf16" : "");
}

std::vector<TokenIds> random_rows(RandomTensors& random, Dim vocabulary) {
  std::vector<TokenIds> rows;
  for (const int length : {1, 2, 3, 5, 7, 11, 13, 14}) {
    const Tensor ids = random.ids(length, static_cast<std::int32_t>(vocabulary));
    rows.emplace_back(ids.data<std::int32_t>(), ids.data<std::int32_t>() + length);
  }
  return rows;
}

void add_outputs(const std::filesystem::path& folder, Precision precision, ContentHasher& hasher) {
  const Model model = Model::load(folder, {.threads = 1, .precision = precision});
  RandomTensors random(1);
  std::vector<TokenIds> sources, targets;
  if (model.config().has_encoder()) sources = random_rows(random, model.config().encoder.vocabulary);
  if (model.config().has_decoder()) targets = random_rows(random, model.config().decoder.vocabulary);
  const ForwardResult result = model.forward(sources, targets);
  for (const Tensor& tensor : {result.logits, result.encoder_last_hidden_state}) {
    if (!tensor.empty()) hasher.add({tensor.raw(), tensor.bytes()});
  }
}

std::string hash_of_outputs(Precision precision) {
  ContentHasher hasher;
  const RandomMarian wide({.encoder = 2048, .decoder = 4096});
  const std::filesystem::path golden = ENCDEC_GOLDEN_DIR, pretrained = ENCDEC_PRETRAINED_DIR;
  for (const auto& folder : {pretrained / "english-pronunciation", wide.folder(), golden / "t5/v1_1/model",
                             golden / "bert/base/model", golden / "gpt2/with_prefix/model"}) {
    add_outputs(folder, precision, hasher);
  }
  std::string text;
  for (const std::byte byte : hasher.hash()) text += fmt::format("{:02x}", byte);
  return text;
}

// Hashes of builds with gcc 12 and Highway 1.0.3. Those of NEON were computed under QEMU 7.2.
const std::map<std::string, std::string> kHashes = {
    {"float32 avx512", "e3172268c43b69bbde44dda813da59a2"},
    {"float32 avx2", "cc44e537235fd958cc4708585725fba3"},
    {"float32 sse4", "81936cc9656d4b3c78b30a4e5fa92f10"},
    {"float32 neon", "0d8d0f7dcc068af27c123233754b3308"},
    {"bfloat16 avx512 bf16", "2c19be9ce4b22d8577bd84d31f4fa06b"},
    {"bfloat16 avx512", "98a58b176564fca20623ada7bfe20a90"},
    {"bfloat16 avx2", "d2baef560ae7a9b60feb3eb690b5dd2a"},
    {"bfloat16 sse4", "4826b1824da1a43129d9dbf039e81e8a"},
    {"bfloat16 neon bf16", "52c944ab18edb43d6e6e9a23cbbedd9e"},
    {"bfloat16 neon", "c5e4f021deea79d4f4240d7b74b8fdf5"},
    {"int8 avx512 bf16", "5e7c030ae7c5247bcfea344571017752"},
    {"int8 avx512", "b11230569dd949febc889510ee2f19ca"},
    {"int8 avx2", "4e03e1f699cf9c8508714def1dbdae96"},
    {"int8 sse4", "6f65916c09e0d68b86da37f0b370cc4f"},
    {"int8 neon", "83b4ed595d0ce7bc904439a765399ff5"},
};

class Builds : public testing::TestWithParam<Precision> {};

TEST_P(Builds, AgreeToTheBit) {
  if (backend::default_backend() != BackendChoice::automatic) GTEST_SKIP() << "hashes are of the backend auto";
  const std::string name = fmt::format("{} {}", to_string(GetParam()), instructions(GetParam()));
  const std::string found = hash_of_outputs(GetParam());
  const auto expected = kHashes.find(name);
  if (expected == kHashes.end()) GTEST_SKIP() << name << ": no hash known; here it is " << found;
  EXPECT_EQ(found, expected->second) << name;
}

INSTANTIATE_TEST_SUITE_P(Precisions, Builds, testing::Values(Precision::float32, Precision::bfloat16, Precision::int8),
                         [](const auto& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace encdec
