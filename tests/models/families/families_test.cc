#include "encdec/models/families/families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/model.h"
#include "tests/support/message_of.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Describes a checkpoint with this config.json and one tensor, whose name begins with "model.".
ModelDescription described(const char* config) {
  const auto weights = std::make_shared<WeightStore>("test");
  weights->add("model.x", Tensor());
  Checkpoint checkpoint;
  checkpoint.settings.network = JsonObject(parse_json(config, "config.json"), "config.json");
  checkpoint.weights = weights;
  return describe_model(checkpoint);
}

TEST(Families, RefuseWhatTheyDoNotCompute) {
  const std::pair<std::string, const char*> kCases[] = {
      {R"("model_type": "reformer")",
       "config.json: model_type 'reformer' is not supported, expected one of 'albert', 'bart', 'bert', "},
      {"", "'model_type' is missing"},
      {R"("model_type": "marian", "d_model": 0)", "'d_model' is 0, expected"},
      {R"("model_type": "marian", "d_model": 10, "encoder_attention_heads": 3)",
       "encoder_attention_heads 3 does not divide the model dimension 10"},
      {R"("model_type": "marian", "encoder_layers": -1)", "'encoder_layers' is -1"},
      {R"("model_type": "marian", "activation_function": "cube")",
       "activation_function 'cube' is not supported, expected one of relu"},
      {R"("model_type": "marian", "vocab_size": "many")", "'vocab_size'"},
      {R"("model_type": "albert", "inner_group_num": 2)", "'inner_group_num' is 2, expected 1"},
      {R"("model_type": "eurobert", "num_attention_heads": 12, "num_key_value_heads": 5)",
       "num_key_value_heads 5 does not divide num_attention_heads 12"},
      {R"("model_type": "eurobert", "num_attention_heads": 12, "classifier_pooling": "max")",
       "classifier_pooling 'max' is not supported, expected bos, mean or late"},
      {R"("model_type": "eurobert", "num_attention_heads": 12, "rope_scaling": {"factor": 2})",
       "'rope_scaling' is object of 1, expected null"},
      {R"("model_type": "eurobert", "num_attention_heads": 12, "rope_parameters": {"rope_type": "yarn"})",
       "'rope_parameters.rope_type' is \"yarn\", expected \"default\""},
      {R"("model_type": "llama", "num_key_value_heads": 5)",
       "num_key_value_heads 5 does not divide num_attention_heads 32"},
      {R"("model_type": "qwen3", "rope_scaling": {"rope_type": "yarn", "factor": 4.0})",
       "rope_type 'yarn' is not supported, expected default, linear or llama3"},
      {R"("model_type": "llama", "rope_parameters": {"rope_type": "llama3", "low_freq_factor": 4})",
       "low_freq_factor 4 is not below high_freq_factor 4"},
      {R"("model_type": "gemma2", "layer_types": ["chunked_attention"])",
       "layer_types has 'chunked_attention', expected full_attention or sliding_attention"},
      {R"("model_type": "gemma3_text", "use_bidirectional_attention": true)",
       "'use_bidirectional_attention' is true, expected false"},
      {R"("model_type": "t5gemma")", "'decoder' is missing"},
      {R"("model_type": "deberta-v2", "pos_att_type": "C2P|p2c")",
       "pos_att_type 'C2P' is not supported, expected c2p or p2c"},
      {R"("model_type": "bert", "position_embedding_type": "relative_key")",
       "'position_embedding_type' is \"relative_key\", expected \"absolute\""},
      {R"("model_type": "bert", "architectures": ["BertForTokenClassification"], "id2label": {})",
       "id2label has no labels"},
      {R"("model_type": "bart", "architectures": ["BartForTokenClassification"])",
       "a token classifier is not supported"}};
  for (const auto& [settings, message] : kCases) {
    const std::string config = "{" + settings + "}";
    EXPECT_THAT(refusal_of<ConfigError>("config.json: ", [&] { described(config.c_str()); }), HasSubstr(message))
        << settings;
  }
}

TEST(Marian, FindsATiedTensorUnderEveryNameThatWritersUse) {
  const auto names = described(R"({"model_type": "marian"})").weight_names;
  EXPECT_THAT(names("output_projection.weight"),
              ElementsAre("lm_head.weight", "model.decoder.embed_tokens.weight", "model.shared.weight",
                          "model.encoder.embed_tokens.weight"));
  const auto untied = described(R"({"model_type": "marian", "tie_word_embeddings": false})").weight_names;
  EXPECT_THAT(untied("output_projection.weight"), ElementsAre("lm_head.weight"));
  const auto separate =
      described(R"({"model_type": "marian", "share_encoder_decoder_embeddings": false})").weight_names;
  EXPECT_THAT(separate("encoder.embedding.weight"), ElementsAre("model.encoder.embed_tokens.weight"));
  EXPECT_THAT(separate("output_projection.weight"), ElementsAre("lm_head.weight", "model.decoder.embed_tokens.weight"));
}

TEST(Albert, LayersOfAGroupShareTheirWeights) {
  // The layers are packed once.
  const Model golden = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "albert" / "base" / "model");
  const Graph& graph = golden.network()->encoder->graph();
  const auto layer_of = [&](const char* name) { return graph.node(graph.find(name)).layer; };
  EXPECT_EQ(layer_of("encoder.1.self_attention"), layer_of("encoder.0.self_attention"));
  EXPECT_EQ(layer_of("encoder.1.feed_forward"), layer_of("encoder.0.feed_forward"));
  EXPECT_NE(layer_of("encoder.2.feed_forward"), layer_of("encoder.0.feed_forward"));
}

