// Compares embeddings of golden/sentence_transformers with the vectors that sentence-transformers computed.
#include "encdec/encoders/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "encdec/models/model.h"
#include "tests/support/golden_cases.h"
#include "tests/support/message_of.h"
#include "tests/support/packed_folder.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::HasSubstr;

const std::filesystem::path kCases =
    std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden/sentence_transformers";

const std::filesystem::path kSparse = std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden/sparse_encoders";

std::vector<std::vector<float>> rows_of(const Tensor& tensor) {
  std::vector<std::vector<float>> rows;
  for (Dim i = 0; i < tensor.rows(); ++i) rows.emplace_back(tensor.row(i), tensor.row(i) + tensor.width());
  return rows;
}

// Returns the vectors of a text's tokens as a matrix.
Tensor tensor_of(VectorResult& vectors) {
  return {vectors.values.data(), DataType::float32, {static_cast<Dim>(vectors.rows), static_cast<Dim>(vectors.width)}};
}

class EmbedGolden : public testing::TestWithParam<std::string> {};

TEST_P(EmbedGolden, EmbeddingsEqualSentenceTransformersInAnyBatch) {
  const JsonObject expected = read_json_object(unpacked(kCases / GetParam()) / "expected.json");
  const auto texts = expected.strings("texts");
  const auto embeddings = expected.value()["embeddings"].get<std::vector<std::vector<float>>>();
  ASSERT_EQ(texts.size(), embeddings.size());
  for (const int threads : {1, 2}) {
    const Embedder model(Model::load(unpacked(kCases / GetParam()) / "model", {.threads = threads}));
    std::vector<std::vector<float>> first;
    for (const int batch_size : {1, 4, 32}) {
      const auto found = rows_of(model.embed(texts, {.batch_size = batch_size}));
      for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_THAT(found[i], testing::Pointwise(testing::FloatNear(1e-5f), embeddings[i])) << texts[i];
      }
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << "batch size " << batch_size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SentenceTransformers, EmbedGolden, testing::ValuesIn(packed_names(kCases)),
                         [](const auto& instance) { return instance.param; });

class SparseGolden : public testing::TestWithParam<std::string> {
 protected:
  JsonObject expected_ = read_json_object(unpacked(kSparse / GetParam()) / "expected.json");
  std::vector<std::string> texts_ = expected_.strings("texts");
};

TEST_P(SparseGolden, SparseVectorsEqualSentenceTransformersInAnyBatch) {
  const auto& vectors = expected_.value()["vectors"];
  for (const int threads : {1, 2}) {
    const Embedder model(Model::load(unpacked(kSparse / GetParam()) / "model", {.threads = threads}));
    std::vector<VectorResult> first;
    for (const int batch_size : {0, 1, 4}) {
      const auto found = model.embed_each(texts_, {.output = EmbedOutput::sparse, .batch_size = batch_size});
      for (std::size_t i = 0; i < texts_.size(); ++i) {
        EXPECT_EQ(found[i].token_ids, vectors[i]["ids"].get<TokenIds>()) << texts_[i];
        EXPECT_THAT(found[i].values,
                    testing::Pointwise(testing::FloatNear(2e-5f), vectors[i]["values"].get<std::vector<float>>()))
            << texts_[i];
      }
      if (first.empty()) first = found;
      EXPECT_TRUE(std::ranges::equal(found, first, {}, &VectorResult::values, &VectorResult::values)) << batch_size;
    }
  }
}

TEST_P(SparseGolden, AFolderWithoutSpladePoolingGivesDenseVectorsToo) {
  const Embedder model(Model::load(unpacked(kSparse / GetParam()) / "model"));
  EXPECT_TRUE(model.gives(EmbedOutput::sparse));
  const bool is_dense = expected_.has("embeddings");
  EXPECT_EQ(model.gives(EmbedOutput::dense), is_dense);
  EXPECT_EQ(model.gives(EmbedOutput::tokens), is_dense);
  if (!is_dense) {
    EXPECT_THAT(message_of<ConfigError>([&] { model.embed(texts_); }),
                HasSubstr("no dense vectors, expected a model with Pooling that is neither SpladePooling nor"));
    return;
  }
  const auto expected = expected_.value()["embeddings"].get<std::vector<std::vector<float>>>();
  const auto found = rows_of(model.embed(texts_));
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    EXPECT_THAT(found[i], testing::Pointwise(testing::FloatNear(1e-5f), expected[i])) << texts_[i];
  }
}

