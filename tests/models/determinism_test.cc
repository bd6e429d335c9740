// A source's result is the same, bit by bit, whatever it is decoded with: other sources, batch sizes, threads, workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "encdec/models/model.h"
#include "tests/support/random_tensors.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

constexpr int kModelDim = 32, kHiddenDim = 48, kLayers = 2, kVocabulary = 100;
constexpr int kSources = 500, kLongestSource = 200;
constexpr std::int32_t kEnd = 0;

constexpr std::string_view kConfig = R"({
  "model_type": "marian", "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
  "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "activation_function": "swish",
  "scale_embedding": true, "vocab_size": 100, "max_position_embeddings": 256, "pad_token_id": 99,
  "decoder_start_token_id": 99, "eos_token_id": 0})";
constexpr std::string_view kGenerationConfig = R"({
  "pad_token_id": 99, "decoder_start_token_id": 99, "eos_token_id": 0, "bad_words_ids": [[99]], "max_new_tokens": 24})";

// A Marian checkpoint of random weights.
class RandomMarian {
 public:
  RandomMarian() {
    add("model.shared.weight", {kVocabulary, kModelDim}, 1.7);
    for (const std::string side : {"encoder", "decoder"}) {
      for (int i = 0; i < kLayers; ++i) add_layer("model." + side + ".layers." + std::to_string(i), side == "decoder");
    }
    Tensor bias = random_.uniform({1, kVocabulary}, 0.3);
    bias.data<float>()[kEnd] = kEndBias;
    tensors_.push_back({"final_logits_bias", bias});
    write_safetensors(folder_ / "model.safetensors", tensors_);
    folder_.write("config.json", kConfig);
    folder_.write("generation_config.json", kGenerationConfig);
  }

  Model load(int threads) const { return Model::load(folder_.path(), {.threads = threads}); }

 private:
  // Makes the end token likely enough for texts of all lengths.
  static constexpr float kEndBias = 5.0f;

  void add(const std::string& name, const Shape& shape, double limit) {
    tensors_.push_back({name, random_.uniform(shape, limit)});
  }
  void add_linear(const std::string& name, Dim outputs, Dim inputs) {
    add(name + ".weight", {outputs, inputs}, 2.0 / std::sqrt(static_cast<double>(inputs)));
    add(name + ".bias", {outputs}, 0.1);
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {kModelDim}, 1.5);
    add(name + ".bias", {kModelDim}, 0.1);
  }
  void add_attention(const std::string& name) {
    for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      add_linear(name + "." + part, kModelDim, kModelDim);
    }
    add_norm(name + "_layer_norm");
  }
  void add_layer(const std::string& name, bool is_decoder) {
    add_attention(name + ".self_attn");
    if (is_decoder) add_attention(name + ".encoder_attn");
    add_linear(name + ".fc1", kHiddenDim, kModelDim);
    add_linear(name + ".fc2", kModelDim, kHiddenDim);
    add_norm(name + ".final_layer_norm");
  }

  TempFolder folder_;
  RandomTensors random_{11};
  std::vector<NamedTensor> tensors_;
};

std::vector<GenerateInput> random_inputs() {
  RandomTensors random(12);
  const auto some_ids = [&](int count) {
    TokenIds ids(static_cast<std::size_t>(count));
    for (std::int32_t& id : ids) id = 1 + random.below(kVocabulary - 2);
    return ids;
  };
  std::vector<GenerateInput> inputs;
  for (int i = 0; i < kSources; ++i) {
    // Most are short, as in real text; the length is no function of the place.
    const int length = 1 + random.below(random.below(4) == 0 ? kLongestSource : 25);
    GenerateInput input{some_ids(length)};
    if (random.below(5) == 0) input.prefix = some_ids(1 + random.below(4));
    inputs.push_back(std::move(input));
  }
  inputs[17].source = some_ids(kLongestSource);
  inputs[18].source = some_ids(1);
  return inputs;
}

// All of a result's numbers, to the last bit.
std::string bytes_of(const GenerateResult& result) {
  std::string bytes;
  const auto append = [&](const auto* data, std::size_t count) {
    bytes += std::to_string(count) + ':';
    bytes.append(reinterpret_cast<const char*>(data), count * sizeof(*data));
  };
  append("", result.hypotheses.size());
  for (const Hypothesis& hypothesis : result.hypotheses) {
    append(hypothesis.token_ids.data(), hypothesis.token_ids.size());
    append(&hypothesis.score, 1);
    append(hypothesis.token_scores.data(), hypothesis.token_scores.size());
  }
  return bytes;
}