TEST(NomicBert, ReadsBothFormsOfTheBaseOfLongTexts) {
  const auto rotary_of = [](const std::string& settings) {
    return described((R"({"model_type": "nomic_bert", )" + settings + "}").c_str()).config.encoder.attention.rotary;
  };
  const RotaryOptions expected{.base = 500, .growth = 2, .trained_positions = 1024};
  EXPECT_EQ(rotary_of(R"("rotary_emb_base": 500, "rotary_scaling_factor": 2, "max_trained_positions": 1024)"),
            expected);
  EXPECT_EQ(rotary_of(R"("max_position_embeddings": 1024,
                         "rope_parameters": {"rope_type": "dynamic", "rope_theta": 500, "factor": 2})"),
            expected);
  EXPECT_EQ(rotary_of(R"("rotary_emb_base": 500, "rotary_scaling_factor": null)"), RotaryOptions{.base = 500});
}

// The windows of each layer, as the decoders' classes in transformers read both generations of settings; 0: none.
std::vector<int> windows(const char* config) {
  std::vector<int> found;
  for (const AttentionOptions& layer : described(config).config.decoder.layer_attention) {
    found.push_back(layer.limits.after == 0 ? layer.limits.before + 1 : 0);
  }
  return found;
}

TEST(RotaryStack, ReadsTheWindowsOfEachLayer) {
  EXPECT_THAT(windows(R"({"model_type": "llama", "num_hidden_layers": 2, "sliding_window": 8})"), ElementsAre(0, 0));
  EXPECT_THAT(windows(R"({"model_type": "mistral", "num_hidden_layers": 2})"), ElementsAre(4096, 4096));
  EXPECT_THAT(windows(R"({"model_type": "mistral", "num_hidden_layers": 2, "sliding_window": null})"),
              ElementsAre(0, 0));
  EXPECT_THAT(
      windows(R"({"model_type": "qwen2", "num_hidden_layers": 3, "sliding_window": 8, "max_window_layers": 1})"),
      ElementsAre(0, 0, 0));
  EXPECT_THAT(windows(R"({"model_type": "qwen2", "num_hidden_layers": 3, "sliding_window": 8, "max_window_layers": 1,
                          "use_sliding_window": true})"),
              ElementsAre(0, 8, 8));
  EXPECT_THAT(windows(R"({"model_type": "gemma2", "num_hidden_layers": 3, "sliding_window": 8})"),
              ElementsAre(8, 0, 8));
  EXPECT_THAT(windows(R"({"model_type": "gemma3_text", "num_hidden_layers": 4, "sliding_window": 8,
                          "sliding_window_pattern": 3})"),
              ElementsAre(8, 8, 0, 8));
  EXPECT_THAT(windows(R"({"model_type": "gemma3", "text_config": {"num_hidden_layers": 2, "sliding_window": 8,
                          "layer_types": ["full_attention", "sliding_attention"]}})"),
              ElementsAre(0, 8));
}

TEST(RotaryStack, ReadsTheRotationsOfEachGeneration) {
  for (const char* config :
       {R"({"model_type": "gemma3_text", "num_hidden_layers": 6, "rope_theta": 500.0, "rope_local_base_freq": 70.0,
            "rope_scaling": {"rope_type": "linear", "factor": 8.0}})",
        R"({"model_type": "gemma3_text", "num_hidden_layers": 6, "rope_parameters": {
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 500.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 70.0}}})"}) {
    const auto layers = described(config).config.decoder.layer_attention;
    EXPECT_EQ(layers[0].rotary, (RotaryOptions{.base = 70.0f}));
    EXPECT_EQ(layers[5].rotary, (RotaryOptions{.base = 500.0f, .scale = 0.125f}));
  }
}

TEST(DebertaV2, ReadsBothFormsOfTheTermsOfPositions) {
  const auto scores_of = [](const std::string& terms) {
    const auto& options =
        described(
            (R"({"model_type": "deberta-v2", "relative_attention": true, "pos_att_type": )" + terms + "}").c_str())
            .config.encoder.attention.disentangled_positions;
    return std::pair(options.scores_queries, options.scores_keys);
  };
  EXPECT_EQ(scores_of(R"("p2c|c2p")"), std::pair(true, true));
  EXPECT_EQ(scores_of(R"(["c2p"])"), std::pair(true, false));
  EXPECT_EQ(scores_of("null"), std::pair(false, false));
  EXPECT_EQ(scores_of(R"("")"), std::pair(false, false));
}

TEST(ModelDescription, SizesThatContradictEachOtherNameTheFile) {
  const auto refusal_with = [](const char* model, const char* key, int value) {
    const TempFolder folder;
    std::filesystem::copy(std::filesystem::path(ENCDEC_GOLDEN_DIR) / model / "base" / "model", folder.path());
    nlohmann::json config = read_json_object(folder / "config.json").value();
    config[key] = value;
    folder.write("config.json", config.dump());
    return message_of<ConfigError>([&] { Model::load(folder.path()); });
  };
  EXPECT_THAT(refusal_with("deberta_v2", "position_buckets", 1),
              HasSubstr("/config.json: 1 position buckets, expected at least 2"));
  EXPECT_THAT(refusal_with("eurobert", "head_dim", 7),
              HasSubstr("/config.json: rotary positions for heads of 7, expected an even width"));
}

}  // namespace
}  // namespace encdec
