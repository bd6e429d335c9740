#include "encdec/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kMarianCases = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian";

Model load(const std::string& name, int threads = 1) {
  return Model::load(kMarianCases / name / "model", {.threads = threads});
}

std::vector<TokenIds> random_sources(int count, int longest, std::int32_t vocabulary) {
  std::mt19937 random(7);
  std::vector<TokenIds> sources(static_cast<std::size_t>(count));
  for (TokenIds& source : sources) {
    source.resize(1 + random() % static_cast<unsigned>(longest));
    for (std::int32_t& id : source) id = static_cast<std::int32_t>(random() % static_cast<unsigned>(vocabulary));
  }
  return sources;
}

template <class Function>
std::string failure(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Model, ASourceGetsTheSameBitsInEveryBatchOrderAndNumberOfThreads) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(150, 90, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  const auto expected = model.generate_ids(sources, {.batch_size = 1});
  for (const int threads : {1, 2, 3}) {
    const Model other = load("shared_swish", threads);
    for (const int batch_size : {7, 64}) {
      std::vector<std::size_t> order(sources.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(batch_size)));
      std::vector<TokenIds> shuffled;
      for (const std::size_t i : order) shuffled.push_back(sources[i]);
      const auto results = other.generate_ids(shuffled, {.batch_size = batch_size});
      for (std::size_t i = 0; i < order.size(); ++i) {
        const Hypothesis& found = results[i].hypotheses.front();
        const Hypothesis& alone = expected[order[i]].hypotheses.front();
        ASSERT_EQ(found.token_ids, alone.token_ids) << "source " << order[i];
        ASSERT_EQ(std::memcmp(&found.score, &alone.score, sizeof(double)), 0) << "source " << order[i];
      }
    }
  }
}

