// Tests the generation options of encdec generate, and the files that some of them read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/files.h"
#include "tests/tools/generate_command.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::Each;
using testing::Not;
using testing::SizeIs;
using Ids = std::vector<std::int32_t>;

constexpr const char* kTextModel = "text";
constexpr std::int32_t kEnd = 0;

// Returns the hypotheses of all golden sources with these options, as --json writes them.
std::vector<json> hypotheses(std::vector<std::string> options) {
  options.insert(options.end(), {"--token-ids", "--json"});
  const Finished finished = run_generate(kTextModel, std::move(options), golden_sources(kTextModel));
  EXPECT_EQ(finished.status, 0) << finished.errors;
  std::vector<json> all;
  for (const std::string& line : split_lines(finished.output)) {
    const json result = json::parse(line);
    for (const json& hypothesis : result.at("hypotheses")) all.push_back(hypothesis);
  }
  return all;
}

std::vector<Ids> generated(std::vector<std::string> options) {
  std::vector<Ids> all;
  for (const json& hypothesis : hypotheses(std::move(options))) all.push_back(hypothesis["token_ids"]);
  return all;
}

bool contains(const Ids& ids, const Ids& phrase) {
  return std::search(ids.begin(), ids.end(), phrase.begin(), phrase.end()) != ids.end();
}

bool repeats(const Ids& ids, std::size_t length) {
  std::set<Ids> seen;
  for (std::size_t i = 0; i + length <= ids.size(); ++i) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(i);
    if (!seen.emplace(first, first + static_cast<std::ptrdiff_t>(length)).second) return true;
  }
  return false;
}

TEST(GenerationOptions, SeveralHypothesesComeBestFirst) {
  const auto best = hypotheses({"--num-beams", "4"});
  const auto all = hypotheses({"--num-beams", "4", "--num-return-sequences", "3"});
  ASSERT_EQ(all.size(), 3 * best.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    EXPECT_EQ(all[3 * i], best[i]);
    for (std::size_t n = 1; n < 3; ++n) {
      EXPECT_LE(all[3 * i + n]["score"], all[3 * i + n - 1]["score"]);
      EXPECT_NE(all[3 * i + n]["token_ids"], all[3 * i + n - 1]["token_ids"]);
    }
  }
}

TEST(GenerationOptions, MoreHypothesesThanBeamsAreAnError) {
  EXPECT_TRUE(failed(run_generate(kTextModel, {"--json", "--num-beams", "2", "--num-return-sequences", "3"}, "a\n"), 1,
                     {"num_return_sequences", "3"}));
}

TEST(GenerationOptions, TheFolderSetsTheNumberOfBeamsUnlessAnOptionDoes) {
  const auto run = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"generate", "--quiet", "--token-ids", "--model", golden_model(kTextModel)});
    return encdec_command(std::move(options), golden_sources(kTextModel)).output;
  };
  EXPECT_EQ(run({}), run({"--num-beams", "4"}));
  EXPECT_EQ(run({"--num-beams", "1"}), golden_outputs(kTextModel));
}

TEST(GenerationOptions, TokenScoresAddUpToTheGreedyScore) {
  for (const json& hypothesis : hypotheses({"--token-scores"})) {
    const std::vector<double> scores = hypothesis["token_scores"];
    EXPECT_EQ(scores.size(), hypothesis["token_ids"].size());
    double sum = 0;
    for (const double score : scores) sum += score;
    EXPECT_NEAR(sum, hypothesis["score"].get<double>(), 1e-4);
    EXPECT_FALSE(hypothesis.contains("top_log_probs"));
  }
  EXPECT_FALSE(hypotheses({}).front().contains("token_scores"));
}

TEST(GenerationOptions, LikeliestTokensAreListedForEachPosition) {
  for (const json& hypothesis : hypotheses({"--top-log-probs", "3", "--max-new-tokens", "3"})) {
    const json& places = hypothesis["top_log_probs"];
    ASSERT_EQ(places.size(), hypothesis["token_ids"].size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(places[i].size(), 3u);
      EXPECT_GE(places[i][0]["log_probability"], places[i][1]["log_probability"]);
      EXPECT_GE(places[i][1]["log_probability"], places[i][2]["log_probability"]);
      for (const json& likely : places[i]) {
        if (likely["token"] == hypothesis["token_ids"][i]) {
          EXPECT_EQ(likely["log_probability"], hypothesis["token_scores"][i]);
        }
      }
    }
  }
}

TEST(GenerationOptions, RepetitionOptionsAreApplied) {
  const auto free = generated({"--max-new-tokens", "40", "--min-new-tokens", "40"});
  EXPECT_TRUE(std::ranges::any_of(free, [](const Ids& ids) { return repeats(ids, 2); }));
  for (const char* beams : {"1", "3"}) {
    const auto bound = generated(
        {"--max-new-tokens", "40", "--min-new-tokens", "40", "--no-repeat-ngram-size", "2", "--num-beams", beams});
    EXPECT_TRUE(std::ranges::none_of(bound, [](const Ids& ids) { return repeats(ids, 2); }));
  }
  EXPECT_NE(generated({"--repetition-penalty", "5", "--min-new-tokens", "20"}), generated({"--min-new-tokens", "20"}));
}

