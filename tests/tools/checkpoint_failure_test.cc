// Tests damaged checkpoint folders: the command prints one clear line and writes no output file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;

struct Damage {
  const char* name;
  std::function<void(const TemporaryFolder&)> apply;
  std::vector<std::string> message;
};

void change_config(const TemporaryFolder& folder, const char* key, const json& value) {
  json config = json::parse(folder.read("config.json"));
  config[key] = value;
  folder.write("config.json", config.dump());
}

// Changes the header of model.safetensors and keeps the bytes of the tensors.
void change_header(const TemporaryFolder& folder, const std::function<void(json&)>& change) {
  const std::string file = folder.read("model.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, file.data(), sizeof(size));
  json header = json::parse(file.substr(8, size));
  change(header);
  const std::string text = header.dump();
  size = text.size();
  std::string changed(reinterpret_cast<const char*>(&size), sizeof(size));
  std::uint64_t old_size = 0;
  std::memcpy(&old_size, file.data(), sizeof(old_size));
  folder.write("model.safetensors", changed + text + file.substr(8 + old_size));
}

const char* const kNorm = "model.encoder.layers.0.final_layer_norm.weight";

std::vector<Damage> damages() {
  return {
      {"NoConfig", [](const TemporaryFolder& f) { std::filesystem::remove(f.path("config.json")); }, {"config.json"}},
      {"EmptyConfig", [](const TemporaryFolder& f) { f.write("config.json", ""); }, {"config.json", "JSON"}},
      {"ConfigIsNotJson",
       [](const TemporaryFolder& f) { f.write("config.json", "{\"a\": \n"); },
       {"config.json", "JSON"}},
      {"ConfigIsAList", [](const TemporaryFolder& f) { f.write("config.json", "[1]"); }, {"config.json", "object"}},
      {"UnknownFamily",
       [](const TemporaryFolder& f) { change_config(f, "model_type", "mamba"); },
       {"config.json", "mamba", "marian"}},
      {"WrongSize", [](const TemporaryFolder& f) { change_config(f, "d_model", 18); }, {"18"}},
      {"SizeIsText",
       [](const TemporaryFolder& f) { change_config(f, "d_model", "wide"); },
       {"config.json", "d_model", "wide"}},
      {"NegativeSize",
       [](const TemporaryFolder& f) { change_config(f, "encoder_layers", -1); },
       {"encoder_layers", "-1"}},
      {"VocabularyThatDoesNotFit",
       [](const TemporaryFolder& f) {
         change_config(f, "vocab_size", 178), change_config(f, "decoder_vocab_size", 178);
       },
       {"178"}},
      {"MoreLayersThanStored",
       [](const TemporaryFolder& f) { change_config(f, "decoder_layers", 2); },
       {"model.decoder.layers.1"}},
      {"NoWeights",
       [](const TemporaryFolder& f) { std::filesystem::remove(f.path("model.safetensors")); },
       {"model.safetensors"}},
      {"EmptyWeights", [](const TemporaryFolder& f) { f.write("model.safetensors", ""); }, {"model.safetensors"}},
      {"TruncatedWeights",
       [](const TemporaryFolder& f) {
         const std::string file = f.read("model.safetensors");
         f.write("model.safetensors", file.substr(0, file.size() - 1));
       },
       {"model.safetensors"}},
      {"TruncatedHeader",
       [](const TemporaryFolder& f) { f.write("model.safetensors", f.read("model.safetensors").substr(0, 100)); },
       {"model.safetensors"}},
      {"HeaderThatLiesAboutItsLength",
       [](const TemporaryFolder& f) {
         std::string file = f.read("model.safetensors");
         file.replace(0, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f");
         f.write("model.safetensors", file);
       },
       {"model.safetensors"}},
      {"HeaderThatLiesAboutAShape",
       [](const TemporaryFolder& f) {
         change_header(f, [](json& header) { header[kNorm]["shape"] = {std::int64_t{1} << 62, 8}; });
       },
       {"model.safetensors", kNorm}},
      {"HeaderThatLiesAboutAnOffset",
       [](const TemporaryFolder& f) {
         change_header(f, [](json& header) { header[kNorm]["data_offsets"][1] = std::int64_t{1} << 40; });
       },
       {"model.safetensors"}},
      {"MissingTensor",
       [](const TemporaryFolder& f) {
         change_header(f, [](json& header) {
           header["renamed"] = header[kNorm];
           header.erase(kNorm);
         });
       },
       {kNorm}},
      {"WrongShape",
       [](const TemporaryFolder& f) { change_header(f, [](json& header) {
                                        header[kNorm]["shape"] = {4, 4};
                                      }); },
       {kNorm, "[4, 4]", "[16]"}},
      {"WrongType",
       [](const TemporaryFolder& f) { change_header(f, [](json& header) { header[kNorm]["dtype"] = "I32"; }); },
       {kNorm, "int32"}},
      {"DamagedSentencePieceModel",
       [](const TemporaryFolder& f) { f.write("source.spm", "not a model"); },
       {"source.spm"}},
      {"HalfATokenizer",
       [](const TemporaryFolder& f) { std::filesystem::remove(f.path("target.spm")); },
       {"target.spm"}},
      {"DamagedVocabulary", [](const TemporaryFolder& f) { f.write("vocab.json", "{\"a\": \"b\"}"); }, {"vocab.json"}},
      {"DamagedGenerationConfig",
       [](const TemporaryFolder& f) { f.write("generation_config.json", "{\"max_length\": 0}"); },
       {"generation_config.json", "max_length"}},
  };
}

class DamagedCheckpoint : public testing::TestWithParam<Damage> {};
INSTANTIATE_TEST_SUITE_P(Folders, DamagedCheckpoint, testing::ValuesIn(damages()),
                         [](const auto& test) { return test.param.name; });

TEST_P(DamagedCheckpoint, GivesOneLineAndNoOutput) {
  const TemporaryFolder model, work;
  for (const auto& entry : std::filesystem::directory_iterator(golden_model("text"))) {
    std::filesystem::copy(entry.path(), model.path(entry.path().filename().string()));
  }
  GetParam().apply(model);
  auto message = GetParam().message;
  message.push_back(model.path(""));
  const Finished generated =
      encdec_command({"generate", "--model", model.path(""), "--output", work.path("out")}, "a\n");
  EXPECT_TRUE(failed(generated, 1, message));
  // An intact but unsupported checkpoint can still be inspected.
  if (std::string_view(GetParam().name) != "UnknownFamily") {
    EXPECT_TRUE(failed(encdec_command({"inspect", "--model", model.path("")}), 1, message));
  }
  EXPECT_TRUE(work.names().empty());
}

TEST(MissingCheckpoint, IsNamed) {
  EXPECT_TRUE(failed(encdec_command({"generate", "--model", "/nowhere/model"}, "a\n"), 1, {"/nowhere/model"}));
  EXPECT_TRUE(failed(encdec_command({"inspect", "--model", "/nowhere/model"}), 1, {"/nowhere/model"}));
  EXPECT_TRUE(failed(encdec_command({"tokenize", "--model", "/nowhere/model"}, "a\n"), 1, {"/nowhere/model"}));
}

}  // namespace
}  // namespace encdec