TEST(Model, ServesManyThreadsAtOnce) {
  const Model model = load("odd_sizes", 2);
  const auto sources = random_sources(20, 30, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  const auto expected = model.generate_ids(sources);
  std::vector<int> differences(4, -1);
  std::vector<std::thread> threads;
  for (int& count : differences) {
    threads.emplace_back([&] {
      int different = 0;
      for (int repetition = 0; repetition < 5; ++repetition) {
        const auto results = model.generate_ids(sources, {.batch_size = 4});
        for (std::size_t i = 0; i < sources.size(); ++i) {
          different += results[i].hypotheses.front().token_ids != expected[i].hypotheses.front().token_ids;
        }
      }
      count = different;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(differences, testing::Each(0));
}

TEST(Model, DecodingTokenByTokenEqualsDecodingAtOnceBitByBit) {
  const Model model = load("separate_vocabulary", 2);
  Session session(model.network(), std::make_shared<ThreadTeam>(2));
  const auto sources = random_sources(3, 12, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  const auto targets = random_sources(3, 40, static_cast<std::int32_t>(model.config().decoder.vocabulary));
  session.encode(sources);
  std::vector<Session::TargetTokens> whole;
  for (int i = 0; i < 3; ++i) whole.push_back({session.open_target(i), targets[static_cast<std::size_t>(i)]});
  const Tensor arena = session.decode(whole, Session::LogitsOf::every_token);
  Tensor all_at_once = Tensor::allocate(arena.shape());
  std::memcpy(all_at_once.raw(), arena.raw(), arena.bytes());

  std::int64_t row = 0;
  for (int i = 0; i < 3; ++i) {
    const int target = session.open_target(i);
    for (const std::int32_t& token : targets[static_cast<std::size_t>(i)]) {
      const Session::TargetTokens step{target, std::span(&token, 1)};
      const Tensor logits = session.decode(std::span(&step, 1));
      ASSERT_EQ(std::memcmp(logits.raw(), all_at_once.row(row), logits.bytes()), 0) << "row " << row;
      ++row;
    }
  }
}

TEST(Model, AnEmptySourceGivesAnEmptyHypothesis) {
  const Model model = load("text");
  const auto results = model.generate({"", "a b", ""});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_THAT(results[0].hypotheses.front().token_ids, IsEmpty());
  EXPECT_THAT(results[2].hypotheses.front().text, IsEmpty());
  EXPECT_THAT(results[1].hypotheses.front().token_ids, testing::Not(IsEmpty()));
}

TEST(Model, GeneratesTheTextThatTransformersGenerates) {
  for (const std::string name : {"text", "text_separate"}) {
    const Model model = load(name);
    const JsonObject expected = read_json_object(kMarianCases / name / "expected_tokenizer.json");
    ASSERT_FALSE(expected.value()["generate"].empty());
    for (const auto& line : expected.value()["generate"]) {
      const auto result = model.generate({line["text"].get<std::string>()}, {.num_beams = 1});
      EXPECT_EQ(result[0].hypotheses.front().text, line["output"].get<std::string>()) << name << ": " << line["text"];
    }
  }
}

TEST(Model, CallsBackForEveryTokenAsItIsChosen) {
  const Model model = load("gelu_sharded");
  const auto sources = random_sources(5, 9, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  std::vector<TokenIds> streamed(sources.size());
  GenerateProgress last;
  const auto results = model.generate_ids(
      sources, {.batch_size = 2,
                .on_token = [&](std::size_t source, std::int32_t token) { streamed[source].push_back(token); },
                .on_progress = [&](const GenerateProgress& progress) { last = progress; }});
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(streamed[i], results[i].hypotheses.front().token_ids);
    tokens += streamed[i].size();
  }
  EXPECT_EQ(last.finished_sources, sources.size());
  EXPECT_EQ(last.generated_tokens, tokens);
}

TEST(Model, RefusesTokensOutsideTheVocabularyBeforeAnyWork) {
  const Model model = load("shared_swish");
  const auto vocabulary = static_cast<std::int32_t>(model.config().encoder.vocabulary);
  const std::vector<TokenIds> sources{{1, 2}, {1, vocabulary}};
  EXPECT_THAT(failure([&] { model.generate_ids(sources); }),
              HasSubstr("source 2: token id " + std::to_string(vocabulary) + ", expected 0 to"));
  const std::vector<TokenIds> negative{{-1}};
  EXPECT_THAT(failure([&] { model.forward(negative, sources); }), HasSubstr("1 sources and 2 targets"));
  EXPECT_THAT(failure([&] { model.forward(negative, negative); }), HasSubstr("token id -1"));
  const std::vector<TokenIds> empty{{}};
  EXPECT_THAT(failure([&] { model.forward(empty, empty); }), HasSubstr("source 1: no tokens"));
}

TEST(Model, RefusesOptionsThatAreOutOfRangeOrNotSupported) {
  const Model model = load("shared_swish");
  const std::vector<TokenIds> sources{{1}};
  const auto refusal = [&](const GenerateOptions& options) {
    return failure([&] { model.generate_ids(sources, options); });
  };
  EXPECT_THAT(refusal({.num_beams = 0}), HasSubstr("num_beams is 0, expected 1 to"));
  EXPECT_THAT(refusal({.num_return_sequences = 2}), HasSubstr("num_return_sequences is 2, expected at most 1"));
  EXPECT_THAT(refusal({.num_beams = 3, .num_return_sequences = 4}), HasSubstr("expected at most 3"));
  EXPECT_THAT(refusal({.max_new_tokens = 0}), HasSubstr("max_new_tokens is 0"));
  EXPECT_THAT(refusal({.min_new_tokens = -1}), HasSubstr("min_new_tokens is -1"));
  EXPECT_THAT(refusal({.length_penalty = std::nanf("")}), HasSubstr("length_penalty is nan"));
  EXPECT_THAT(refusal({.temperature = 0.0f}), HasSubstr("temperature is 0"));
  EXPECT_THAT(refusal({.top_p = 1.5f}), HasSubstr("top_p is 1.5"));
  EXPECT_THAT(refusal({.repetition_penalty = -1.0f}), HasSubstr("repetition_penalty is -1"));
  EXPECT_THAT(refusal({.suppress_tokens = TokenIds{1, 1000}}), HasSubstr("suppress_tokens: token id 1000"));
  EXPECT_THAT(refusal({.force_words = {{}}}), HasSubstr("force_words: a phrase without tokens"));
  EXPECT_THAT(refusal({.do_sample = true, .force_words = {{1}}}), HasSubstr("force_words with do_sample"));
  EXPECT_THAT(refusal({.batch_size = -1}), HasSubstr("batch_size is -1"));
  EXPECT_THAT(refusal({.workers = 0}), HasSubstr("workers is 0"));
  EXPECT_THAT(failure([&] { load("shared_swish", -1); }), HasSubstr("threads is -1"));
}

TEST(Model, WithoutTokenizerFilesTextIsRefusedAndIdsAreNot) {
  const Model model = load("shared_swish");
  ASSERT_EQ(model.tokenizer(), nullptr);
  EXPECT_THAT(failure([&] { model.generate({"text"}); }), HasSubstr("no tokenizer files"));
}

TEST(Model, AMissingFolderIsAnErrorThatNamesIt) {
  EXPECT_THAT(failure([] { Model::load("/no/such/folder"); }), HasSubstr("/no/such/folder"));
}

TEST(Model, GeneratesAsManyTokensAsAreAskedFor) {
  const Model model = load("gelu_sharded");
  const auto sources = random_sources(4, 6, static_cast<std::int32_t>(model.config().encoder.vocabulary));
  const auto results = model.generate_ids(sources, {.max_new_tokens = 37, .min_new_tokens = 37});
  for (const auto& result : results) EXPECT_EQ(result.hypotheses.front().token_ids.size(), 37u);
}

TEST(Model, AShortlistIsAllThatIsProduced) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(5, 8, 20);
  const TokenIds shortlist{9, 3, 14, 3};
  for (const int beams : {1, 3}) {
    // The same tokens by the whole matmul: all others are suppressed.
    TokenIds others;
    for (std::int32_t token = 0; token < static_cast<std::int32_t>(model.config().decoder.vocabulary); ++token) {
      const bool is_end = std::ranges::count(model.generation_config().eos_tokens, token) > 0;
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

TEST(Model, PhrasesThatMustAppearDo) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(6, 12, 20);
  const std::vector<TokenIds> phrases{{7, 8, 9}, {21}, {4, 4}};
  for (const int beams : {1, 4}) {
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

TEST(Model, CoverageIsPartOfAHypothesisScoreAndChangesNoSearchStep) {
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

TEST(Model, TokensAreToldOnceEachInOrderAndAddUpToTheResult) {
  const Model model = load("shared_swish");
  const auto sources = random_sources(8, 9, 20);
  for (const int beams : {1, 4}) {
    std::vector<TokenIds> told(sources.size());
    GenerateOptions options{.num_beams = beams, .max_new_tokens = 15, .batch_size = 4, .workers = 2};
    options.on_token = [&](std::size_t source, std::int32_t token) { told[source].push_back(token); };
    const auto results = model.generate_ids(sources, options);
    for (std::size_t i = 0; i < sources.size(); ++i) EXPECT_EQ(told[i], results[i].hypotheses.front().token_ids);
  }
}

TEST(Model, ScoresOfGeneratedTokensAreThoseOfGeneration) {
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

TEST(Model, WhatIsDrawnDependsOnTheSeedAndTheSourceOnly) {
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

// A stream that fails in the middle, and one whose reader is slow.
class ListStream final : public GenerateStream {
 public:
  explicit ListStream(std::vector<TokenIds> sources) : sources_(std::move(sources)) {}
  std::optional<GenerateInput> next(Wait wait) override {
    if (wait == Wait::no && ++asked_ % 3 != 0) return std::nullopt;  // not there yet
    if (read_ == fail_at) throw InputError("line 6 is bad");
    return read_ < sources_.size() ? std::optional(GenerateInput{sources_[read_++]}) : std::nullopt;
  }
  void write(GenerateResult result) override { results.push_back(std::move(result)); }

  std::size_t fail_at = 1000;
  std::vector<GenerateResult> results;

 private:
  std::vector<TokenIds> sources_;
  std::size_t read_ = 0;
  int asked_ = 0;
};

TEST(Model, AStreamGetsItsResultsInOrderHoweverItsInputArrives) {
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

TEST(Model, AStreamThatFailsGetsTheResultsOfWhatCameBefore) {
  const Model model = load("shared_swish");
  ListStream stream(random_sources(12, 10, 20));
  stream.fail_at = 5;
  EXPECT_THAT(failure([&] { model.generate_stream(stream, {.max_new_tokens = 8}); }), HasSubstr("line 6 is bad"));
  EXPECT_EQ(stream.results.size(), 5u);
}

TEST(Model, WhatProgressThrowsEndsTheWorkOfAllWorkers) {
  const Model model = load("shared_swish");
  GenerateOptions options{.max_new_tokens = 1000, .min_new_tokens = 1000, .batch_size = 2, .workers = 3};
  int steps = 0;
  options.on_progress = [&](const GenerateProgress&) {
    if (++steps == 5) throw InputError("enough");
  };
  EXPECT_THAT(failure([&] { model.generate_ids(random_sources(13, 50, 20), options); }), HasSubstr("enough"));
  EXPECT_LT(steps, 20'000) << "of 25,000 that there would be";
}

Model load_family(const std::string& name) {
  return Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model", {.threads = 1});
}

TEST(Model, ASourceThatIsLongerThanLearnedPositionsIsNamed) {
  const Model model = load_family("bart/base");
  const auto limit = static_cast<std::size_t>(*model.config().encoder.position_limit());
  const std::vector<TokenIds> fits{{5}, TokenIds(limit, 5)};
  EXPECT_NO_THROW(model.generate_ids(fits, {.max_new_tokens = 2}));
  const std::vector<TokenIds> too_long{{5}, TokenIds(limit + 1, 5)};
  EXPECT_THAT(
      failure([&] { model.generate_ids(too_long); }),
      HasSubstr("source 2: " + std::to_string(limit + 1) + " tokens, expected at most " + std::to_string(limit)));
}

TEST(Model, GenerationStopsWhereLearnedPositionsEnd) {
  const Model model = load_family("gpt2/with_prefix");
  const auto limit = static_cast<std::size_t>(*model.config().decoder.position_limit());
  const std::vector<TokenIds> prompts{TokenIds(10, 5), {7}};
  const auto results = model.generate_ids(prompts, {.max_new_tokens = 1000, .min_new_tokens = 1000});
  EXPECT_EQ(results[0].hypotheses.front().token_ids.size(), limit - 10 + 1);
  EXPECT_EQ(results[1].hypotheses.front().token_ids.size(), limit);
}

TEST(Model, ATextWithoutTokensHasNoEmbedding) {
  const Model model = load_family("ctranslate2/bert");
  EXPECT_THAT(failure([&] { model.embed({"a", ""}); }), HasSubstr("text 2: no tokens, expected at least one"));
}

TEST(Model, WhatAModelDoesNotHaveIsRefused) {
  const std::vector<TokenIds> rows{{5, 6}};
  const Model encoder = load_family("bert/base"), decoder = load_family("gpt2/with_prefix");
  EXPECT_THAT(failure([&] { encoder.generate_ids(rows); }), HasSubstr("bert has no decoder"));
  EXPECT_THAT(failure([&] { encoder.forward(rows, rows); }), HasSubstr("1 targets, expected none"));
  EXPECT_THAT(failure([&] { decoder.forward(rows, rows); }), HasSubstr("1 sources, expected none"));
  EXPECT_THAT(failure([&] { decoder.embed({"a"}); }), HasSubstr("gpt2 has a decoder"));
  EXPECT_THAT(failure([&] { decoder.generate({"a"}, {.target_lang = "fr"}); }), testing::Not(testing::Eq("no error")));
}

}  // namespace
}  // namespace encdec
