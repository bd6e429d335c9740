// Tests encdec inspect: it shows what a checkpoint folder contains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/support/temp_folder.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

std::string inspect(std::string_view model, std::vector<std::string> options) {
  options.insert(options.begin(), {"inspect", "--model", golden_model(model)});
  const Finished finished = encdec_command(std::move(options));
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "");
  return finished.output;
}

TEST(Inspect, SizesMatchTheConfig) {
  const json config = json::parse(read_file(golden_model("odd_sizes") + "/config.json"));
  const json found = json::parse(inspect("odd_sizes", {"--json"}));
  EXPECT_EQ(found["family"], "marian");
  EXPECT_EQ(found["model_dim"], config["d_model"]);
  EXPECT_EQ(found["activation"], config["activation_function"]);
  for (const std::string side : {"encoder", "decoder"}) {
    EXPECT_EQ(found[side]["layers"], config[side + "_layers"]);
    EXPECT_EQ(found[side]["heads"], config[side + "_attention_heads"]);
    EXPECT_EQ(found[side]["hidden_dim"], config[side + "_ffn_dim"]);
    EXPECT_EQ(found[side]["vocabulary"], config["vocab_size"]);
  }
  EXPECT_EQ(found["tokenizer"], json::array());
}

TEST(Inspect, WithoutAModelTheCacheOfHuggingFaceIsListed) {
  const TempFolder cache;
  setenv("HF_HUB_CACHE", cache.path().c_str(), 1);
  std::filesystem::create_directories(cache / "models--me--half/snapshots/aaaa");
  EXPECT_TRUE(failed(encdec_command({"inspect"}), 1, {cache.path().string(), "no model that runs here"}));
  std::filesystem::create_directories(cache / "models--me--tiny/snapshots");
  std::filesystem::create_directory_symlink(golden_model("odd_sizes"), cache / "models--me--tiny/snapshots/bbbb");
  const std::string lines = encdec_command({"inspect"}).output;
  EXPECT_TRUE(lines.starts_with("me/tiny ")) << lines;
  EXPECT_THAT(lines, HasSubstr("marian"));
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1);
  const json list = json::parse(encdec_command({"inspect", "--json"}).output);
  EXPECT_THAT(list.at(0).at("problem"), HasSubstr("hf download me/half"));
  EXPECT_EQ(list.at(1).at("family"), "marian");
  EXPECT_EQ(encdec_command({"inspect", "--model", "me/tiny", "--json"}).status, 0);
  unsetenv("HF_HUB_CACHE");
}

TEST(Inspect, FilesOfTheTokenizerAreListed) {
  const auto files = [](const char* model) {
    const Finished finished = encdec_command({"inspect", "--model", ENCDEC_GOLDEN_DIR + std::string(model), "--json"});
    return json::parse(finished.output)["tokenizer"];
  };
  EXPECT_EQ(files("/npz/separate_vocabulary/model"), json({"vocab.src.yml", "vocab.trg.yml"}));
}

json inspect_golden(const std::string& folder, const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"inspect", "--json", "--model", ENCDEC_GOLDEN_DIR + folder};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return json::parse(encdec_command(arguments).output);
}

TEST(Inspect, ShowsWhatMultipliesInEachPrecision) {
  for (const std::string backend : {"onednn", "encdec"}) {
    const json found = json::parse(inspect("odd_sizes", {"--json", "--backend", backend}));
    EXPECT_EQ(found["backend"], backend);
    ASSERT_EQ(found["backends"].size(), 3u);
    for (const auto& [precision, names] : found["backends"].items()) {
      EXPECT_THAT(names.get<std::string>(), testing::StartsWith(backend + " (")) << precision;
    }
    EXPECT_THAT(inspect("odd_sizes", {"--backend", backend}), HasSubstr("int8          by " + backend + " ("));
  }
  EXPECT_EQ(json::parse(inspect("odd_sizes", {"--json", "--backend", "auto"}))["backend"], "auto");
}

TEST(Inspect, RefusesUnknownBackends) {
  EXPECT_TRUE(failed(encdec_command({"inspect", "--model", golden_model("odd_sizes"), "--backend", "mkl"}), 2,
                     {"--backend: 'mkl', expected auto, onednn or encdec"}));
  const Finished finished = run(
      {{"/usr/bin/env", "ENCDEC_BACKEND=mkl", kEncdec, "inspect", "--model", golden_model("odd_sizes")}, "", {}, {}});
  EXPECT_TRUE(failed(finished, 1, {"ENCDEC_BACKEND is 'mkl', expected auto, onednn or encdec"}));
}

