#include "encdec/models/generation/logits_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/models/generation/processed.h"

namespace encdec {
namespace {

using testing::ElementsAre;

LogitsProcessors rules_of(const GenerateOptions& settings) {
  return make_logits_processors(with_neutral_values(settings));
}
LogitsProcessors sampling_of(const GenerateOptions& settings) {
  return make_sampling_processors(with_neutral_values(settings));
}

TEST(MakeLogitsProcessors, MakesNoProcessorThatHasNoEffect) {
  EXPECT_TRUE(rules_of({}).empty());
  GenerateOptions config;
  config.min_length = 5;
  config.exponential_decay_length_penalty = ExponentialDecay{.start = 1, .factor = 2};
  EXPECT_TRUE(rules_of(config).empty()) << "there is no end token";
  config.eos_tokens = TokenIds{0};
  config.bad_words = std::vector<TokenIds>{{1}};
  EXPECT_EQ(rules_of(config).size(), 3u);
}

TEST(MakeLogitsProcessors, MinNewTokensOverridesMinLength) {
  GenerateOptions config;
  config.eos_tokens = TokenIds{0};
  config.min_length = 9;
  config.min_new_tokens = 1;
  const auto rules = rules_of(config);
  const TokenIds tokens{1, 1};
  EXPECT_EQ(processed_by(rules, {.tokens = std::span(tokens).first(1)}, {1, 2}).front(), kBanned);
  EXPECT_EQ(processed_by(rules, {.tokens = tokens}, {1, 2}).front(), 1.0f);
  config.min_new_tokens = 0;
  EXPECT_TRUE(rules_of(config).empty());
}

TEST(MakeLogitsProcessors, AForcedEndOverridesAForcedBeginningAndAMinimumLength) {
  GenerateOptions config;
  config.eos_tokens = TokenIds{0};
  config.min_new_tokens = 3;
  config.forced_bos_token = 2;
  config.forced_eos_tokens = TokenIds{0};
  const TokenIds tokens{1};
  const auto rules = rules_of(config);
  EXPECT_THAT(processed_by(rules, {.tokens = tokens, .new_token_limit = 1}, {1, 2, 3}),
              ElementsAre(0, kBanned, kBanned));
  EXPECT_THAT(processed_by(rules, {.tokens = tokens, .new_token_limit = 2}, {1, 2, 3}),
              ElementsAre(kBanned, kBanned, 0));
}

TEST(MakeLogitsProcessors, AForcedTokenMayStillBeSuppressed) {
  GenerateOptions config;
  config.forced_bos_token = 1;
  config.suppress_tokens = TokenIds{1};
  const TokenIds tokens{0};
  EXPECT_THAT(processed_by(rules_of(config), {.tokens = tokens}, {1, 2}), ElementsAre(kBanned, kBanned));
}

TEST(MakeSamplingProcessors, DividesByTheTemperatureBeforeItCutsOff) {
  GenerateOptions config;
  config.top_k = 2;
  config.top_p = 0.7f;
  const TokenIds tokens{0};
  const TokenHistory history{.tokens = tokens};
  // Two of three tokens are equally likely, one has half their weight: 0.4, 0.4 and 0.2.
  const ScoreList scores{std::log(4.0f), std::log(2.0f), std::log(4.0f)};
  EXPECT_THAT(processed_by(sampling_of(config), history, scores), ElementsAre(scores[0], kBanned, scores[2]));
  config.top_k = 0;
  config.top_p = 0.9f;
  EXPECT_EQ(processed_by(sampling_of(config), history, scores), scores);
  config.temperature = 0.25f;  // weights 16 : 1 : 16
  EXPECT_THAT(processed_by(sampling_of(config), history, scores), ElementsAre(scores[0] * 4, kBanned, scores[2] * 4));
}

TEST(MakeSamplingProcessors, BeamsKeepOneMoreTokenThanThereAreEndTokens) {
  GenerateOptions config;
  config.top_k = 1;
  config.top_p = 0.01f;
  config.num_beams = 2;
  const TokenIds tokens{0};
  const auto left = [&] {
    const ScoreList scores = processed_by(sampling_of(config), {.tokens = tokens}, {1, 2, 3, 4, 5});
    return 5 - std::ranges::count(scores, kBanned);
  };
  EXPECT_EQ(left(), 2);
  config.eos_tokens = TokenIds{0, 1};
  EXPECT_EQ(left(), 3);
  config.num_beams = 1;
  EXPECT_EQ(left(), 1);
}

TEST(MakeSamplingProcessors, WithoutLimitsThereAreNoProcessors) {
  GenerateOptions config;
  config.top_k = 0;
  EXPECT_TRUE(sampling_of(config).empty());
}

// All logits processors again, from their definitions, in one function with loops over the whole vocabulary.
class SlowRules {
 public:
  SlowRules(const GenerateOptions& config, const TokenHistory& history)
      : config_(config), tokens_(history.tokens.begin(), history.tokens.end()), prompt_(history.prompt_length) {
    source_.assign(history.source.begin(), history.source.end());
    if (source_.empty()) source_.assign(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(prompt_));
    generated_ = tokens_.size() - prompt_;
    is_last_ = generated_ + 1 == history.new_token_limit;
  }

