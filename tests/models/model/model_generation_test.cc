// Tests the options of Model::generate(), and streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "encdec/models/checkpoint/json.h"
#include "tests/models/model_cases.h"
#include "tests/support/temp_folder.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;

TEST(ModelGeneration, GeneratesTheRequestedNumberOfTokens) {
  const Model model = load("gelu_sharded");
  const auto sources = random_sources(4, 6, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  const auto results = model.generate_ids(sources, {.max_new_tokens = 37, .min_new_tokens = 37});
  for (const auto& result : results) EXPECT_EQ(result.hypotheses.front().token_ids.size(), 37u);
}

TEST(ModelGeneration, ResultsReportTheFinishReasonAndTheSourceTokens) {
  const Model model = load("text");
  const std::string text = "a b c d e f g h";
  for (const int beams : {1, 4}) {
    const GenerateResult whole = model.generate({text}, {.num_beams = beams}).front();
    const TokenIds& tokens = whole.hypotheses.front().token_ids;
    ASSERT_EQ(tokens.back(), model.generation_config().eos_tokens->front());
    EXPECT_EQ(whole.hypotheses.front().finish_reason, FinishReason::stop);
    EXPECT_EQ(whole.source_tokens, model.tokenizer()->encode(text).size());
    const GenerateOptions shorter{.num_beams = beams, .max_new_tokens = 3, .min_new_tokens = 3};
    EXPECT_EQ(model.generate({text}, shorter).front().hypotheses.front().finish_reason, FinishReason::length);
  }
  EXPECT_EQ(model.generate({""}).front().source_tokens, 0u);
}

TEST(ModelGeneration, OnlyTokensOfAShortlistAreProduced) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(5, 8, 20);
  const TokenIds shortlist{9, 3, 14, 3};
  for (const int beams : {1, 3}) {
    // The expected result comes from the whole vocabulary with all other tokens suppressed.
    TokenIds others;
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(model.config().decoder.vocabulary); ++token) {
      const bool is_end = std::ranges::count(*model.generation_config().eos_tokens, token) > 0;
      if (!is_end && std::ranges::count(shortlist, token) == 0) others.push_back(token);
    }
    const auto short_results =
        model.generate_ids(sources, {.num_beams = beams, .max_new_tokens = 12, .shortlist = shortlist});
    const auto whole_results =
        model.generate_ids(sources, {.num_beams = beams, .max_new_tokens = 12, .suppress_tokens = others});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      for (const std::int32_t token : short_results[i].hypotheses.front().token_ids) {
        EXPECT_EQ(std::ranges::count(others, token), 0) << token;
      }
      if (beams == 1) {
        EXPECT_EQ(short_results[i].hypotheses.front().token_ids, whole_results[i].hypotheses.front().token_ids);
      }
    }
  }
}

TEST(ModelGeneration, ForcedPhrasesAppear) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(6, 12, 20);
  const std::vector<TokenIds> phrases{{7, 8, 9}, {21}, {4, 4}};
  for (const int beams : {2, 4}) {
    for (const int limit : {6, 7, 20}) {
      const auto results = model.generate_ids(
          sources,
          {.num_beams = beams, .max_new_tokens = limit, .forced_eos_tokens = TokenIds{}, .force_words = phrases});
      for (const GenerateResult& result : results) {
        const TokenIds& found = result.hypotheses.front().token_ids;
        for (const TokenIds& phrase : phrases) {
          EXPECT_NE(std::search(found.begin(), found.end(), phrase.begin(), phrase.end()), found.end())
              << beams << " beams, limit " << limit;
        }
      }
    }
  }
}

TEST(ModelGeneration, ForcedPhrasesOfTheFoldersFileAppear) {
  const TempFolder folder;
  std::filesystem::copy(kMarianCases / "shared_swish" / "model", folder.path());
  nlohmann::json settings = read_json(folder.path() / "generation_config.json");
  settings["force_words_ids"] = nlohmann::json::parse("[[7, 8]]");
  folder.write("generation_config.json", settings.dump());
  const Model model = Model::load(folder.path(), {.threads = 1});
  const auto sources = random_sources(3, 12, 20);
  const auto has_phrase = [](const GenerateResult& result) {
    const TokenIds &found = result.hypotheses.front().token_ids, phrase{7, 8};
    return std::search(found.begin(), found.end(), phrase.begin(), phrase.end()) != found.end();
  };
  const GenerateOptions options{.num_beams = 2, .max_new_tokens = 9};
  for (const GenerateResult& result : model.generate_ids(sources, options)) EXPECT_TRUE(has_phrase(result));
  GenerateOptions without = options;
  without.force_words.emplace();
  EXPECT_FALSE(std::ranges::all_of(model.generate_ids(sources, without), has_phrase));
}