TEST(Inspect, ATensorWithTwoNamesIsCountedOnce) {
  const json found = inspect_golden("/whisper_formats/ctranslate2/int8", {"--weights"});
  std::int64_t bytes = 0, other_bytes = 0;
  for (const json& weight : found["weights"]) {
    const bool is_other = weight["name"] == "decoder/projection/weight";  // another name for decoder/embeddings/weight
    (is_other ? other_bytes : bytes) += weight["bytes"].get<std::int64_t>();
  }
  EXPECT_GT(other_bytes, 0);
  EXPECT_EQ(found["weight_bytes"], bytes);
}

TEST(Inspect, SettingsAmongTheTensorsAreNoUnusedWeights) {
  EXPECT_EQ(inspect_golden("/whisper_formats/ctranslate2/int8", {})["notes"], json::array());
}

TEST(Inspect, AnEncoderOfSoundHasMelBands) {
  const json encoder = inspect_golden("/whisper_formats/hugging_face", {})["encoder"];
  EXPECT_EQ(encoder["mel_bands"], 16);
  EXPECT_FALSE(encoder.contains("vocabulary"));
  const Finished finished =
      encdec_command({"inspect", "--model", ENCDEC_GOLDEN_DIR + std::string("/whisper_formats/hugging_face")});
  EXPECT_THAT(finished.output, HasSubstr(", reads sound in 16 mel bands, "));
}

TEST(Inspect, AnEncoderOfSamplesHasSamplesForARow) {
  const json encoder = inspect_golden("/moonshine/streaming", {})["encoder"];
  EXPECT_EQ(encoder["samples_per_row"], 320);
  EXPECT_FALSE(encoder.contains("mel_bands"));
  const Finished finished =
      encdec_command({"inspect", "--model", ENCDEC_GOLDEN_DIR + std::string("/moonshine/untied")});
  EXPECT_THAT(finished.output, HasSubstr(", reads sound, a row for 384 samples, rotary positions"));
}

TEST(Inspect, WeightsAddUp) {
  for (const std::string& name : golden_names()) {
    const json found = json::parse(inspect(name, {"--json", "--weights"}));
    std::int64_t parameters = 0, bytes = 0;
    for (const json& weight : found["weights"]) {
      std::int64_t elements = 1;
      for (const json& dim : weight["shape"]) elements *= dim.get<std::int64_t>();
      parameters += elements;
      bytes += weight["bytes"].get<std::int64_t>();
    }
    EXPECT_GT(parameters, 0);
    EXPECT_EQ(found["parameters"], parameters) << name;
    EXPECT_EQ(found["weight_bytes"], bytes) << name;
  }
}

TEST(Inspect, StoredPrecisionIsShown) {
  const json half = json::parse(inspect("gelu_new_float16", {"--json"}));
  EXPECT_EQ(half["stored"].size(), 1u);
  EXPECT_EQ(half["stored"]["float16"]["parameters"], half["parameters"]);
  EXPECT_THAT(inspect("silu_bfloat16", {}), HasSubstr("bfloat16"));
}

TEST(Inspect, GenerationSettingsAreShown) {
  EXPECT_THAT(inspect("text", {}), HasSubstr("num_beams 4"));
  const json generation = json::parse(inspect("forced_bos", {"--json"}))["generation"];
  EXPECT_EQ(generation["min_length"], 6);
  EXPECT_EQ(generation["forced_bos_token_id"], 4);
  EXPECT_FALSE(generation.contains("num_beams"));
}

TEST(Inspect, IgnoredSettingsAreReported) {
  const TemporaryFolder folder;
  std::filesystem::copy(golden_model("text"), folder.path("model"));
  json settings = json::parse(folder.read("model/generation_config.json"));
  settings["penalty_alpha"] = 0.6;
  folder.write("model/generation_config.json", settings.dump());
  const Finished finished = encdec_command({"inspect", "--model", folder.path("model"), "--json"});
  EXPECT_THAT(json::parse(finished.output)["notes"], Contains(HasSubstr("penalty_alpha 0.6")));
}

}  // namespace
}  // namespace encdec