  ScoreList process(ScoreList scores) const {
    const auto size = static_cast<std::int32_t>(scores.size());
    for (std::int32_t token = 0; token < size; ++token) {
      float& score = scores[static_cast<std::size_t>(token)];
      if (contains(source_, token)) score = penalized(score, 1.0f / *config_.encoder_repetition_penalty);
      if (contains(tokens_, token)) score = penalized(score, *config_.repetition_penalty);
      if (is_banned(token)) score = kBanned;
      if (config_.forced_bos_token && tokens_.size() == 1) score = token == *config_.forced_bos_token ? 0 : kBanned;
      if (!config_.forced_eos_tokens->empty() && is_last_) {
        score = contains(*config_.forced_eos_tokens, token) ? 0 : kBanned;
      }
      if (contains(*config_.eos_tokens, token) && score > kBanned) score += growth() * std::fabs(score);
      if (contains(*config_.suppress_tokens, token)) score = kBanned;
      const std::size_t begin = config_.forced_bos_token && prompt_ == 1 ? 1 : 0;
      if (generated_ == begin && contains(*config_.begin_suppress_tokens, token)) score = kBanned;
    }
    return scores;
  }

 private:
  static bool contains(const TokenIds& tokens, std::int32_t token) {
    return std::ranges::find(tokens, token) != tokens.end();
  }

  static float penalized(float score, float penalty) { return score < 0 ? score * penalty : score / penalty; }

  // Returns true if the history followed by `token` ends with `word`.
  bool would_end_with(const TokenIds& word, std::int32_t token) const {
    TokenIds next = tokens_;
    next.push_back(token);
    return word.size() <= next.size() && std::equal(word.rbegin(), word.rend(), next.rbegin());
  }
  bool would_repeat(const TokenIds& seen, int size, std::int32_t token) const {
    for (std::size_t end = static_cast<std::size_t>(size); size > 0 && end <= seen.size(); ++end) {
      const auto last = seen.begin() + static_cast<std::ptrdiff_t>(end);
      if (would_end_with(TokenIds(last - size, last), token)) return true;
    }
    return false;
  }

  bool is_banned(std::int32_t token) const {
    const bool is_end = contains(*config_.eos_tokens, token);
    const bool is_bad = std::ranges::any_of(*config_.bad_words, [&](const TokenIds& word) {
      return would_end_with(word, token) && !(is_end && word.size() == 1);
    });
    const bool is_early = config_.min_new_tokens ? static_cast<int>(generated_) < *config_.min_new_tokens
                                                 : static_cast<int>(tokens_.size()) < *config_.min_length;
    return is_bad || (is_end && is_early) || would_repeat(tokens_, *config_.no_repeat_ngram_size, token) ||
           would_repeat(source_, *config_.encoder_no_repeat_ngram_size, token);
  }

