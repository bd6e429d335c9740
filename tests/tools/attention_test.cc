// Tests encdec attention, and generate --attention: weights as numbers, alignments and pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Bound on the difference from transformers that the documentation of the command promises.
constexpr double kTolerance = 1e-5;

// Returns the numbers of nested arrays, one after another.
std::vector<float> flat(const json& numbers) {
  std::vector<float> all;
  if (!numbers.is_array()) return {numbers.get<float>()};
  for (const json& part : numbers) {
    for (const float value : flat(part)) all.push_back(value);
  }
  return all;
}

double difference(const std::vector<float>& found, const Tensor& expected) {
  if (found.size() != static_cast<std::size_t>(expected.elements())) return 1e9;
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    worst = std::max(worst, std::abs(double{found[i]} - double{expected.data<float>()[i]}));
  }
  return worst;
}

std::string ids_of(const Tensor& ids, std::int64_t first) {
  std::string line;
  for (std::int64_t i = first; i < ids.elements(); ++i) line += std::to_string(ids.data<std::int32_t>()[i]) + " ";
  return line;
}

class Attention : public testing::Test {
 protected:
  // Runs a command that writes map.json, and returns the contents.
  json map(std::vector<std::string> arguments, const std::string& input = {}) const {
    arguments.insert(arguments.begin(), "attention");
    arguments.insert(arguments.end(), {"--quiet", "--output", folder_.path("map.json")});
    const Finished finished = encdec_command(std::move(arguments), input);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    EXPECT_EQ(finished.output, "");
    return json::parse(folder_.read("map.json"));
  }

  const TemporaryFolder folder_;
};

TEST_F(Attention, NumbersMatchTheReference) {
  for (const char* name : {"marian/odd_sizes", "t5/few_buckets", "gpt2/without_prefix", "bert/base", "mbart/fifty"}) {
    const auto expected = std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "attention.safetensors";
    const bool has_source = std::string(name).find("gpt2") == std::string::npos;
    const bool has_target = std::string(name).find("bert") == std::string::npos;
    std::vector<std::string> arguments = {"--model", golden_model(std::string("../") + name), "--token-ids"};
    if (has_source) arguments.push_back(ids_of(read_tensor(expected, "source_ids"), 0));
    if (has_target && has_source) {
      // A token after the decoder's input does not change the weights.
      arguments.push_back(ids_of(read_tensor(expected, "decoder_input_ids"), 1) + "4");
    }
    if (!has_source) {
      arguments.push_back(ids_of(read_tensor(expected, "decoder_input_ids"), 0));
      arguments.push_back("4");
    }
    const json found = map(arguments);
    EXPECT_EQ(found.contains("cross"), has_source && has_target) << name;
    for (const auto& [kind, part] : found.items()) {
      EXPECT_LE(difference(flat(part["weights"]), read_tensor(expected, kind)), kTolerance) << name << ", " << kind;
      EXPECT_EQ(part["weights"].size(), part["layers"].size());
      EXPECT_EQ(part["weights"][0].size(), part["heads"].size());
      EXPECT_EQ(part["weights"][0][0].size(), part["queries"].size());
      EXPECT_EQ(part["weights"][0][0][0].size(), part["keys"].size());
    }
  }
}

TEST_F(Attention, TokensAreSpelledAsInTheVocabulary) {
  const json cross = map({"--model", golden_model("text"), "the cat", "the dog"})["cross"];
  EXPECT_EQ(cross["keys"].back(), "</s>");
  EXPECT_EQ(cross["queries"].back(), "</s>");
  const Finished pieces =
      encdec_command({"tokenize", "--model", golden_model("text"), "--target", "--pieces"}, "the dog\n");
  std::string line;
  for (const std::string token : cross["queries"]) {
    if (!line.empty()) line += ' ';
    line += token;
  }
  EXPECT_EQ(line + "\n", pieces.output);
}

TEST_F(Attention, FilesAndArgumentsGiveTheSame) {
  const std::string model = golden_model("text");
  const json typed = map({"--model", model, "the cat", "the dog"});
  EXPECT_EQ(
      map({"--model", model, "--input", folder_.write("s", "the cat\n"), "--target", folder_.write("t", "the dog")}),
      typed);
  EXPECT_EQ(map({"--model", model, "--target", folder_.path("t")}, "the cat\n"), typed);
}

