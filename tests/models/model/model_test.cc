#include "encdec/models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/models/model_cases.h"
#include "tests/support/golden_cases.h"
#include "tests/support/students.h"
#include "tests/support/temp_folder.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Model, ServesManyThreadsConcurrently) {
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
  for (int i = 0; i < 3; ++i) {
    whole.push_back({session.open_target(i), targets[static_cast<std::size_t>(i)], Session::TargetTokens::kAll});
  }
  const Tensor arena = session.decode(whole);
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

TEST(Model, ReportsEveryTokenAsItIsChosen) {
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
  EXPECT_THAT(failure([&] { model.forward(negative, sources); }), HasSubstr("1 sources but 2 targets"));
  EXPECT_THAT(failure([&] { model.forward(negative, negative); }), HasSubstr("token id -1"));
  const std::vector<TokenIds> empty{{}};
  EXPECT_THAT(failure([&] { model.forward(empty, empty); }), HasSubstr("source 1: no tokens"));
}

TEST(Model, RefusesOptionsThatAreOutOfRangeOrUnsupported) {
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
  EXPECT_THAT(refusal({.force_words = std::vector<TokenIds>(1)}), HasSubstr("force_words: a phrase without tokens"));
  const std::vector<TokenIds> phrases{{1}};
  EXPECT_THAT(refusal({.force_words = phrases}), HasSubstr("force_words with num_beams 1, expected beam search"));
  EXPECT_THAT(refusal({.num_beams = 2, .do_sample = true, .force_words = phrases}),
              HasSubstr("force_words with do_sample, expected beam search"));
  EXPECT_THAT(refusal({.batch_size = -1}), HasSubstr("batch_size is -1"));
  EXPECT_THAT(refusal({.workers = 0}), HasSubstr("workers is 0"));
  EXPECT_THAT(failure([&] { load("shared_swish", -1); }), HasSubstr("threads is -1"));
}

TEST(Model, WithoutTokenizerFilesTextIsRefusedAndIdsAreAccepted) {
  const Model model = load("shared_swish");
  ASSERT_EQ(model.tokenizer(), nullptr);
  EXPECT_THAT(failure([&] { model.generate({"text"}); }), HasSubstr("no tokenizer files"));
}

TEST(Model, AMissingFolderIsAnErrorThatNamesIt) {
  EXPECT_THAT(failure([] { Model::load("/no/such/folder"); }), HasSubstr("/no/such/folder"));
}

Model load_family(const std::string& name) {
  return Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model", {.threads = 1});
}

TEST(Model, ASourceThatIsLongerThanTheLearnedPositionsIsNamed) {
  const Model model = load_family("bart/base");
  const auto limit = static_cast<std::size_t>(*model.config().encoder.position_limit());
  const std::vector<TokenIds> fits{{5}, TokenIds(limit, 5)};
  EXPECT_NO_THROW(model.generate_ids(fits, {.max_new_tokens = 2}));
  const std::vector<TokenIds> too_long{{5}, TokenIds(limit + 1, 5)};
  EXPECT_THAT(
      failure([&] { model.generate_ids(too_long); }),
      HasSubstr("source 2: " + std::to_string(limit + 1) + " tokens, expected at most " + std::to_string(limit)));
}

TEST(Model, ALongSourceIsAnErrorOrTruncated) {
  for (const char* name : {"bart/base", "gpt2/with_prefix"}) {
    const Model model = load_family(name);
    const std::vector<TokenIds> sources = {{5}, {5, 6, 7, 8, 9}};
    GenerateOptions options{.max_new_tokens = 4, .max_source_tokens = 3};
    EXPECT_THAT(failure([&] { model.generate_ids(sources, options); }),
                HasSubstr("source 2: 5 tokens, expected at most 3, which is max_source_tokens"));
    options.long_sources = LongSources::truncate;
    const auto results = model.generate_ids(sources, options);
    const std::vector<TokenIds> front = {{5, 6, 7}};
    EXPECT_EQ(results[1].hypotheses.front().token_ids,
              model.generate_ids(front, {.max_new_tokens = 4}).front().hypotheses.front().token_ids);
    EXPECT_FALSE(results[0].source_truncated);
    EXPECT_TRUE(results[1].source_truncated);
    // No option can exceed the number of learned positions.
    const auto limit = static_cast<std::size_t>(*model.config().input_stack().position_limit());
    const std::vector<TokenIds> too_long = {TokenIds(limit + 1, 5)};
    options.max_source_tokens = static_cast<int>(limit) + 10;
    EXPECT_TRUE(model.generate_ids(too_long, options).front().source_truncated);
  }
  const Model unbounded = load("odd_sizes");
  const std::vector<TokenIds> sources = {TokenIds(kMaxSourceTokens + 1, 5)};
  EXPECT_THAT(failure([&] { unbounded.generate_ids(sources); }), HasSubstr("expected at most 16384, which is"));
}