TEST(GenerationOptions, SuppressedTokensAreNotGenerated) {
  const std::int32_t first = generated({}).front().front();
  const std::string id = std::to_string(first);
  EXPECT_THAT(generated({"--suppress-tokens", id}), Each(Not(Contains(first))));
  for (const Ids& ids : generated({"--begin-suppress-tokens", id + " 3"})) {
    EXPECT_NE(ids.front(), first);
    EXPECT_NE(ids.front(), 3);
  }
}

TEST(GenerationOptions, FirstAndLastTokensCanBeForced) {
  for (const Ids& ids : generated(
           {"--forced-bos-token", "7", "--forced-eos-token", "9", "--max-new-tokens", "6", "--min-new-tokens", "6"})) {
    EXPECT_EQ(ids.front(), 7);
    EXPECT_EQ(ids.back(), 9);
  }
}

TEST(GenerationOptions, BadWordsFileBansPhrases) {
  const TemporaryFolder folder;
  const Ids greedy = generated({}).front();
  const Ids phrase(greedy.begin() + 1, greedy.begin() + 3);
  const std::string file = folder.write("bad", std::to_string(greedy[0]) + "\n\n" + ids_line(phrase) + "\r\n");
  for (const char* beams : {"1", "4"}) {
    for (const Ids& ids : generated({"--bad-words-file", file, "--num-beams", beams})) {
      EXPECT_THAT(ids, Not(Contains(greedy[0])));
      EXPECT_FALSE(contains(ids, phrase));
    }
  }
}

TEST(GenerationOptions, BeamsHaveTheSameNameAsInTranscribe) {
  const auto output = [](const char* option) {
    return encdec_command({"generate", "--quiet", "--model", golden_model(kTextModel), "--json", option, "3"}, "a\n")
        .output;
  };
  EXPECT_EQ(output("--beam-size"), output("--num-beams"));
  EXPECT_THAT(output("--beam-size"), testing::HasSubstr("hypotheses"));
}

TEST(GenerationOptions, BadWordsMayBeTexts) {
  const TemporaryFolder folder;
  const std::string text = split_lines(run_generate(kTextModel, {}, "a\n").output).front();
  const std::string word = text.substr(0, text.find(' '));
  const Finished finished = run_generate(kTextModel, {"--bad-words-file", folder.write("bad", word + "\n")}, "a\n");
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_FALSE(finished.output.starts_with(word)) << finished.output;
}

TEST(GenerationOptions, PhrasesOfTheForceWordsFileAppear) {
  const TemporaryFolder folder;
  for (const Ids& ids : generated({"--num-beams", "4", "--force-words-file", folder.write("force", "17 5\n33\n")})) {
    EXPECT_TRUE(contains(ids, {17, 5})) << testing::PrintToString(ids);
    EXPECT_THAT(ids, Contains(33));
  }
}

TEST(GenerationOptions, OnlyTokensOfTheShortlistFileAreGenerated) {
  const TemporaryFolder folder;
  const std::string file = folder.write("shortlist", "17 5\n33\n40 41 42\n");
  for (const Ids& ids : generated({"--shortlist-file", file})) {
    EXPECT_THAT(ids, Each(testing::AnyOf(17, 5, 33, 40, 41, 42, kEnd)));
  }
}

TEST(GenerationOptions, SamplesDependOnTheSeedOnly) {
  const std::vector<std::string> sample = {"--do-sample", "--temperature",    "2", "--top-k",
                                           "0",           "--max-new-tokens", "20"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), sample.begin(), sample.end());
    return generated(more);
  };
  const auto first = with({"--seed", "1"});
  EXPECT_EQ(with({"--seed", "1", "--batch-size", "1"}), first);
  EXPECT_EQ(with({"--seed", "1", "--workers", "2", "--threads", "1"}), first);
  EXPECT_NE(with({"--seed", "2"}), first);
  EXPECT_EQ(with({"--seed", "2", "--top-p", "0"}), generated({"--max-new-tokens", "20"}));
}

TEST(GenerationOptions, SamplingCanBeTurnedOff) {
  EXPECT_EQ(generated({"--do-sample", "false", "--temperature", "2"}), generated({}));
  EXPECT_NE(generated({"--do-sample", "true", "--temperature", "100", "--top-k", "0"}), generated({}));
  EXPECT_NE(generated({"--temperature", "100", "--top-k", "0", "--do-sample"}), generated({}));
}