// The cases that this build reads: BGE-M3 has .pt files.
std::vector<std::string> sparse_cases() {
  std::vector<std::string> names = packed_names(kSparse);
  if (!ENCDEC_TESTS_READ_PYTORCH) std::erase(names, "bge_m3");
  return names;
}
INSTANTIATE_TEST_SUITE_P(SparseEncoders, SparseGolden, testing::ValuesIn(sparse_cases()),
                         [](const auto& instance) { return instance.param; });

#if ENCDEC_TESTS_READ_PYTORCH
TEST(BgeM3, ColbertVectorsEqualFlagEmbeddingInAnyBatch) {
  const JsonObject expected = read_json_object(unpacked(kSparse / "bge_m3") / "expected.json");
  const auto texts = expected.strings("texts");
  const Embedder model(Model::load(unpacked(kSparse / "bge_m3") / "model"));
  for (const int batch_size : {0, 1}) {
    auto found = model.embed_each(texts, {.output = EmbedOutput::colbert, .batch_size = batch_size});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto wanted = expected.value()["colbert"][i].get<std::vector<std::vector<float>>>();
      const auto rows = rows_of(tensor_of(found[i]));
      ASSERT_EQ(rows.size(), wanted.size()) << texts[i];
      for (std::size_t r = 0; r < rows.size(); ++r) {
        EXPECT_THAT(rows[r], testing::Pointwise(testing::FloatNear(1e-5f), wanted[r])) << texts[i];
      }
    }
  }
}
#endif

TEST(EmbedTokens, TheMeanOfTheRowsIsTheEmbedding) {
  const Embedder model(Model::load(unpacked(kCases / "no_modules") / "model"));
  const std::vector<std::string> texts{"the cat sat on a mat.", "", "a"};
  const auto embeddings = rows_of(model.embed(texts));
  for (const int batch_size : {0, 1}) {
    auto matrices = model.embed_each(texts, {.output = EmbedOutput::tokens, .batch_size = batch_size});
    EXPECT_EQ(matrices[2].rows, 3u);
    EXPECT_EQ(matrices[2].width, 16u);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(SentenceEmbedder().embed(tensor_of(matrices[i])), embeddings[i]) << texts[i];
    }
  }
}

TEST(EmbedTokens, ATextWithoutTokensHasNoEmbedding) {
  const std::filesystem::path folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "ctranslate2" / "bert" / "model";
  if (!can_read_weights(folder)) GTEST_SKIP() << "the format is not in this build";
  const Model model = Model::load(folder, {.threads = 1});
  EXPECT_THAT(message_of<InputError>([&] {
                Embedder(model).embed({"a", ""});
              }),
              HasSubstr("text 2: no tokens, expected at least one"));
}

TEST(EmbedSparse, RefusesWhatItCannotDo) {
  const Embedder dense(Model::load(unpacked(kCases / "no_modules") / "model")),
      sparse(Model::load(unpacked(kSparse / "bert") / "model"));
  const auto message = [](const Embedder& embedder, const std::vector<std::string>& texts,
                          const EmbedOptions& options) {
    return message_of<ConfigError>([&] { embedder.embed_each(texts, options); });
  };
  EXPECT_THAT(message(dense, {}, {.output = EmbedOutput::sparse}),
              HasSubstr("no sparse vectors, expected a model with SpladePooling, sparse_linear.pt or the head of"));
  EXPECT_THAT(message(sparse, {"a"}, {.output = EmbedOutput::colbert}),
              HasSubstr("no ColBERT vectors, expected a model with colbert_linear.pt"));
  EXPECT_EQ(message(sparse, {"a"}, {.output = EmbedOutput::sparse, .normalize = true}),
            "dimensions and normalize: not for sparse vectors, expected neither of them");
  EXPECT_THAT(message(sparse, {"a"}, {.output = EmbedOutput::tokens}), HasSubstr("no token vectors, expected"));
  EXPECT_THAT(message_of<ConfigError>([&] { sparse.model().generate({"a"}); }), HasSubstr("bert has no decoder"));
  const Model decoder = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "gpt2/with_prefix/model");
  EXPECT_THAT(message_of<ConfigError>([&] { Embedder(decoder).embed({"a"}); }), HasSubstr("gpt2 has a decoder"));
}

// A copy of a folder with SpladePooling, with changes.
class DamagedSparseEncoder : public testing::Test {
 protected:
  DamagedSparseEncoder() {
    std::filesystem::copy(unpacked(kSparse / "bert") / "model", folder_.path(),
                          std::filesystem::copy_options::recursive);
  }
  std::string message_with(const std::string& file, const std::string& key, const std::string& value) const {
    nlohmann::json config = read_json_object(folder_.path() / file).value();
    config[key] = nlohmann::json::parse(value);
    std::ofstream(folder_.path() / file) << config;
    return message_of([&] { Model::load(folder_.path()); });
  }

