#include "encdec/models/model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
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

TEST(Model, RefusesTokensOutsideTheVocabularyBeforeAnyWork) {
  const Model model = load("shared_swish");
  const auto vocabulary = static_cast<std::int32_t>(model.config().encoder.vocabulary);
  const std::vector<TokenIds> sources{{1, 2}, {1, vocabulary}};
  EXPECT_THAT(message_of([&] { model.generate_ids(sources); }),
              HasSubstr("source 2: token id " + std::to_string(vocabulary) + ", expected 0 to"));
  const std::vector<TokenIds> negative{{-1}};
  EXPECT_THAT(message_of([&] { model.forward(negative, sources); }), HasSubstr("1 sources but 2 targets"));
  EXPECT_THAT(message_of([&] { model.forward(negative, negative); }), HasSubstr("token id -1"));
  const std::vector<TokenIds> empty{{}};
  EXPECT_THAT(message_of([&] { model.forward(empty, empty); }), HasSubstr("source 1: no tokens"));
}

TEST(Model, RefusesOptionsThatAreOutOfRangeOrUnsupported) {
  const std::vector<TokenIds> sources{{1}}, phrases{{1}};
  const std::pair<GenerateOptions, const char*> kCases[] = {
      {{.num_beams = 0}, "num_beams is 0, expected 1 to"},
      {{.num_return_sequences = 2}, "num_return_sequences is 2, expected at most 1"},
      {{.num_beams = 3, .num_return_sequences = 4}, "expected at most 3"},
      {{.max_new_tokens = 0}, "max_new_tokens is 0"},
      {{.min_new_tokens = -1}, "min_new_tokens is -1"},
      {{.length_penalty = std::nanf("")}, "length_penalty is nan"},
      {{.temperature = 0.0f}, "temperature is 0"},
      {{.top_p = 1.5f}, "top_p is 1.5"},
      {{.repetition_penalty = -1.0f}, "repetition_penalty is -1"},
      {{.suppress_tokens = TokenIds{1, 1000}}, "suppress_tokens: token id 1000"},
      {{.force_words = std::vector<TokenIds>(1)}, "force_words: a phrase without tokens"},
      {{.force_words = phrases}, "force_words with num_beams 1, expected beam search"},
      {{.num_beams = 2, .do_sample = true, .force_words = phrases}, "force_words with do_sample, expected beam search"},
      {{.batch_size = -1}, "batch_size is -1"},
      {{.workers = 0}, "workers is 0"}};
  const Model model = load("shared_swish");
  for (const auto& [options, message] : kCases) {
    EXPECT_THAT(message_of([&, &given = options] { model.generate_ids(sources, given); }), HasSubstr(message));
  }
  EXPECT_THAT(message_of([&] { load("shared_swish", -1); }), HasSubstr("threads is -1"));
}

TEST(Model, WithoutTokenizerFilesTextIsRefusedAndIdsAreAccepted) {
  const Model model = load("shared_swish");
  ASSERT_EQ(model.tokenizer(), nullptr);
  EXPECT_THAT(message_of([&] { model.generate({"text"}); }), HasSubstr("no tokenizer files"));
}

Model load_family(const std::string& name) {
  return Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / name / "model", {.threads = 1});
}

TEST(Model, ALongSourceIsAnErrorOrTruncated) {
  for (const char* name : {"bart/base", "gpt2/with_prefix"}) {
    const Model model = load_family(name);
    const std::vector<TokenIds> sources = {{5}, {5, 6, 7, 8, 9}};
    GenerateOptions options{.max_new_tokens = 4, .max_source_tokens = 3};
    EXPECT_THAT(message_of([&] { model.generate_ids(sources, options); }),
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
    const std::vector<TokenIds> longest = {TokenIds(limit, 5)}, too_long = {TokenIds(limit + 1, 5)};
    EXPECT_NO_THROW(model.generate_ids(longest, {.max_new_tokens = 1}));
    EXPECT_THAT(message_of([&] { model.generate_ids(too_long); }),
                HasSubstr(fmt::format("source 1: {} tokens, expected at most {}", limit + 1, limit)));
    options.max_source_tokens = static_cast<int>(limit) + 10;
    EXPECT_TRUE(model.generate_ids(too_long, options).front().source_truncated);
  }
  const Model unbounded = load("odd_sizes");
  const std::vector<TokenIds> sources = {TokenIds(kMaxSourceTokens + 1, 5)};
  EXPECT_THAT(message_of([&] { unbounded.generate_ids(sources); }), HasSubstr("expected at most 16384, which is"));
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
  EXPECT_THAT(message_of([&] { encoder.generate_ids(rows); }), HasSubstr("bert has no decoder"));
  EXPECT_THAT(message_of([&] { encoder.forward(rows, rows); }), HasSubstr("1 targets, expected none"));
  EXPECT_THAT(message_of([&] { decoder.forward(rows, rows); }), HasSubstr("1 sources, expected none"));
  EXPECT_THAT(message_of([&] { decoder.generate({"a"}, {.target_lang = "fr"}); }),
              testing::Not(testing::Eq("no exception")));
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