TEST(Model, ATruncatedTextKeepsItsEndToken) {
  const Model model = load("text");
  const std::string text = "a b c d e f g h";
  const TokenIds all = model.tokenizer()->encode(text);
  TokenIds some(all.begin(), all.begin() + 3);
  some.push_back(all.back());
  const GenerateOptions options{.max_source_tokens = 4, .long_sources = LongSources::truncate};
  EXPECT_EQ(model.generate({text}, options).front().hypotheses.front().token_ids,
            model.generate_ids(std::span(&some, 1)).front().hypotheses.front().token_ids);
}

// After a call is cancelled anywhere, the next call works.
TEST(Model, WorkCanBeCancelledAnywhere) {
  int calls = 0, limit = std::numeric_limits<int>::max();
  std::mutex counting;
  const std::function<void()> check = [&] {
    const std::lock_guard lock(counting);
    if (++calls >= limit) throw std::runtime_error("enough");
  };
  const auto cancelled_at = [&](int at, const auto& work) {
    calls = 0;
    limit = at;
    bool is_cancelled = false;
    try {
      const CancellationScope scope(check);
      work();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "enough");
      is_cancelled = true;
    }
    limit = std::numeric_limits<int>::max();
    return is_cancelled;
  };
  const auto load_it = [] { load("shared_swish"); };
  load_it();  // the first load of a process also tests oneDNN
  EXPECT_FALSE(cancelled_at(std::numeric_limits<int>::max(), load_it));
  ASSERT_GE(calls, 20) << "while weights are packed";
  const int while_loading = calls;
  for (int at = 1; at < while_loading; at += while_loading / 5) EXPECT_TRUE(cancelled_at(at, load_it));

  const Model model = load("shared_swish", 2);
  const auto sources = random_sources(9, 40, 20);
  for (const int workers : {1, 3}) {
    GenerateOptions options{
        .num_beams = 2, .max_new_tokens = 10, .min_new_tokens = 10, .batch_size = 3, .workers = workers};
    options.on_progress = [&](const GenerateProgress&) { check(); };  // at each step
    std::vector<GenerateResult> results;
    const auto generate = [&] { results = model.generate_ids(sources, options); };
    EXPECT_FALSE(cancelled_at(std::numeric_limits<int>::max(), generate));
    const auto expected = std::exchange(results, {});
    const int while_generating = calls;
    ASSERT_GE(while_generating, 30);
    for (int at = 1; at < while_generating / 2; at += while_generating / 10) {
      EXPECT_TRUE(cancelled_at(at, generate)) << "workers " << workers << ", call " << at;
      generate();
      for (std::size_t i = 0; i < sources.size(); ++i) {
        EXPECT_EQ(results[i].hypotheses.front().token_ids, expected[i].hypotheses.front().token_ids);
        EXPECT_EQ(results[i].hypotheses.front().score, expected[i].hypotheses.front().score);
      }
    }
  }
}

TEST(Model, GenerationStopsAfterTheLastLearnedPosition) {
  const Model model = load_family("gpt2/with_prefix");
  const auto limit = static_cast<std::size_t>(*model.config().decoder.position_limit());
  const std::vector<TokenIds> prompts{TokenIds(10, 5), {7}};
  const auto results = model.generate_ids(prompts, {.max_new_tokens = 1000, .min_new_tokens = 1000});
  EXPECT_EQ(results[0].hypotheses.front().token_ids.size(), limit - 10 + 1);
  EXPECT_EQ(results[1].hypotheses.front().token_ids.size(), limit);
}