TEST_F(Attention, WithoutATargetItGeneratesOne) {
  const std::string source = split_lines(golden_sources("odd_sizes")).front();
  const std::string generated = split_lines(golden_outputs("odd_sizes")).front();
  const std::vector<std::string> model = {"--model", golden_model("odd_sizes"), "--token-ids"};
  auto with_target = model, without = model;
  with_target.insert(with_target.end(), {source, generated});
  without.push_back(source);
  EXPECT_EQ(map(without), map(with_target));
}

TEST_F(Attention, LayersAndHeadsAreSelected) {
  const std::vector<std::string> base = {"--model", golden_model("shared_swish"), "--token-ids", "4 5 6 7", "8 9"};
  const auto with = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), options.begin(), options.end());
    return map(arguments);
  };
  const json all = with({"--kind", "all"});
  EXPECT_EQ(all.size(), 3u);
  const json one = with({"--kind", "cross", "--layer", "-1", "--head", "2"});
  EXPECT_EQ(one.size(), 1u);
  EXPECT_EQ(one["cross"]["weights"], json::array({json::array({all["cross"]["weights"][1][2]})}));
  EXPECT_EQ(one["cross"]["layers"], json({"1"}));
  EXPECT_EQ(one["cross"]["heads"], json({"2"}));
  const json mean = with({"--kind", "encoder", "--layer", "mean", "--head", "all"});
  ASSERT_EQ(mean["encoder_self"]["weights"][0].size(), 4u);
  EXPECT_NEAR(mean["encoder_self"]["weights"][0][3][1][2].get<double>(),
              (all["encoder_self"]["weights"][0][3][1][2].get<double>() +
               all["encoder_self"]["weights"][1][3][1][2].get<double>()) /
                  2,
              1e-6);
}

// Runs encdec attention with only the arguments deciding about colors.
Finished in_terminal(std::vector<std::string> arguments) {
  ::unsetenv("NO_COLOR");
  ::setenv("COLUMNS", "100", 1);
  arguments.insert(arguments.begin(), {"attention", "--quiet"});
  return encdec_command(std::move(arguments));
}

TEST_F(Attention, ATerminalShowsTheMainMap) {
  const std::string model = golden_model("text");
  const Finished plain = in_terminal({"--model", model, "the cat", "the dog"});
  EXPECT_EQ(plain.status, 0) << plain.errors;
  EXPECT_THAT(plain.output, testing::StartsWith("cross-attention, layer 0, mean of heads\n"));
  EXPECT_THAT(plain.output, testing::Not(HasSubstr("\x1b"))) << "it goes to no terminal";
  EXPECT_THAT(in_terminal({"--model", model, "the cat", "the dog", "--color", "always"}).output, HasSubstr("\x1b[48;"));
  const std::string all = in_terminal({"--model", model, "the cat", "the dog", "--kind", "all", "--head", "0"}).output;
  for (const char* kind : {"encoder self-attention", "decoder self-attention", "cross-attention"}) {
    EXPECT_THAT(all, HasSubstr(std::string(kind) + ", layer 0, head 0"));
  }
}

TEST_F(Attention, PicturesAreWrittenCompletely) {
  const Finished finished = encdec_command({"attention", "--quiet", "--model", golden_model("text"), "the cat",
                                            "the dog", "--output", folder_.path("map.svg")});
  EXPECT_EQ(finished.status, 0) << finished.errors;
  const std::string picture = folder_.read("map.svg");
  EXPECT_TRUE(picture.starts_with("<svg ")) << picture.substr(0, 40);
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  EXPECT_THAT(picture, HasSubstr(">the cat \u2192 the dog</text>"));
  EXPECT_THAT(picture, HasSubstr(">layer 0, mean of heads</text>"));
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"map.svg"});
}

// Attention written by encdec generate.
class AttentionOfResults : public Attention {
 protected:
  std::string attention_of(std::string_view model, const std::string& sources, const std::string& name,
                           std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--token-ids", "--attention", folder_.path(name)});
    const Finished finished = run_generate(model, std::move(options), sources);
    EXPECT_EQ(finished.status, 0) << finished.errors;
    return folder_.read(name);
  }
};

