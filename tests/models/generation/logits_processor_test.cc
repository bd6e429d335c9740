// Tests the logits processors, and those of sampling, through the settings that make them.
#include "encdec/models/generation/logits_processor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "encdec/models/generation/generation_settings.h"

namespace encdec {
namespace {

using testing::ElementsAre;
using ScoreList = std::vector<float>;

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

LogitsProcessors rules_of(const GenerateOptions& settings) {
  return make_logits_processors(with_neutral_values(settings));
}
LogitsProcessors sampling_of(const GenerateOptions& settings) {
  return make_sampling_processors(with_neutral_values(settings));
}

ScoreList processed(const LogitsProcessors& rules, const TokenHistory& history, ScoreList scores) {
  ProcessorScratch scratch;
  for (const auto& rule : rules) rule.process(history, scores, scratch);
  return scores;
}
ScoreList sampled(const GenerateOptions& settings, ScoreList scores) {
  const TokenIds start{0};
  return processed(sampling_of(settings), {.tokens = start}, std::move(scores));
}

GenerateOptions decay(ExponentialDecay decay, TokenIds eos_tokens) {
  return {.exponential_decay_length_penalty = decay, .eos_tokens = std::move(eos_tokens)};
}

TEST(MakeLogitsProcessors, MakesNoProcessorThatHasNoEffect) {
  EXPECT_TRUE(rules_of({}).empty());
  EXPECT_TRUE(rules_of({.min_length = 5, .min_new_tokens = 0, .eos_tokens = TokenIds{0}}).empty());
  EXPECT_TRUE(rules_of({.min_length = 5}).empty()) << "there is no end token";
  EXPECT_TRUE(rules_of(decay({.start = 1, .factor = 2}, {})).empty()) << "there is no end token";
  EXPECT_TRUE(sampling_of({.top_k = 0}).empty());
}

TEST(MakeLogitsProcessors, ForcedTokensAndDecayReportStepsAtWhichTheyChangeNothing) {
  const TokenIds tokens{1, 1};
  const TokenHistory history{.tokens = tokens, .new_token_limit = 3};
  EXPECT_FALSE(rules_of({.forced_bos_token = 0}).front().changes_scores(history));
  EXPECT_FALSE(rules_of({.forced_eos_tokens = TokenIds{0}}).front().changes_scores(history));
  EXPECT_FALSE(rules_of(decay({.start = 1, .factor = 2}, {0})).front().changes_scores(history));
}

TEST(MakeLogitsProcessors, DecayNeverMakesAScoreInfinite) {
  const TokenIds tokens(1000, 3);
  EXPECT_THAT(processed(rules_of(decay({.start = 0, .factor = 1e6f}, {0, 1, 2})), {.tokens = tokens}, {-8, 0, kMax}),
              ElementsAre(kMax, 0, kMax));
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
      return !word.empty() && would_end_with(word, token) && !(is_end && word.size() == 1);
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
    for (int word = one_of({0, 0, 1, 3}); word > 0; --word) config.bad_words->push_back(some(one_of({0, 1, 2, 3})));
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
    // Sources and files may name tokens that the vocabulary lacks.
    if (one_of({0, 0, 1}) != 0 && !source_.empty()) source_.front() = kVocabulary + 1;
    if (one_of({0, 0, 1}) != 0) config.suppress_tokens->push_back(one_of({-1, int{kVocabulary}}));
    history.tokens = tokens_;
    history.source = source_;
    history.new_token_limit = history.generated() + static_cast<std::size_t>(one_of({1, 2, 5}));
    std::normal_distribution<float> normal(0, 3);
    for (int i = 0; i < kVocabulary; ++i) scores.push_back(one_of({0, 0, 0, 1}) != 0 ? kBanned : normal(random_));
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
    const ScoreList actual = processed(rules_of(test.config), test.history, test.scores);
    // Powers of two make all factors exact. What remains is the rounding of one product and of one sum.
    ASSERT_THAT(actual, testing::Pointwise(testing::FloatEq(), expected)) << "seed " << seed;
  }
}

TEST(MakeLogitsProcessors, ProcessorsReportWhenTheyMayChangeScores) {
  std::size_t changes = 0;
  ProcessorScratch scratch;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    const RandomCase test(seed);
    for (const auto& rule : rules_of(test.config)) {
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

// Two of three tokens are equally likely, one has half their weight: 0.4, 0.4 and 0.2.
TEST(MakeSamplingProcessors, DividesByTheTemperatureBeforeItCutsOff) {
  const ScoreList scores{std::log(4.0f), std::log(2.0f), std::log(4.0f)};
  EXPECT_THAT(sampled({.top_k = 2, .top_p = 0.7f}, scores), ElementsAre(scores[0], kBanned, scores[2]));
  EXPECT_EQ(sampled({.top_k = 0, .top_p = 0.9f}, scores), scores);
  // The weights become 16 : 1 : 16.
  EXPECT_THAT(sampled({.temperature = 0.25f, .top_k = 0, .top_p = 0.9f}, scores),
              ElementsAre(scores[0] * 4, kBanned, scores[2] * 4));
  EXPECT_TRUE(sampling_of({.temperature = 0.25f}).front().changes_scores({}));
}

TEST(MakeSamplingProcessors, KeepScoresThatAreNotADistribution) {
  EXPECT_THAT(sampled({.top_k = 0, .top_p = 0.5f}, {1, kInfinity, 2}), ElementsAre(1, kInfinity, 2));
  EXPECT_THAT(sampled({.top_k = 0, .top_p = 0.5f}, {1, kNaN, 2}), ElementsAre(1, testing::IsNan(), 2));
  EXPECT_THAT(sampled({.top_k = 0, .top_p = 0.5f}, {kBanned, kBanned}), ElementsAre(kBanned, kBanned));
  EXPECT_THAT(sampled({.top_k = 1}, {kNaN, 1, 2}), ElementsAre(testing::IsNan(), kBanned, 2));
}

// Sets the minimum number of tokens to keep: a beam keeps one more than there are end tokens.
ScoreList kept(GenerateOptions settings, std::size_t min_tokens, ScoreList scores) {
  settings.num_beams = min_tokens > 1 ? 2 : 1;
  settings.eos_tokens = TokenIds(min_tokens - 1);
  return sampled(settings, std::move(scores));
}

// Many of the scores are equal, and some are banned.
ScoreList random_scores(std::mt19937& random) {
  ScoreList scores(1 + random() % 300);
  std::normal_distribution<float> normal(0, static_cast<float>(1 + random() % 4));
  const bool rounds = random() % 2 == 0;
  for (float& score : scores) score = rounds ? std::round(normal(random)) : normal(random);
  for (std::size_t i = 0; i < scores.size() / 3; ++i) scores[random() % scores.size()] = kBanned;
  return scores;
}

TEST(TopK, AgreesWithASort) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    const ScoreList scores = random_scores(random);
    const std::size_t count = 1 + random() % (scores.size() + 3), min_tokens = 1 + random() % 4;
    ScoreList sorted = scores, expected = scores;
    std::ranges::sort(sorted, std::greater());
    const float lowest = sorted[std::min(std::max(count, min_tokens), sorted.size()) - 1];
    for (float& score : expected) score = score < lowest ? kBanned : score;
    ASSERT_EQ(kept({.top_k = static_cast<int>(count)}, min_tokens, scores), expected) << "round " << round;
  }
}

// Sorts the scores and drops one token after another. Returns nullopt if a sum is so close to the limit that rounding
// decides.
std::optional<ScoreList> dropped_one_by_one(double p, std::size_t min_tokens, const ScoreList& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [&](std::size_t a, std::size_t b) { return scores[a] != scores[b] ? scores[a] < scores[b] : a > b; });
  double total = 0;
  for (const float score : scores) total += std::exp(double{score});
  ScoreList result = scores;
  double sum = 0;
  for (std::size_t i = 0; i + min_tokens < order.size(); ++i) {
    sum += std::exp(double{scores[order[i]]}) / total;
    if (std::fabs(sum - (1 - p)) < 1e-5) return std::nullopt;
    if (sum > 1 - p) break;
    result[order[i]] = kBanned;
  }
  return result;
}

TEST(TopP, AgreesWithASort) {
  std::mt19937 random(7);
  int compared = 0;
  for (int round = 0; round < 500; ++round) {
    const ScoreList scores = random_scores(random);
    const float p = static_cast<float>(random() % 100) / 100;
    const std::size_t min_tokens = 1 + random() % 4;
    const auto expected = dropped_one_by_one(double{p}, min_tokens, scores);
    if (!expected) continue;
    ASSERT_EQ(kept({.top_k = 0, .top_p = p}, min_tokens, scores), *expected) << "round " << round << ", p " << p;
    ++compared;
  }
  EXPECT_GT(compared, 400);
}

}  // namespace
}  // namespace encdec