TEST(ModelGeneration, CoverageChangesTheScoreOfAHypothesisAndNoSearchStep) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(7, 6, 20);
  GenerateOptions options{.num_beams = 3, .max_new_tokens = 9, .min_new_tokens = 9};
  const auto plain = model.generate_ids(sources, options);
  options.coverage_penalty = 1e-6f;
  const auto alike = model.generate_ids(sources, options);
  options.coverage_penalty = 0.5f;
  const auto penalised = model.generate_ids(sources, options);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(plain[i].hypotheses.front().token_ids, alike[i].hypotheses.front().token_ids);
    EXPECT_LE(penalised[i].hypotheses.front().score, plain[i].hypotheses.front().score);
  }
}

TEST(ModelGeneration, EachTokenIsReportedOnceInOrder) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(8, 9, 20);
  for (const int beams : {1, 4}) {
    std::vector<TokenIds> reported(sources.size());
    GenerateOptions options{.num_beams = beams, .max_new_tokens = 15, .batch_size = 4, .workers = 2};
    options.on_token = [&](std::size_t source, std::int32_t token) { reported[source].push_back(token); };
    const auto results = model.generate_ids(sources, options);
    for (std::size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(reported[i], results[i].hypotheses.front().token_ids);
  }
}

TEST(ModelGeneration, ScoresOfGeneratedTokensEqualThoseOfGeneration) {
  for (const char* name : {"marian/shared_swish", "gpt2/with_prefix", "t5/gated"}) {
    const auto folder = std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model";
    if (!std::filesystem::exists(folder)) continue;
    const Model model = Model::load(folder, {.threads = 2});
    const auto sources = random_sources(9, 7, 20);
    const auto generated = model.generate_ids(sources, {.max_new_tokens = 10, .top_log_probs = 3});
    std::vector<TokenIds> targets;
    for (const auto& result : generated) targets.push_back(result.hypotheses.front().token_ids);
    const auto scored = model.score_ids(sources, targets);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const Hypothesis& hypothesis = generated[i].hypotheses.front();
      EXPECT_EQ(scored[i].token_scores, hypothesis.token_scores) << name;
      EXPECT_EQ(scored[i].score, hypothesis.score) << name;
      ASSERT_EQ(hypothesis.top_log_probs.size(), hypothesis.token_ids.size());
      for (const auto& top : hypothesis.top_log_probs) {
        ASSERT_EQ(top.size(), 3u);
        EXPECT_GE(top[0].log_probability, top[1].log_probability);
        EXPECT_GE(top[1].log_probability, top[2].log_probability);
      }
    }
  }
}

TEST(ModelGeneration, SamplesDependOnTheSeedAndTheSourceOnly) {
  const Model model = load("shared_swish");
  std::vector<TokenIds> sources = random_sources(10, 8, 20);
  GenerateOptions options{.num_return_sequences = 3, .max_new_tokens = 12, .do_sample = true, .top_k = 0, .seed = 5};
  const auto first = model.generate_ids(sources, options);
  std::ranges::reverse(sources);
  auto second = model.generate_ids(sources, options);
  std::ranges::reverse(second);
  options.seed = 6;
  std::ranges::reverse(sources);
  const auto other = model.generate_ids(sources, options);
  bool differs = false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ASSERT_EQ(first[i].hypotheses.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(first[i].hypotheses[k].token_ids, second[i].hypotheses[k].token_ids);
      differs = differs || first[i].hypotheses[k].token_ids != other[i].hypotheses[k].token_ids;
    }
    EXPECT_NE(first[i].hypotheses[0].token_ids, first[i].hypotheses[1].token_ids);
  }
  EXPECT_TRUE(differs) << "another seed, the same samples";
}