  float growth() const {
    const auto& decay = config_.exponential_decay_length_penalty;
    if (!decay || static_cast<int>(generated_) <= decay->start) return 0;
    return std::pow(decay->factor, static_cast<float>(static_cast<int>(generated_) - decay->start)) - 1;
  }

  const GenerateOptions& config_;
  TokenIds tokens_, source_;
  std::size_t prompt_, generated_ = 0;
  bool is_last_ = false;
};

class RandomCase {
 public:
  explicit RandomCase(unsigned seed) : config(with_neutral_values({})), random_(seed) {
    config.repetition_penalty = one_of({1.0f, 1.0f, 0.5f, 2.0f});
    config.encoder_repetition_penalty = one_of({1.0f, 1.0f, 0.5f, 4.0f});
    config.no_repeat_ngram_size = one_of({0, 0, 1, 2, 3});
    config.encoder_no_repeat_ngram_size = one_of({0, 0, 1, 2, 3});
    config.bad_words.emplace();
    for (int word = one_of({0, 0, 1, 3}); word > 0; --word) config.bad_words->push_back(some(one_of({1, 2, 3})));
    config.min_length = one_of({0, 0, 4, 7});
    if (one_of({0, 1}) != 0) config.min_new_tokens = one_of({0, 2, 5});
    if (one_of({0, 0, 1}) != 0) config.forced_bos_token = some(1).front();
    if (one_of({0, 0, 1}) != 0) config.forced_eos_tokens = some(one_of({1, 2}));
    if (one_of({0, 0, 1}) != 0) {
      config.exponential_decay_length_penalty = ExponentialDecay{one_of({0, 2}), one_of({2.0f, 0.5f})};
    }
    config.eos_tokens = some(one_of({0, 1, 2}));
    config.suppress_tokens = some(one_of({0, 0, 2}));
    config.begin_suppress_tokens = some(one_of({0, 0, 2}));
    history.prompt_length = static_cast<std::size_t>(one_of({1, 1, 3}));
    tokens_ = some(static_cast<int>(history.prompt_length) + one_of({0, 0, 1, 2, 4, 9}));
    if (one_of({0, 1}) != 0) tokens_.front() = kVocabulary;
    source_ = some(one_of({0, 1, 8}));
    history.tokens = tokens_;
    history.source = source_;
    history.new_token_limit = history.generated() + static_cast<std::size_t>(one_of({1, 2, 5}));
    std::normal_distribution<float> normal(0, 3);
    for (int i = 0; i < kVocabulary; ++i) scores.push_back(normal(random_));
  }

  GenerateOptions config;
  TokenHistory history;
  ScoreList scores;

 private:
  static constexpr int kVocabulary = 7;

  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  TokenIds some(int count) {
    TokenIds tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(static_cast<std::int32_t>(random_() % kVocabulary));
    return tokens;
  }

  std::mt19937 random_;
  TokenIds tokens_, source_;
};

TEST(MakeLogitsProcessors, AgreeWithTheirDefinitionsForAnySettingsAndHistory) {
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    const RandomCase test(seed);
    const ScoreList expected = SlowRules(test.config, test.history).process(test.scores);
    const ScoreList actual = processed_by(make_logits_processors(test.config), test.history, test.scores);
    // Powers of two make all factors exact. What remains is the rounding of one product and of one sum.
    ASSERT_THAT(actual, testing::Pointwise(testing::FloatEq(), expected)) << "seed " << seed;
  }
}

TEST(MakeLogitsProcessors, ProcessorsReportWhenTheyMayChangeScores) {
  std::size_t changes = 0;
  ProcessorScratch scratch;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    const RandomCase test(seed);
    for (const auto& rule : make_logits_processors(test.config)) {
      ScoreList scores = test.scores;
      rule.process(test.history, scores, scratch);
      for (std::size_t token = 0; token < scores.size(); ++token) {
        if (scores[token] == kBanned || scores[token] == test.scores[token]) continue;
        ASSERT_TRUE(rule.changes_scores(test.history)) << "seed " << seed;
        ++changes;
      }
    }
  }
  EXPECT_GT(changes, 0u);
}

}  // namespace
}  // namespace encdec