TEST(Model, RefusesWhatTheModelDoesNotHave) {
  const std::vector<TokenIds> rows{{5, 6}};
  const Model encoder = load_family("bert/base"), decoder = load_family("gpt2/with_prefix");
  EXPECT_THAT(failure([&] { encoder.generate_ids(rows); }), HasSubstr("bert has no decoder"));
  EXPECT_THAT(failure([&] { encoder.forward(rows, rows); }), HasSubstr("1 targets, expected none"));
  EXPECT_THAT(failure([&] { decoder.forward(rows, rows); }), HasSubstr("1 sources, expected none"));
  EXPECT_THAT(failure([&] { decoder.generate({"a"}, {.target_lang = "fr"}); }), testing::Not(testing::Eq("no error")));
}

TEST(Model, TheFingerprintCoversEverythingThatResultsDependOn) {
  const TempFolder folder;
  const std::filesystem::path copy = folder / "copy";
  std::filesystem::copy(kMarianCases / "text" / "model", copy, std::filesystem::copy_options::recursive);
  const std::string expected = load("text").fingerprint();
  EXPECT_EQ(expected.size(), 32u);
  EXPECT_EQ(load("text", 2).fingerprint(), expected);
  EXPECT_EQ(Model::load(copy).fingerprint(), expected);
  EXPECT_NE(Model::load(copy, {.precision = Precision::int8}).fingerprint(), expected);
  EXPECT_NE(load("shared_swish").fingerprint(), expected);

  std::ofstream(copy / "README.md") << "text";
  EXPECT_EQ(Model::load(copy).fingerprint(), expected);
  std::ofstream(copy / "generation_config.json", std::ios::app) << "\n";
  EXPECT_NE(Model::load(copy).fingerprint(), expected);
}

TEST(Model, TheFingerprintCoversTheLexicalShortlist) {
  for (const char* name : {"students/planted/model", "npz/tied_all/model"}) {
    const std::filesystem::path golden = std::filesystem::path(ENCDEC_GOLDEN_DIR) / name;
    if (!can_read_weights(golden)) GTEST_SKIP() << "a format is not in this build";
    const TempFolder folder;
    std::filesystem::copy(golden, folder.path());
    const Dim tokens = Model::load(golden).config().decoder.vocabulary;
    const auto fingerprint_with = [&](std::uint64_t frequent) {
      const std::vector<std::uint64_t> offsets(static_cast<std::size_t>(tokens) + 1);
      folder.write("lex.50.50.enxx.s2t.bin", shortlist_file(frequent, offsets, {}));
      return Model::load(folder.path()).fingerprint();
    };
    if (name == std::string_view("npz/tied_all/model")) {
      std::ofstream(folder / "decoder.yml", std::ios::app) << "shortlist: [lex.50.50.enxx.s2t.bin]\n";
    }
    EXPECT_EQ(fingerprint_with(8), fingerprint_with(8)) << name;
    EXPECT_NE(fingerprint_with(8), fingerprint_with(16)) << name;
  }
}

TEST(Model, TheFingerprintsOfDifferentTokenizersDiffer) {
  const auto golden = std::filesystem::path(ENCDEC_GOLDEN_DIR) / "npz/tied_all/model";
  if (!can_read_weights(golden)) GTEST_SKIP() << "a format is not in this build";
  const TempFolder folder;
  std::filesystem::copy(golden, folder / "model");
  const auto replace = [&](const char* name, std::string_view from, std::string_view to) {
    std::string content = read_text_file(folder / name, 1u << 20);
    ASSERT_NE(content.find(from), content.npos) << name;
    folder.write(name, content.replace(content.find(from), from.size(), to));
  };
  std::filesystem::rename(folder / "model/vocab.yml", folder / "model/vocab.pieces");
  for (int i = 0; i < 2; ++i) replace("model/decoder.yml", "vocab.yml", "vocab.pieces");
  const std::string before = Model::load(folder / "model").fingerprint();
  replace("model/vocab.pieces", "w2: 2", "w2\u00e9: 2");
  EXPECT_NE(Model::load(folder / "model").fingerprint(), before);
}

}  // namespace
}  // namespace encdec::model_cases