TEST(GenerationOptions, EachOptionIsAccepted) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--num-beams", "3", "--length-penalty", "-1.5"},
                                             {"--num-beams", "3", "--early-stopping", "true"},
                                             {"--num-beams", "3", "--early-stopping", "false"},
                                             {"--num-beams", "3", "--early-stopping", "never"},
                                             {"--num-beams", "3", "--coverage-penalty", "0.2"},
                                             {"--exponential-decay-length-penalty", "3,1.5"},
                                             {"--encoder-repetition-penalty", "1.5"},
                                             {"--encoder-no-repeat-ngram-size", "2"}}) {
    EXPECT_THAT(generated(options), SizeIs(split_lines(golden_sources(kTextModel)).size()));
  }
}

// Expects the same result with any batch size, number of threads and number of workers.
TEST(GenerationOptions, BeamSearchDoesNotDependOnHowItIsComputed) {
  const auto run = [](std::vector<std::string> options) {
    options.insert(options.end(), {"--token-ids", "--json", "--token-scores", "--num-beams", "4",
                                   "--num-return-sequences", "4", "--top-log-probs", "2"});
    return run_generate("gelu_sharded", std::move(options), golden_sources("gelu_sharded")).output;
  };
  const std::string expected = run({"--batch-size", "1", "--threads", "1"});
  for (const char* batch_size : {"0", "3", "4096"}) {
    for (const char* threads : {"1", "2"}) {
      for (const char* workers : {"1", "2", "3"}) {
        EXPECT_EQ(run({"--batch-size", batch_size, "--threads", threads, "--workers", workers}), expected);
      }
    }
  }
}

// Without options for threads and workers: a file large enough for several workers, and a pipe, which gets one worker.
TEST(GenerationOptions, ResultsDoNotDependOnTheSplitOfCpus) {
  ::setenv("ENCDEC_THREADS", "3", 1);
  std::string sources;
  while (sources.size() < 30'000) sources += golden_sources("gelu_sharded");
  const TemporaryFolder folder;
  const std::string file = folder.write("sources", sources);
  const std::string expected = run_generate("gelu_sharded", {"--token-ids"}, sources).output;
  EXPECT_EQ(std::ranges::count(expected, '\n'), std::ranges::count(sources, '\n'));
  for (const char* workers : {"0", "2"}) {
    EXPECT_EQ(run_generate("gelu_sharded", {"--token-ids", "--input", file, "--workers", workers}, "").output,
              expected);
  }
  ::unsetenv("ENCDEC_THREADS");
}

struct BadFile {
  const char* option;
  const char* content;
  std::vector<std::string> options;
  std::vector<std::string> message;
};

TEST(GenerationOptions, ErrorsInFilesAreNamedWithTheirLine) {
  for (const auto& [option, content, options, message] : {
           BadFile{"--bad-words-file", "5\n6 x\n", {"--token-ids"}, {":2: token 2 is 'x', expected an integer"}},
           BadFile{"--bad-words-file", "5\n179\n", {"--token-ids"}, {":2: token 1 is '179'", "0 to 178"}},
           BadFile{"--bad-words-file", "a\n\xff\n", {}, {":2: byte 1 is 0xff", "UTF-8"}},
           BadFile{"--bad-words-file", "a\n \n", {}, {":2: no tokens, expected a phrase"}},
           BadFile{"--force-words-file", "a\nb\xc3\n", {"--num-beams", "2"}, {":2: byte 2 is 0xc3"}},
           BadFile{"--shortlist-file", "0\n1 -2\n", {"--token-ids"}, {":2: token 2 is '-2'"}},
           BadFile{"--shortlist-file", "</s>\nno such token\n", {}, {":2: 'no such token', expected a token"}},
           BadFile{"--shortlist-file", "\n", {}, {": no tokens, expected at least one"}},
       }) {
    const TemporaryFolder folder;
    const std::string file = folder.write("file", content);
    auto with_file = options;
    with_file.insert(with_file.end(), {option, file});
    auto parts = message;
    parts.front() = file + parts.front();
    EXPECT_TRUE(failed(run_generate(kTextModel, with_file, "1\n"), 1, parts)) << option << " " << content;
    with_file.back() = folder.path("none");
    EXPECT_TRUE(failed(run_generate(kTextModel, with_file, "1\n"), 1, {folder.path("none"), "No such file"}));
  }
}

TEST(GenerationOptions, TokensOutsideTheVocabularyAreNamedWithTheirOption) {
  EXPECT_TRUE(failed(run_generate(kTextModel, {"--suppress-tokens", "3 999"}, "a\n"), 1,
                     {"--suppress-tokens: token 2 is '999', expected an integer from 0 to 178"}));
  EXPECT_TRUE(failed(run_generate(kTextModel, {"--forced-eos-token", "nothing"}, "a\n"), 1,
                     {"--forced-eos-token 'nothing', expected a token of the vocabulary or its id"}));
}

}  // namespace
}  // namespace encdec