  TempFolder folder_;
};

TEST_F(DamagedSparseEncoder, FilesAreNamed) {
  const std::string pooling = "1_SpladePooling/config.json";
  EXPECT_THAT(message_with(pooling, "pooling_strategy", R"("mean")"),
              HasSubstr("1_SpladePooling/config.json: pooling_strategy 'mean' is not supported, expected max or sum"));
  EXPECT_EQ(message_with(pooling, "pooling_strategy", R"("sum")"), "no exception");
  EXPECT_THAT(message_with("config.json", "architectures", R"(["BertModel"])"),
              HasSubstr("SpladePooling without the head of a masked language model, expected architectures"));
}

#if ENCDEC_TESTS_READ_PYTORCH
TEST_F(DamagedSparseEncoder, LinearMapsMustFit) {
  const auto message_with = [&](const std::string& file, const std::filesystem::path& from) {
    std::filesystem::copy(from, folder_.path() / file, std::filesystem::copy_options::overwrite_existing);
    return message_of([&] { Model::load(folder_.path()); });
  };
  const std::filesystem::path m3 = unpacked(kSparse / "bge_m3") / "model";
  EXPECT_EQ(message_with("sparse_linear.pt", m3 / "sparse_linear.pt"), "no exception");
  EXPECT_THAT(message_with("sparse_linear.pt", m3 / "colbert_linear.pt"),
              HasSubstr("sparse_linear.pt: tensor 'weight': shape [12, 16], expected [1, 16]"));
  EXPECT_THAT(message_with("sparse_linear.pt", m3 / "config.json"), HasSubstr("sparse_linear.pt: "));
}
#endif

TEST_F(DamagedSparseEncoder, AHeadThatTheWeightsLackIsAnError) {
  std::filesystem::copy(unpacked(kCases / "no_modules") / "model" / "model.safetensors",
                        folder_.path() / "model.safetensors", std::filesystem::copy_options::overwrite_existing);
  EXPECT_THAT(message_of([&] { Model::load(folder_.path()); }),
              HasSubstr("tensor 'cls.predictions.bias' or 'cls.predictions.decoder.bias' is missing"));
}

// A published checkpoint. golden/make_minilm.py says where to get it.
TEST(EmbedRealCheckpoint, EmbeddingsOfMiniLmEqualSentenceTransformers) {
  const char* folder = std::getenv("ENCDEC_MINILM");
  if (folder == nullptr) GTEST_SKIP() << "ENCDEC_MINILM names no folder with all-MiniLM-L6-v2";
  const std::filesystem::path golden = std::filesystem::path(ENCDEC_TOOLS_DIR) / "encoders/tests/golden/minilm";
  std::vector<std::string> texts;
  std::ifstream lines(golden / "sentences.txt");
  for (std::string line; std::getline(lines, line);) texts.push_back(line);
  const auto expected = read_safetensors(golden / "embeddings.safetensors");
  const Tensor& embeddings = *expected->find("embeddings");
  ASSERT_EQ(texts.size(), 100u);
  ASSERT_EQ(embeddings.rows(), 100);
  const auto found = rows_of(Embedder(Model::load(folder)).embed(texts));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const float* row = embeddings.row(static_cast<std::int64_t>(i));
    EXPECT_THAT(found[i],
                testing::Pointwise(testing::FloatNear(1e-5f), std::vector<float>(row, row + embeddings.width())))
        << texts[i];
  }
}

