// Tests the options of Model::generate(), and streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/models/model_cases.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;

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

TEST(ModelGeneration, EachTokenIsReportedOnceInOrderAndCounted) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(8, 9, 20);
  for (const int beams : {1, 4}) {
    std::vector<TokenIds> reported(sources.size());
    GenerateOptions options{.num_beams = beams, .max_new_tokens = 15, .batch_size = 4, .workers = 2};
    options.on_token = [&](std::size_t source, std::int32_t token) { reported[source].push_back(token); };
    GenerateProgress last;
    options.on_progress = [&](const GenerateProgress& progress) { last = progress; };
    const auto results = model.generate_ids(sources, options);
    std::size_t tokens = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(reported[i], results[i].hypotheses.front().token_ids);
      tokens += reported[i].size();
    }
    EXPECT_EQ(last.finished_sources, sources.size());
    EXPECT_EQ(last.generated_tokens, tokens);
  }
}

TEST(ModelGeneration, ScoresOfGeneratedTokensEqualThoseOfGeneration) {
  for (const char* name : {"marian/shared_swish", "gpt2/with_prefix", "t5/v1_1"}) {
    const Model model = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model", {.threads = 2});
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

TEST(ModelGeneration, AStreamThatFailsGetsTheResultsOfEarlierSources) {
  const Model model = load("shared_swish");
  ListStream stream(random_sources(12, 10, 20));
  stream.fail_at = 5;
  EXPECT_THAT(message_of([&] { model.generate_stream(stream, {.max_new_tokens = 8}); }), HasSubstr("line 6 is bad"));
  EXPECT_EQ(stream.results.size(), 5u);
}

// However the input arrives, results come in its order.
TEST(ModelGeneration, AStreamMaySkipSourcesThatTheModelRefuses) {
  const Model model = load("shared_swish");
  auto sources = random_sources(40, 40, 20);
  sources[7].clear();
  auto expected = model.generate_ids(sources, {.max_new_tokens = 8});
  for (const std::size_t bad : {0u, 1u, 9u, 39u}) {
    sources[bad] = {1'000'000};
    expected[bad].hypotheses.clear();
  }
  for (const int workers : {1, 3}) {
    ListStream stream(sources);
    model.generate_stream(stream, {.max_new_tokens = 8, .batch_size = 4, .workers = workers});
    ASSERT_EQ(stream.results.size(), sources.size());
    EXPECT_THAT(stream.passed_over, testing::ElementsAre(HasSubstr("source 1:"), HasSubstr("source 2:"),
                                                         HasSubstr("source 10:"), HasSubstr("source 40:")));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      ASSERT_EQ(stream.results[i].hypotheses.size(), expected[i].hypotheses.size()) << i;
      if (expected[i].hypotheses.empty()) continue;
      EXPECT_EQ(stream.results[i].hypotheses.front().token_ids, expected[i].hypotheses.front().token_ids);
    }
  }
  ListStream stream(sources);
  stream.passes_over_all = false;
  EXPECT_THAT(message_of([&] { model.generate_stream(stream, {.max_new_tokens = 8}); }), HasSubstr("source 1:"));
}

TEST(ModelGeneration, AnExceptionInOnProgressStopsAllWorkers) {
  const Model model = load("shared_swish");
  GenerateOptions options{.max_new_tokens = 1000, .min_new_tokens = 1000, .batch_size = 2, .workers = 3};
  int steps = 0;
  options.on_progress = [&](const GenerateProgress&) {
    if (++steps == 5) throw InputError("enough");
  };
  EXPECT_THAT(message_of([&] { model.generate_ids(random_sources(13, 50, 20), options); }), HasSubstr("enough"));
  EXPECT_LT(steps, 20'000) << "of 25,000 without the exception";
}

TEST(ModelGeneration, RefusesADraftModelOfHigherPrecision) {
  const LoadOptions options{.precision = Precision::int8, .draft_precision = Precision::float32};
  EXPECT_THAT(message_of([&] { Model::load(kMarianCases / "shared_swish" / "model", options); }),
              HasSubstr("draft_precision is float32, expected bfloat16, int8 or int4"));
}

}  // namespace
}  // namespace encdec::model_cases