std::vector<std::string> generate(const Model& model, std::span<const GenerateInput> inputs,
                                  const GenerateOptions& options) {
  std::vector<std::string> all;
  for (const GenerateResult& result : model.generate_inputs(inputs, options)) all.push_back(bytes_of(result));
  return all;
}

// What a source is decoded with.
struct Company {
  int batch_size;
  int threads;
  int workers;
};

// Against batches of one, one thread and one worker. Batches of one take the longest.
constexpr std::array<Company, 8> kCompanies = {
    {{1, 2, 2}, {7, 1, 1}, {7, 1, 2}, {7, 2, 1}, {64, 1, 1}, {64, 1, 2}, {64, 2, 1}, {64, 2, 2}}};

struct Search {
  std::string name;
  GenerateOptions options;
};

void PrintTo(const Search& search, std::ostream* stream) {
  *stream << search.name;
}

class Determinism : public testing::TestWithParam<Search> {
 protected:
  static void SetUpTestSuite() {
    checkpoint_ = std::make_unique<RandomMarian>();
    models_.push_back(checkpoint_->load(1));
    models_.push_back(checkpoint_->load(2));
  }
  static void TearDownTestSuite() {
    models_.clear();
    checkpoint_.reset();
  }

  static inline std::unique_ptr<RandomMarian> checkpoint_;
  static inline std::vector<Model> models_;  // with 1 thread and with 2
};

TEST_P(Determinism, ASourceGetsTheSameBytesInEveryCompany) {
  const std::vector<GenerateInput> inputs = random_inputs();
  GenerateOptions options = GetParam().options;
  options.batch_size = 1;
  options.workers = 1;
  const auto expected = generate(models_[0], inputs, options);
  RandomTensors random(13);
  for (const Company& company : kCompanies) {
    options.batch_size = company.batch_size;
    options.workers = company.workers;
    const Model& model = models_[static_cast<std::size_t>(company.threads - 1)];
    const auto order = random.permutation(kSources);
    std::vector<GenerateInput> shuffled;
    for (const int i : order) shuffled.push_back(inputs[static_cast<std::size_t>(i)]);
    // Two calls, so that not all sources are sorted into batches together.
    const auto split = static_cast<std::size_t>(random.below(kSources));
    auto found = generate(model, std::span(shuffled).first(split), options);
    std::ranges::move(generate(model, std::span(shuffled).subspan(split), options), std::back_inserter(found));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], expected[static_cast<std::size_t>(order[i])])
          << "source " << order[i] << ", batch size " << company.batch_size << ", threads " << company.threads
          << ", workers " << company.workers;
    }
  }
}

// Else equal bytes would prove little.
TEST_P(Determinism, TheResultsAreOfManyLengthsAndTokens) {
  std::set<std::size_t> lengths;
  std::set<std::int32_t> tokens;
  std::size_t ended = 0;
  for (const auto& result : models_[0].generate_inputs(random_inputs(), GetParam().options)) {
    const TokenIds& ids = result.hypotheses.front().token_ids;
    lengths.insert(ids.size());
    tokens.insert(ids.begin(), ids.end());
    ended += !ids.empty() && ids.back() == kEnd;
  }
  EXPECT_GE(lengths.size(), 10u);
  EXPECT_GE(tokens.size(), 40u);
  EXPECT_GE(ended, kSources / 10u);
  EXPECT_LE(ended, kSources * 9u / 10);
}

const std::array kSearches = {
    Search{"Greedy", {.num_beams = 1}},
    Search{"Beams", {.num_beams = 4, .num_return_sequences = 4, .length_penalty = 0.6f}},
    Search{"Sampling",
           {.num_beams = 1, .do_sample = true, .temperature = 0.9f, .top_k = 30, .top_p = 0.95f, .seed = 5}},
};

INSTANTIATE_TEST_SUITE_P(Searches, Determinism, testing::ValuesIn(kSearches),
                         [](const testing::TestParamInfo<Search>& instance) { return instance.param.name; });

}  // namespace
}  // namespace encdec