// A folder with modules.json and with config.json in 1_Pooling.
class SentenceEmbedderFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << content;
  }

  std::string failure() const {
    try {
      SentenceEmbedder::read(folder_, 4);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  TempFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(SentenceEmbedderFiles, WithoutFilesTheMeanIsTaken) {
  const SentenceEmbedder embedder = SentenceEmbedder::read(folder_, 2);
  Tensor hidden = Tensor::allocate({2, 2});
  std::ranges::copy(std::array{1.0f, 2.0f, 5.0f, -4.0f}, hidden.data<float>());
  EXPECT_THAT(embedder.embed(hidden), testing::ElementsAre(3.0f, -1.0f));
  EXPECT_EQ(embedder.max_length(), 0u);
}

TEST_F(SentenceEmbedderFiles, TheDefaultPromptIsPrepended) {
  write("modules.json", R"([{"type": "a.Transformer", "path": ""}])");
  write("config_sentence_transformers.json", R"({"default_prompt_name": "query", "prompts": {"query": "query: "}})");
  EXPECT_EQ(SentenceEmbedder::read(folder_, 4).prompt({}, {}), "query: ");
}

TEST_F(SentenceEmbedderFiles, OtherPromptsAreSelectedByName) {
  write("modules.json", R"([{"type": "a.Transformer", "path": ""}])");
  write("config_sentence_transformers.json", R"({"prompts": {"query": "query: ", "document": null}})");
  const SentenceEmbedder embedder = SentenceEmbedder::read(folder_, 4);
  EXPECT_EQ(embedder.prompt({}, {}), "");
  EXPECT_EQ(embedder.prompt({}, "query"), "query: ");
  EXPECT_EQ(embedder.prompt({}, "document"), "");
  const auto refusal = [](const SentenceEmbedder& of) { return message_of([&] { of.prompt({}, "passage"); }); };
  EXPECT_THAT(refusal(embedder), HasSubstr("prompt 'passage' is not known, expected one of [document, query]"));
  EXPECT_THAT(refusal(SentenceEmbedder()), HasSubstr("prompt 'passage' is not known, expected one of []"));
  EXPECT_EQ(embedder.prompt("title: ", "query"), "title: ");
  write("modules.json", R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": ""}])");
  write("config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  EXPECT_EQ(SentenceEmbedder::read(folder_, 4).prompt({}, "query"), "query: ");
}

TEST_F(SentenceEmbedderFiles, EmbeddingsAreTruncatedAndThenNormalized) {
  const SentenceEmbedder embedder;
  Tensor hidden = Tensor::allocate({1, 3});
  std::ranges::copy(std::array{3.0f, -4.0f, 5.0f}, hidden.data<float>());
  EXPECT_THAT(embedder.embed(hidden, 0, 2), testing::ElementsAre(3.0f, -4.0f));
  EXPECT_THAT(embedder.embed(hidden, 0, 2, true), testing::ElementsAre(0.6f, -0.8f));
  EXPECT_THAT(embedder.embed(hidden, 0, 4), testing::ElementsAre(3.0f, -4.0f, 5.0f));
}

TEST_F(SentenceEmbedderFiles, DamagedFilesAreNamed) {
  write("modules.json", R"({})");
  EXPECT_THAT(failure(), HasSubstr("modules.json: not a list of modules"));
  write("modules.json", R"([{"path": ""}])");
  EXPECT_THAT(failure(), HasSubstr("modules.json: 'type' is missing"));
  write("modules.json", R"([{"type": "a.Transformer", "path": "../elsewhere"}])");
  EXPECT_THAT(failure(), HasSubstr("module folder '../elsewhere', expected a bare name"));
  write("modules.json", R"([{"type": "a.Pooling", "path": "1_Pooling"}])");
  EXPECT_THAT(failure(), HasSubstr("1_Pooling/config.json"));
  write("1_Pooling/config.json", R"({"pooling_mode": "median"})");
  EXPECT_THAT(failure(), HasSubstr("pooling_mode 'median' is not supported"));
  write("1_Pooling/config.json", R"({"pooling_mode": ["mean", "max"]})");
  EXPECT_EQ(failure(), "no error");
}

TEST_F(SentenceEmbedderFiles, UnsupportedModulesAreNamed) {
  write("modules.json", R"([{"type": "sentence_transformers.models.LSTM", "path": "1_LSTM"}])");
  EXPECT_THAT(failure(), HasSubstr("module 'LSTM' is not supported here"));
  write("modules.json", R"([{"type": "a.Transformer", "path": ""}, {"type": "b.LogitScore", "path": "1_LogitScore"}])");
  EXPECT_THAT(failure(),
              HasSubstr("module 'LogitScore' is not supported here, expected Transformer, then SpladePooling"));
  write("modules.json", R"([{"type": "a.Pooling", "path": ""}, {"type": "a.Dense", "path": "1_Dense"}])");
  write("config.json", R"({})");
  write("1_Dense/config.json", R"({"module_input_name": "token_embeddings", "out_features": 2})");
  EXPECT_THAT(failure(), HasSubstr("1_Dense/config.json: module_input_name 'token_embeddings' is not supported"));
  write("modules.json", R"([{"type": "a.Transformer", "path": ""}])");
  write("sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_THAT(failure(), HasSubstr("sentence_bert_config.json: do_lower_case is not supported"));
}

}  // namespace
}  // namespace encdec
