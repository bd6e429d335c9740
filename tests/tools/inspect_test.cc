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
  EXPECT_TRUE(failed(encdec_command({"inspect"}), 1, {cache.path().string(), "no supported model"}));
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

TEST(Inspect, ShowsWhatMultipliesInEachPrecision) {
  for (const std::string backend : {"onednn", "encdec"}) {
    const json found = json::parse(inspect("odd_sizes", {"--json", "--backend", backend}));
    EXPECT_EQ(found["backend"], backend);
    ASSERT_EQ(found["backends"].size(), backend == "encdec" ? 4u : 3u);
    for (const auto& [precision, names] : found["backends"].items()) {
      EXPECT_THAT(names.get<std::string>(), testing::StartsWith(backend + " (")) << precision;
    }
    EXPECT_THAT(inspect("odd_sizes", {"--backend", backend}), HasSubstr("int8          by " + backend + " ("));
  }
  EXPECT_EQ(json::parse(inspect("odd_sizes", {"--json", "--backend", "auto"}))["backend"], "auto");
}

TEST(Inspect, RefusesUnknownBackendsOfTheEnvironment) {
  const Finished finished = run(
      {{"/usr/bin/env", "ENCDEC_BACKEND=mkl", kEncdec, "inspect", "--model", golden_model("odd_sizes")}, "", {}, {}});
  EXPECT_TRUE(failed(finished, 1, {"ENCDEC_BACKEND is 'mkl', expected auto, onednn or encdec"}));
}

TEST(Inspect, ATensorWithTwoNamesIsCountedOnce) {
  const std::string folder = ENCDEC_GOLDEN_DIR "/whisper_formats/ctranslate2/int8";
  const json found = json::parse(encdec_command({"inspect", "--model", folder, "--json", "--weights"}).output);
  std::int64_t bytes = 0, other_bytes = 0;
  for (const json& weight : found["weights"]) {
    const bool is_other = weight["name"] == "decoder/projection/weight";  // another name for decoder/embeddings/weight
    (is_other ? other_bytes : bytes) += weight["bytes"].get<std::int64_t>();
  }
  EXPECT_GT(other_bytes, 0);
  EXPECT_EQ(found["weight_bytes"], bytes);
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

}  // namespace
}  // namespace encdec
