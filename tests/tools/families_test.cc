// Tests the commands on checkpoints of other families and formats than Marian's: encoder-only, decoder-only, and
// unsupported ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/packed_folder.h"
#include "tests/tools/command.h"
#include "tests/tools/files.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kGolden = ENCDEC_GOLDEN_DIR;

std::string model(std::string_view name) {
  return kGolden / name / "model";
}

json inspect(const std::string& folder) {
  const Finished finished = encdec_command({"inspect", "--model", folder, "--json"});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  return json::parse(finished.output);
}

TEST(InspectFamilies, ReportsFamilyFormatAndArchitecture) {
  struct Row {
    const char* name;
    const char* family;
    const char* format;
    const char* architecture;
  };
  for (const auto& [name, family, format, architecture] :
       {Row{"t5/v1_1", "t5", "safetensors", "encoder-decoder"}, Row{"bert/base", "bert", "safetensors", "encoder-only"},
        Row{"gpt2/with_prefix", "gpt2", "safetensors", "decoder-only"},
        Row{"npz/tied_all", "marian", "npz", "encoder-decoder"},
        Row{"ctranslate2/marian_int8", "ctranslate2", "ctranslate2", "encoder-decoder"},
        Row{"ctranslate2/bert", "ctranslate2", "ctranslate2", "encoder-only"},
        Row{"ctranslate2_old/opennmt_tf", "ctranslate2", "ctranslate2", "encoder-decoder"},
        Row{"ctranslate2_old/decoder", "ctranslate2", "ctranslate2", "decoder-only"}}) {
    const json found = inspect(model(name));
    EXPECT_EQ(found["family"], family) << name;
    EXPECT_EQ(found["format"], format) << name;
    EXPECT_EQ(found["architecture"], architecture) << name;
    EXPECT_EQ(found.contains("encoder"), std::string_view(architecture) != "decoder-only") << name;
    EXPECT_EQ(found.contains("decoder"), std::string_view(architecture) != "encoder-only") << name;
    EXPECT_FALSE(found.contains("unsupported")) << name;
  }
  EXPECT_TRUE(inspect(model("ctranslate2/marian_int8"))["stored"].contains("int8"));
}

TEST(InspectFamilies, ReportsWhatAnUnsupportedFolderHasAndWhyItDoesNotRun) {
  const TemporaryFolder folder;
  std::filesystem::copy(model("bert/base"), folder.path("model"));
  folder.write("model/config.json", R"({"model_type": "reformer"})");
  const json found = inspect(folder.path("model"));
  EXPECT_EQ(found["family"], "reformer");
  EXPECT_GT(found["parameters"], 0);
  EXPECT_THAT(found["unsupported"].get<std::string>(),
              HasSubstr("model_type 'reformer' is not supported, expected one of 'albert', 'bart', 'bert'"));
  const Finished generated = encdec_command({"generate", "--model", folder.path("model")});
  EXPECT_EQ(generated.status, 1);
  EXPECT_THAT(generated.errors, HasSubstr("config.json: model_type 'reformer' is not supported"));
}

TEST(ForwardFamilies, AnEncoderOnlyModelReturnsItsLastHiddenState) {
  const TemporaryFolder folder;
  const auto expected = kGolden / "bert/base/expected.safetensors";
  const std::string sources = folder.write("ids", join_lines(id_lines(read_tensor(expected, "source_ids"))));
  const std::string output = folder.path("out.safetensors");
  const std::vector<std::string> arguments{"forward",  "--model", model("bert/base"), "--input", sources,
                                           "--output", output};
  const Finished finished = encdec_command(arguments);
  ASSERT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(read_tensor(output, "last_hidden_state").shape(), read_tensor(expected, "last_hidden_state").shape());
  EXPECT_THROW(read_tensor(output, "logits"), std::exception);

  std::vector<std::string> with_targets = arguments;
  with_targets.insert(with_targets.end(), {"--decoder-input", sources});
  EXPECT_TRUE(failed(encdec_command(with_targets), 2, {"--decoder-input", "no decoder"}));
}

TEST(ForwardFamilies, ADecoderOnlyModelReadsEitherInput) {
  const TemporaryFolder folder;
  const auto expected = kGolden / "gpt2/with_prefix/expected.safetensors";
  const std::string ids = folder.write("ids", join_lines(id_lines(read_tensor(expected, "target_ids"))));
  std::string first;
  for (const char* option : {"--input", "--decoder-input"}) {
    const Finished finished = encdec_command(
        {"forward", "--model", model("gpt2/with_prefix"), option, ids, "--output", folder.path("out.safetensors")});
    ASSERT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(read_tensor(folder.path("out.safetensors"), "logits").shape(), read_tensor(expected, "logits").shape());
    const std::string bytes = folder.read("out.safetensors");
    EXPECT_TRUE(first.empty() || bytes == first);
    first = bytes;
  }
  EXPECT_TRUE(failed(encdec_command({"forward", "--model", model("gpt2/with_prefix"), "--input", ids, "--decoder-input",
                                     ids, "--output", folder.path("out.safetensors")}),
                     2, {"only a decoder"}));
}