// A stream of a list of sources. Input is slow: with Wait::no only every third call of next() gets a source. Fails at
// source number `fail_at`, counted from 0.
class ListStream final : public GenerateStream {
 public:
  explicit ListStream(std::vector<TokenIds> sources) : sources_(std::move(sources)) {}
  std::optional<GenerateInput> next(Wait wait) override {
    if (wait == Wait::no && ++polls_ % 3 != 0) return std::nullopt;  // not yet there
    if (read_ == fail_at) throw InputError("line 6 is bad");
    return read_ < sources_.size() ? std::optional(GenerateInput{sources_[read_++]}) : std::nullopt;
  }
  void write(GenerateResult result) override { results.push_back(std::move(result)); }

  bool skips(const Error& error) override {
    passed_over.emplace_back(error.what());
    return passes_over_all;
  }

  std::size_t fail_at = 1000;
  bool passes_over_all = true;
  std::vector<std::string> passed_over;
  std::vector<GenerateResult> results;

 private:
  std::vector<TokenIds> sources_;
  std::size_t read_ = 0;
  int polls_ = 0;
};

TEST(ModelGeneration, AStreamGetsItsResultsInOrderHoweverItsInputArrives) {
  const Model model = load("shared_swish");
  auto sources = random_sources(11, 40, 20);
  sources[7].clear();
  const auto expected = model.generate_ids(sources, {.max_new_tokens = 8});
  for (const int workers : {1, 3}) {
    ListStream stream(sources);
    model.generate_stream(stream, {.max_new_tokens = 8, .batch_size = 4, .workers = workers});
    ASSERT_EQ(stream.results.size(), sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(stream.results[i].hypotheses.front().token_ids, expected[i].hypotheses.front().token_ids);
    }
  }
}

TEST(ModelGeneration, AStreamThatFailsGetsTheResultsOfEarlierSources) {
  const Model model = load("shared_swish");
  ListStream stream(random_sources(12, 10, 20));
  stream.fail_at = 5;
  EXPECT_THAT(failure([&] { model.generate_stream(stream, {.max_new_tokens = 8}); }), HasSubstr("line 6 is bad"));
  EXPECT_EQ(stream.results.size(), 5u);
}

TEST(ModelGeneration, AStreamMaySkipSourcesThatTheModelRefuses) {
  const Model model = load("shared_swish");
  auto sources = random_sources(30, 20, 20);
  const auto expected = model.generate_ids(sources, {.max_new_tokens = 8});
  for (const std::size_t bad : {0u, 1u, 9u, 29u}) sources[bad] = {1'000'000};
  for (const int workers : {1, 3}) {
    ListStream stream(sources);
    model.generate_stream(stream, {.max_new_tokens = 8, .batch_size = 4, .workers = workers});
    ASSERT_EQ(stream.results.size(), sources.size());
    EXPECT_THAT(stream.passed_over, testing::ElementsAre(HasSubstr("source 1:"), HasSubstr("source 2:"),
                                                         HasSubstr("source 10:"), HasSubstr("source 30:")));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto& hypotheses = stream.results[i].hypotheses;
      if (sources[i].front() == 1'000'000) {
        EXPECT_TRUE(hypotheses.empty());
      } else {
        EXPECT_EQ(hypotheses.front().token_ids, expected[i].hypotheses.front().token_ids);
      }
    }
  }
  ListStream stream(sources);
  stream.passes_over_all = false;
  EXPECT_THAT(failure([&] { model.generate_stream(stream, {.max_new_tokens = 8}); }), HasSubstr("source 1:"));
}

TEST(ModelGeneration, AnExceptionInOnProgressStopsAllWorkers) {
  const Model model = load("shared_swish");
  GenerateOptions options{.max_new_tokens = 1000, .min_new_tokens = 1000, .batch_size = 2, .workers = 3};
  int steps = 0;
  options.on_progress = [&](const GenerateProgress&) {
    if (++steps == 5) throw InputError("enough");
  };
  EXPECT_THAT(failure([&] { model.generate_ids(random_sources(13, 50, 20), options); }), HasSubstr("enough"));
  EXPECT_LT(steps, 20'000) << "of 25,000 without the exception";
}

TEST(ModelGeneration, RefusesACopyToGuessThatHasAHigherPrecision) {
  const LoadOptions options{.precision = Precision::int8, .draft_precision = Precision::float32};
  EXPECT_THAT(failure([&] { Model::load(kMarianCases / "shared_swish" / "model", options); }),
              HasSubstr("draft_precision is float32, expected bfloat16 or int8"));
}

}  // namespace
}  // namespace encdec::model_cases