TEST_F(AttentionOfResults, WeightsAreThoseOfTheResult) {
  const std::string sources = golden_sources("odd_sizes");
  const auto lines = split_lines(attention_of("odd_sizes", sources, "a.json", {"--attention-layer", "all"}));
  const auto source_lines = split_lines(sources), results = split_lines(golden_outputs("odd_sizes"));
  ASSERT_EQ(lines.size(), source_lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const json hypothesis = json::parse(lines[i])["hypotheses"][0];
    const json expected = map({"--model", golden_model("odd_sizes"), "--token-ids", source_lines[i], results[i],
                               "--kind", "cross", "--head", "mean"});
    EXPECT_EQ(hypothesis["weights"], expected["cross"]["weights"]) << i;
    EXPECT_EQ(hypothesis["queries"], expected["cross"]["queries"]) << i;
  }
}

TEST_F(AttentionOfResults, AlignmentsNameTheKeyWithTheLargestWeight) {
  const std::string sources = golden_sources("odd_sizes");
  const auto weights = split_lines(attention_of("odd_sizes", sources, "a.json"));
  const auto alignments = split_lines(attention_of("odd_sizes", sources, "a.align"));
  ASSERT_EQ(alignments.size(), weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const json hypothesis = json::parse(weights[i])["hypotheses"][0];
    EXPECT_EQ(hypothesis["alignment"], alignments[i]);
    std::string expected;
    for (std::size_t query = 0; query < hypothesis["queries"].size(); ++query) {
      const auto row = flat(hypothesis["weights"][0][0][query]);
      if (hypothesis["queries"][query] == "0" && query + 1 == hypothesis["queries"].size()) break;  // the end token
      if (query > 0) expected += ' ';
      expected += std::to_string(std::ranges::max_element(row) - row.begin()) + "-" + std::to_string(query);
    }
    EXPECT_EQ(alignments[i], expected);
  }
}

TEST_F(AttentionOfResults, LinesKeepTheirOrderInAnyBatch) {
  const std::string sources = "4 5 6\n\n7 8\n";
  const std::string alone = attention_of("odd_sizes", sources, "1", {"--batch-size", "1", "--num-beams", "3"});
  EXPECT_EQ(split_lines(alone).size(), 3u);
  EXPECT_EQ(split_lines(alone)[1], "");
  EXPECT_EQ(attention_of("odd_sizes", sources, "64", {"--batch-size", "64", "--num-beams", "3", "--threads", "2"}),
            alone);
  EXPECT_EQ(attention_of("odd_sizes", sources, "w", {"--workers", "2", "--num-beams", "3"}), alone);
  EXPECT_EQ(json::parse(split_lines(attention_of("odd_sizes", sources, "a.jsonl"))[1]),
            json({{"hypotheses", json::array()}}));
}

TEST_F(AttentionOfResults, EveryHypothesisHasItsOwnWeights) {
  const Finished finished = run_generate("odd_sizes",
                                         {"--token-ids", "--json", "--num-beams", "3", "--num-return-sequences", "3",
                                          "--attention", folder_.path("a.json")},
                                         "4 5 6\n");
  const json results = json::parse(finished.output), attention = json::parse(folder_.read("a.json"));
  ASSERT_EQ(attention["hypotheses"].size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(attention["hypotheses"][i]["weights"][0][0].size(), results["hypotheses"][i]["token_ids"].size());
  }
}

TEST_F(AttentionOfResults, EveryPrecisionAndADecoderAloneHaveWeights) {
  for (const char* precision : {"bfloat16", "int8", "auto"}) {
    attention_of("odd_sizes", "4 5 6\n", "a", {"--precision", precision});
    EXPECT_THAT(folder_.read("a"), testing::MatchesRegex("[0-2]-0( [0-2]-[0-9]+)*\n"));
  }
  const Finished finished =
      encdec_command({"generate", "--model", golden_model("../gpt2/without_prefix"), "--token-ids", "--max-new-tokens",
                      "3", "--quiet", "--attention", folder_.path("g.json")},
                     "4 5 6\n");
  EXPECT_EQ(finished.status, 0) << finished.errors;
  const json hypothesis = json::parse(folder_.read("g.json"))["hypotheses"][0];
  EXPECT_EQ(hypothesis["queries"].size(), hypothesis["weights"][0][0].size());
  EXPECT_EQ(hypothesis["keys"].size(), 2 + hypothesis["queries"].size()) << "the prompt, and what was generated before";
  EXPECT_EQ(hypothesis["weights"][0][0][0][3], 0) << "a token does not see what comes after it";
}

}  // namespace
}  // namespace encdec
