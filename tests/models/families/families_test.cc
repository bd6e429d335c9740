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
      {R"("model_type": "deberta-v2", "pos_att_type": "C2P|p2c")",
       "pos_att_type 'C2P' is not supported, expected c2p or p2c"},
      {R"("model_type": "bert", "position_embedding_type": "relative_key")",
       "'position_embedding_type' is \"relative_key\", expected \"absolute\""},
      {R"("model_type": "bert", "architectures": ["BertForTokenClassification"], "id2label": {})",
       "id2label has no labels"},
      {R"("model_type": "bart", "architectures": ["BartForTokenClassification"])",
       "a classifier of tokens is not supported"}};
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