TEST(GenerateFamilies, AnEncoderOnlyModelIsRefused) {
  const std::string bert = model("bert/base");
  const TemporaryFolder folder;
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"generate"},
                                             {"generate", "--token-ids"},
                                             {"score", "--target", folder.write("targets", "5\n")},
                                             {"bench"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--model", bert});
    EXPECT_TRUE(
        failed(encdec_command(arguments, "5 6\n"), 1, {bert + ": bert has no decoder, expected encdec embed\n"}))
        << testing::PrintToString(command);
  }
}

TEST(GenerateFamilies, LanguageOptionsOfAModelWithoutLanguagesAreRefusedByName) {
  const std::string gpt2 = model("gpt2/with_prefix");
  const TemporaryFolder folder;
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"generate", "--target-lang", "fr"},
           {"score", "--source-lang", "fr", "--target", folder.write("targets", "5\n")},
           {"attention", "--target-lang", "fr"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--token-ids", "--model", gpt2});
    EXPECT_TRUE(failed(encdec_command(arguments, "5\n"), 1,
                       {gpt2 + ": the model knows no languages by name", "neither --source-lang nor --target-lang\n"}))
        << testing::PrintToString(command);
  }
}

TEST(GenerateFamilies, ADecoderOnlyModelReturnsOnlyTheContinuation) {
  const auto expected = kGolden / "gpt2/with_prefix/expected.safetensors";
  const Finished finished = encdec_command({"generate", "--model", model("gpt2/with_prefix"), "--token-ids", "--quiet"},
                                           join_lines(id_lines(read_tensor(expected, "target_ids"))));
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.output, join_lines(id_lines(read_tensor(expected, "greedy_ids"))));
}

TEST(GenerateFamilies, AVocabularyWithoutATokenizerReadsAndWritesTokensBetweenSpaces) {
  const Finished finished =
      encdec_command({"generate", "--model", model("ctranslate2/marian"), "--max-new-tokens", "5", "--json", "--quiet"},
                     "no such tokens\n\n");
  ASSERT_EQ(finished.status, 0) << finished.errors;
  const auto lines = split_lines(finished.output);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(json::parse(lines[0])["hypotheses"][0].contains("text"));
  EXPECT_EQ(json::parse(lines[1])["hypotheses"][0]["text"], "");
}

TEST(GenerateFamilies, AFolderOfAnOldConverterAddsItsOwnTokensToASource) {
  const std::string old = model("ctranslate2_old/revision_4");
  const Finished ids = encdec_command({"tokenize", "--model", old}, "\u2581w5 new\n");
  EXPECT_EQ(ids.output, "0 5 3 2\n") << ids.errors;
  const auto hypothesis = [&](std::vector<std::string> options, const std::string& source) {
    options.insert(options.begin(), {"generate", "--model", old, "--json", "--quiet"});
    const Finished finished = encdec_command(options, source);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return json::parse(finished.output)["hypotheses"][0];
  };
  EXPECT_EQ(hypothesis({}, "\u2581w5 new\n")["token_ids"], hypothesis({"--token-ids"}, "0 5 3 2\n")["token_ids"]);
}

TEST(GenerateFamilies, LanguagesAreRefusedIfTheModelHasNone) {
  for (const char* option : {"--source-lang", "--target-lang"}) {
    EXPECT_TRUE(failed(encdec_command({"generate", "--model", model("ctranslate2/marian"), option, "fra_Latn"}, "a\n"),
                       1, {"the model knows no languages by name"}));
  }
}

TEST(GenerateFamilies, ForcesTheFirstToken) {
  const auto generate = [](const char* token) {
    return encdec_command({"generate", "--model", model("gpt2/with_prefix"), "--token-ids", "--quiet",
                           "--max-new-tokens", "2", "--forced-bos-token", token},
                          "7\n");
  };
  EXPECT_TRUE(generate("9").output.starts_with("9 ")) << generate("9").output;
  EXPECT_TRUE(
      failed(generate("nine"), 1, {"--forced-bos-token 'nine'", "expected a token of the vocabulary or its id"}));
  EXPECT_TRUE(failed(generate("1000"), 1, {"forced_bos_token: token id 1000"}));
}

TEST(TokenizeFamilies, LanguagesAreWhereTheModelExpectsThem) {
  const std::string nllb = unpacked(kGolden / "tokenizer_native/nllb_saved");
  const auto tokenize = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"tokenize", "--model", nllb, "--pieces"});
    return encdec_command(options, "a\n");
  };
  EXPECT_TRUE(tokenize({"--source-lang", "fra_Latn"}).output.starts_with("fra_Latn "));
  EXPECT_TRUE(tokenize({"--target", "--target-lang", "deu_Latn"}).output.starts_with("deu_Latn "));
  EXPECT_TRUE(failed(tokenize({"--source-lang", "klingon"}), 1, {"'klingon'", "expected one of"}));
}

}  // namespace
}  // namespace encdec
