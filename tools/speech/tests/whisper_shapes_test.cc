// Whisper models with few layers in the decoder: distil-whisper (Gandhi et al. 2023) and large-v3-turbo. Widths are
// tiny and weights random, so texts are meaningless.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "encdec/speech/speech_model.h"
#include "tests/support/random_tensors.h"
#include "tests/support/safetensors_writer.h"
#include "tests/support/temp_folder.h"

namespace encdec {
namespace {

struct WhisperShape {
  const char* name;
  int mel_bands, encoder_layers, decoder_layers, vocabulary;
};

// Writes a checkpoint as transformers does.
void write_whisper(const WhisperShape& shape, const TempFolder& folder) {
  constexpr int kWidth = 8, kHidden = 16, kPositions = 1500, kContext = 448, kHeads = 2;
  const nlohmann::json config = {{"model_type", "whisper"},
                                 {"d_model", kWidth},
                                 {"num_mel_bins", shape.mel_bands},
                                 {"vocab_size", shape.vocabulary},
                                 {"encoder_layers", shape.encoder_layers},
                                 {"decoder_layers", shape.decoder_layers},
                                 {"encoder_attention_heads", kHeads},
                                 {"decoder_attention_heads", kHeads},
                                 {"encoder_ffn_dim", kHidden},
                                 {"decoder_ffn_dim", kHidden},
                                 {"max_source_positions", kPositions},
                                 {"max_target_positions", kContext}};
  folder.write("config.json", config.dump());
  RandomTensors random(1);
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, const Shape& size) {
    tensors.push_back({"model." + name, random.uniform(size)});
  };
  const auto add_linear = [&](const std::string& name, Dim outputs, Dim inputs) {
    add(name + ".weight", {outputs, inputs});
    if (!name.ends_with("k_proj")) add(name + ".bias", {outputs});
  };
  const auto add_norm = [&](const std::string& name) {
    add(name + ".weight", {kWidth});
    add(name + ".bias", {kWidth});
  };
  add("encoder.conv1.weight", {kWidth, shape.mel_bands, 3});
  add("encoder.conv1.bias", {kWidth});
  add("encoder.conv2.weight", {kWidth, kWidth, 3});
  add("encoder.conv2.bias", {kWidth});
  add("encoder.embed_positions.weight", {kPositions, kWidth});
  add("decoder.embed_positions.weight", {kContext, kWidth});
  add("decoder.embed_tokens.weight", {shape.vocabulary, kWidth});
  for (const auto& [side, layers] : {std::pair("encoder", shape.encoder_layers), {"decoder", shape.decoder_layers}}) {
    for (int i = 0; i < layers; ++i) {
      const std::string layer = std::string(side) + ".layers." + std::to_string(i) + ".";
      for (const std::string attention : {"self_attn", "encoder_attn"}) {
        if (attention == "encoder_attn" && side == std::string("encoder")) continue;
        for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"}) {
          add_linear(layer + attention + part, kWidth, kWidth);
        }
        add_norm(layer + attention + "_layer_norm");
      }
      add_linear(layer + "fc1", kHidden, kWidth);
      add_linear(layer + "fc2", kWidth, kHidden);
      add_norm(layer + "final_layer_norm");
    }
    add_norm(std::string(side) + ".layer_norm");
  }
  write_safetensors(folder / "model.safetensors", tensors);
}

class WhisperShapes : public testing::TestWithParam<WhisperShape> {};

TEST_P(WhisperShapes, Transcribe) {
  const TempFolder folder;
  write_whisper(GetParam(), folder);
  const SpeechModel model(Model::load(folder.path()));
  std::vector<float> samples(40'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::sin(0.1F * static_cast<float>(i));
  for (const bool words : {false, true}) {
    const TranscribeOptions options{
        .temperatures = {0}, .beam_size = 1, .no_speech_threshold = {}, .word_timestamps = words};
    const Transcript transcript = model.transcribe(Recording::of_samples(samples), options);
    EXPECT_EQ(transcript.duration, 2.5);
    EXPECT_FALSE(transcript.segments.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, WhisperShapes,
                         testing::Values(WhisperShape{"distil_small_en", 80, 12, 4, 51864},
                                         WhisperShape{"distil_large_v3", 128, 32, 2, 51866},
                                         WhisperShape{"large_v3_turbo", 128, 32, 4, 51866}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace encdec
