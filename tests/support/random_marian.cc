#include "tests/support/random_marian.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/random_tensors.h"
#include "tests/support/safetensors_writer.h"

namespace encdec {
namespace {

constexpr int kModelDim = 32, kLayers = 2;
// Bias of the end token, chosen so that texts of all lengths occur.
constexpr float kEndBias = 5.0f;

constexpr std::string_view kConfig = R"({{
  "model_type": "marian", "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
  "decoder_attention_heads": 4, "encoder_ffn_dim": {}, "decoder_ffn_dim": {}, "activation_function": "swish",
  "scale_embedding": true, "vocab_size": {}, "max_position_embeddings": 256, "pad_token_id": 99,
  "decoder_start_token_id": 99, "eos_token_id": 0}})";
constexpr std::string_view kGenerationConfig = R"({
  "pad_token_id": 99, "decoder_start_token_id": 99, "eos_token_id": 0, "bad_words_ids": [[99]], "max_new_tokens": 24})";

class Weights {
 public:
  Weights(RandomMarian::Outliers outliers, RandomMarian::HiddenDims hidden) : outliers_(outliers) {
    add("model.shared.weight", {hidden.vocabulary, kModelDim}, 1.7);
    for (const std::string side : {"encoder", "decoder"}) {
      const bool is_decoder = side == "decoder";
      for (int i = 0; i < kLayers; ++i) {
        const std::string layer = "model." + side + ".layers." + std::to_string(i);
        add_attention(layer + ".self_attn");
        if (is_decoder) add_attention(layer + ".encoder_attn");
        add_feed_forward(layer, is_decoder ? hidden.decoder : hidden.encoder);
      }
    }
    Tensor bias = random_.uniform({1, hidden.vocabulary}, 0.3);
    bias.data<float>()[RandomMarian::kEnd] = kEndBias;
    tensors_.push_back({"final_logits_bias", bias});
  }

  const std::vector<NamedTensor>& tensors() const { return tensors_; }

 private:
  Tensor& add(const std::string& name, const Shape& shape, double limit) {
    tensors_.push_back({name, random_.uniform(shape, limit)});
    return tensors_.back().tensor;
  }
  void add_linear(const std::string& name, Dim outputs, Dim inputs) {
    add(name + ".weight", {outputs, inputs}, 2.0 / std::sqrt(static_cast<double>(inputs)));
    add(name + ".bias", {outputs}, 0.1);
  }
  void add_norm(const std::string& name) {
    add(name + ".weight", {kModelDim}, 1.5).data<float>()[0] *= first_input();
    add(name + ".bias", {kModelDim}, 0.1).data<float>()[0] *= first_input();
  }
  void add_attention(const std::string& name) {
    for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      add_linear(name + "." + part, kModelDim, kModelDim);
    }
    add_norm(name + "_layer_norm");
  }
  void add_feed_forward(const std::string& name, int hidden) {
    add_linear(name + ".fc1", hidden, kModelDim);
    if (outliers_ == RandomMarian::Outliers::weights) {
      Tensor& weight = tensors_[tensors_.size() - 2].tensor;
      for (Dim row = 0; row < hidden; ++row) weight.row(row)[0] = 1000.0f;
    }
    add_linear(name + ".fc2", kModelDim, hidden);
    add_norm(name + ".final_layer_norm");
  }
  float first_input() const { return outliers_ == RandomMarian::Outliers::weights ? 0.0f : 1.0f; }

  RandomMarian::Outliers outliers_;
  RandomTensors random_{11};
  std::vector<NamedTensor> tensors_;
};

}  // namespace

RandomMarian::RandomMarian(Outliers outliers, HiddenDims hidden) {
  write_safetensors(folder_ / "model.safetensors", Weights(outliers, hidden).tensors());
  folder_.write("config.json", fmt::format(kConfig, hidden.encoder, hidden.decoder, hidden.vocabulary));
  folder_.write("generation_config.json", kGenerationConfig);
}

}  // namespace encdec
