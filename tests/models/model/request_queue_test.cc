#include "encdec/models/model/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "tests/models/model_cases.h"
#include "tests/support/random_marian.h"

namespace encdec::model_cases {
namespace {

using testing::HasSubstr;

// The results and failures of a request, for which a test can wait.
class Outcome {
 public:
  GenerateHandlers handlers() {
    return {.on_result = [this](std::size_t source, GenerateResult result) { add(source, std::move(result)); },
            .on_failure = [this](std::size_t source, std::exception_ptr failure) { fail(source, failure); }};
  }

  // Waits until `sources` sources have finished or failed. Returns false after ten minutes, because sanitizers are
  // slow.
  bool wait(std::size_t sources) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(10), [&] { return order.size() >= sources; });
  }
  std::size_t finished() {
    const std::lock_guard lock(mutex_);
    return order.size();
  }

  // Read these only after all sources have finished.
  std::map<std::size_t, GenerateResult> results;
  std::map<std::size_t, std::string> failures;
  std::vector<std::size_t> order;

 private:
  void add(std::size_t source, GenerateResult result) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(results.emplace(source, std::move(result)).second);
    finish(source);
  }
  void fail(std::size_t source, const std::exception_ptr& exception) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(failures.emplace(source, message_of([&] { std::rethrow_exception(exception); })).second);
    finish(source);
  }
  void finish(std::size_t source) {
    order.push_back(source);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
};

std::vector<GenerateInput> inputs_of(const std::vector<TokenIds>& sources) {
  std::vector<GenerateInput> inputs;
  for (const TokenIds& source : sources) inputs.push_back({source});
  return inputs;
}

void expect_equal(const GenerateResult& found, const GenerateResult& expected) {
  ASSERT_EQ(found.hypotheses.size(), expected.hypotheses.size());
  for (std::size_t h = 0; h < found.hypotheses.size(); ++h) {
    EXPECT_EQ(found.hypotheses[h].token_ids, expected.hypotheses[h].token_ids);
    EXPECT_EQ(found.hypotheses[h].score, expected.hypotheses[h].score);
    EXPECT_EQ(found.hypotheses[h].token_scores, expected.hypotheses[h].token_scores);
    EXPECT_EQ(found.hypotheses[h].finish_reason, expected.hypotheses[h].finish_reason);
  }
  EXPECT_EQ(found.source_tokens, expected.source_tokens);
}

// Options that differ as much as possible.
std::vector<GenerateOptions> many_rules() {
  return {
      {.max_new_tokens = 30},
      {.num_beams = 4, .num_return_sequences = 3, .max_new_tokens = 25},
      {.num_beams = 2, .max_new_tokens = 12, .coverage_penalty = 0.3f},
      {.num_return_sequences = 3, .max_new_tokens = 20, .do_sample = true, .seed = 5},
      {.max_new_tokens = 9, .repetition_penalty = 1.5f, .no_repeat_ngram_size = 2, .top_log_probs = 2},
      {.num_beams = 3, .max_new_tokens = 15, .force_words = std::vector<TokenIds>{{7, 9}}},
      {.max_new_tokens = 15, .shortlist = TokenIds{9, 3, 14, 5, 17}},
      {.num_beams = 2, .max_new_tokens = 15, .shortlist = TokenIds{4, 6, 8, 10}},
  };
}

TEST(RequestQueue, SourcesOfManyCallersWithDifferentOptionsGetTheResultsThatTheyGetAlone) {
  const RandomMarian checkpoint;
  const Model model = Model::load(checkpoint.folder(), {.threads = 2});
  const auto rules = many_rules();
  const auto sources = random_sources(12, 30, RandomMarian::kVocabulary);
  std::vector<std::vector<GenerateResult>> expected;
  for (const GenerateOptions& options : rules) expected.push_back(model.generate_ids(sources, options));

  for (const int workers : {1, 3}) {
    RequestQueue queue(model, {.workers = workers, .batch_size = workers == 1 ? 0 : 5});
    constexpr std::size_t kRounds = 3;
    std::vector<std::vector<Outcome>> outcomes(rules.size());
    std::vector<std::thread> callers;
    for (std::size_t r = 0; r < rules.size(); ++r) {
      outcomes[r] = std::vector<Outcome>(kRounds);
      callers.emplace_back([&, r] {
        for (Outcome& outcome : outcomes[r]) queue.submit(inputs_of(sources), rules[r], outcome.handlers());
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (std::size_t r = 0; r < rules.size(); ++r) {
      for (Outcome& outcome : outcomes[r]) {
        ASSERT_TRUE(outcome.wait(sources.size())) << "rules " << r;
        for (std::size_t i = 0; i < sources.size(); ++i) expect_equal(outcome.results[i], expected[r][i]);
      }
    }
  }
}

TEST(RequestQueue, ResultsAreReportedAsTheyFinishAndTokensBeforeThem) {
  const RandomMarian checkpoint;
  const Model model = Model::load(checkpoint.folder(), {.threads = 1});
  RequestQueue queue(model);
  const auto sources = random_sources(2, 9, RandomMarian::kVocabulary);
  Outcome slow, quick;
  TokenIds streamed;
  GenerateHandlers handlers = quick.handlers();
  std::vector<float> scores;
  handlers.on_tokens = [&](std::size_t source, std::span<const std::int32_t> tokens, std::span<const float> more) {
    EXPECT_EQ(source, 0u);
    EXPECT_EQ(quick.finished(), 0u);
    streamed.insert(streamed.end(), tokens.begin(), tokens.end());
    scores.insert(scores.end(), more.begin(), more.end());
  };
  queue.submit(inputs_of({sources[0]}), {.max_new_tokens = 400, .min_new_tokens = 400}, slow.handlers());
  const GenerateInput input{sources[1], TokenIds{5, 6}};
  queue.submit(std::span(&input, 1), {.max_new_tokens = 4, .min_new_tokens = 4}, handlers);
  ASSERT_TRUE(quick.wait(1));
  EXPECT_EQ(slow.finished(), 0u);
  EXPECT_EQ(streamed, quick.results[0].hypotheses.front().token_ids);
  EXPECT_EQ(scores, quick.results[0].hypotheses.front().token_scores);
  ASSERT_EQ(streamed.size(), 6u);
  EXPECT_EQ(streamed[1], 6);
  ASSERT_TRUE(slow.wait(1));
}

TEST(RequestQueue, WaitingRequestsCanBeCancelled) {
  const Model model = load("shared_swish");
  RequestQueue queue(model, {.batch_size = 1});
  Outcome first, second, third;
  const GenerateOptions options{.max_new_tokens = 30, .min_new_tokens = 30};
  const auto sources = random_sources(5, 9, 20);
  std::mutex cancelling;
  GenerateHandlers waiting = first.handlers();
  waiting.on_tokens = [&](std::size_t, std::span<const std::int32_t>, std::span<const float>) {
    const std::lock_guard lock(cancelling);  // blocks the worker
  };
  {
    const std::lock_guard lock(cancelling);
    queue.submit(inputs_of(sources), options, waiting);
    const Request request = queue.submit(inputs_of(sources), options, second.handlers());
    request.cancel();
    request.cancel();
  }
  queue.submit(inputs_of(sources), options, third.handlers());
  ASSERT_TRUE(third.wait(5));
  ASSERT_TRUE(first.wait(5));
  EXPECT_EQ(second.finished(), 0u);
  Request().cancel();
}

TEST(RequestQueue, RequestsTakeTurnsWithAShortlistOrWithout) {
  const Model model = load("shared_swish");
  RequestQueue queue(model, {.batch_size = 2});
  const GenerateOptions plain{.max_new_tokens = 10};
  const GenerateOptions some{.max_new_tokens = 10, .shortlist = TokenIds{9, 3, 14, 5, 17}};
  const GenerateOptions others{.max_new_tokens = 10, .shortlist = TokenIds{4, 6, 8, 10}};
  const auto inputs = inputs_of(random_sources(500, 9, 20)), one = inputs_of(random_sources(1, 9, 20));
  for (const auto& [client, rules] : {std::pair(std::uint64_t{0}, plain), {0, some}, {7, some}}) {
    Outcome many, single, single_of_others;
    queue.submit(inputs, rules, many.handlers(), client);
    queue.submit(one, plain, single.handlers(), client);
    queue.submit(one, others, single_of_others.handlers());
    ASSERT_TRUE(single.wait(1));
    ASSERT_TRUE(single_of_others.wait(1));
    EXPECT_LT(many.finished(), 250u) << client;
    ASSERT_TRUE(many.wait(500));
  }
}

TEST(RequestQueue, ClientsTakeTurnsHoweverManyRequestsTheyHave) {
  const Model model = load("shared_swish");
  RequestQueue queue(model, {.batch_size = 2});
  constexpr std::size_t kRequests = 50, kSources = 10;
  std::vector<Outcome> many(kRequests);
  Outcome single;
  const GenerateOptions options{.max_new_tokens = 10};
  const auto inputs = inputs_of(random_sources(kSources, 9, 20));
  for (Outcome& outcome : many) queue.submit(inputs, options, outcome.handlers(), 7);
  queue.submit(inputs, options, single.handlers(), 8);
  ASSERT_TRUE(single.wait(kSources));
  std::size_t finished = 0;
  for (Outcome& outcome : many) finished += outcome.finished();
  EXPECT_LT(finished, kRequests * kSources / 2);  // if requests took turns, client 8 would be nearly last
  for (Outcome& outcome : many) ASSERT_TRUE(outcome.wait(kSources));
}

TEST(RequestQueue, ARequestWithBadInputIsRefusedAsAWhole) {
  const Model model = load("shared_swish");
  RequestQueue queue(model);
  Outcome outcome;
  EXPECT_THAT(message_of([&] {
                queue.submit(inputs_of({{1, 2}, {99}}), {}, outcome.handlers());
              }),
              HasSubstr("source 2: token id 99"));
  EXPECT_THAT(message_of([&] { queue.submit(inputs_of({{1}}), {.num_beams = 0}, outcome.handlers()); }),
              HasSubstr("num_beams is 0"));
  GenerateHandlers handlers = outcome.handlers();
  handlers.on_tokens = [](std::size_t, std::span<const std::int32_t>, std::span<const float>) {};
  EXPECT_THAT(
      message_of([&] { queue.submit(inputs_of({{1}}), {.num_beams = 2, .num_return_sequences = 2}, handlers); }),
      HasSubstr("num_return_sequences is 2, expected 1"));
  EXPECT_THAT(message_of([&] { RequestQueue(model, {.workers = 0}); }), HasSubstr("workers is 0, expected 1 to 1024"));
  EXPECT_THAT(message_of([&] { RequestQueue(model, {.batch_size = -1}); }), HasSubstr("batch_size is -1"));

  queue.submit(inputs_of({{1, 2}, {}}), {.max_new_tokens = 3}, outcome.handlers());
  ASSERT_TRUE(outcome.wait(2));
  EXPECT_TRUE(outcome.results[1].hypotheses.front().token_ids.empty());
}

// A weight of the embedding of one source token is NaN.
TEST(RequestQueue, ASourceThatFailsDoesNotAffectOthers) {
  const TempFolder folder;
  std::filesystem::copy(kMarianCases / "separate_vocabulary" / "model", folder.path());
  std::string bytes = read_text_file(folder / "model.safetensors", 1u << 20);
  const std::string name = "model.encoder.embed_tokens.weight";
  const Checkpoint checkpoint = open_checkpoint(folder.path());
  const Tensor& table = *checkpoint.weights->find(name);
  const std::string_view row(reinterpret_cast<const char*>(table.row(5)), sizeof(float));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t position = bytes.find(row);
  ASSERT_NE(position, std::string::npos);
  bytes.replace(position, sizeof nan, std::string(reinterpret_cast<const char*>(&nan), sizeof nan));
  folder.write("model.safetensors", bytes);

  const Model model = Model::load(folder.path(), {.threads = 2});
  const std::vector<TokenIds> good{{1, 2, 3}, {7, 8, 4, 4, 4}};
  const GenerateOptions options{.num_beams = 2, .max_new_tokens = 20};
  const auto expected = model.generate_ids(good, options);
  RequestQueue queue(model);
  Outcome outcome;
  queue.submit(inputs_of({good[0], {1, 5, 3}, good[1]}), options, outcome.handlers());
  ASSERT_TRUE(outcome.wait(3));
  expect_equal(outcome.results[0], expected[0]);
  expect_equal(outcome.results[2], expected[1]);
  EXPECT_THAT(outcome.failures[1], HasSubstr(name));
}

TEST(RequestQueue, AHandlerThatThrowsCancelsOnlyItsRequest) {
  const Model model = load("shared_swish");
  RequestQueue queue(model, {.batch_size = 1});
  int calls = 0;
  GenerateHandlers handlers{.on_result =
                                [&](std::size_t, const GenerateResult&) {
                                  ++calls;
                                  throw std::runtime_error("full");
                                },
                            .on_failure = [&](std::size_t, const std::exception_ptr&) { ++calls; }};
  const auto sources = random_sources(4, 9, 20);
  queue.submit(inputs_of(sources), {.max_new_tokens = 5}, handlers);
  Outcome other;
  queue.submit(inputs_of(sources), {.max_new_tokens = 5}, other.handlers());
  ASSERT_TRUE(other.wait(4));
  EXPECT_EQ(calls, 1);
}

TEST(RequestQueue, ReportsItsStatus) {
  const RandomMarian checkpoint;
  RequestQueue queue(Model::load(checkpoint.folder(), {.threads = 1}), {.batch_size = 2});
  EXPECT_EQ(queue.status().waiting, 0u);
  EXPECT_EQ(queue.status().silence.count(), 0.0);
  Outcome outcome;
  std::promise<void> is_started, may_go_on;
  std::vector<std::size_t> started;
  GenerateHandlers handlers = outcome.handlers();
  std::vector<std::size_t> source_tokens;
  handlers.on_start = [&](std::size_t source, std::size_t tokens) {
    started.push_back(source);
    source_tokens.push_back(tokens);
    if (source > 0) return;
    is_started.set_value();
    may_go_on.get_future().wait();
  };
  const auto sources = random_sources(5, 9, RandomMarian::kVocabulary);
  queue.submit(inputs_of(sources), {.max_new_tokens = 6}, handlers);
  is_started.get_future().wait();
  EXPECT_EQ(queue.status().waiting, 3u);
  EXPECT_EQ(queue.status().steps, 0u);
  const auto before = queue.status().silence;
  while (queue.status().silence == before) std::this_thread::yield();
  EXPECT_GT(queue.status().silence, before);
  may_go_on.set_value();
  ASSERT_TRUE(outcome.wait(sources.size()));
  while (queue.status().silence.count() > 0) std::this_thread::yield();
  EXPECT_THAT(started, testing::ElementsAre(0, 1, 2, 3, 4));
  const QueueStatus status = queue.status();
  EXPECT_EQ(status.waiting, 0u);
  std::size_t tokens = 0;
  for (const auto& [source, result] : outcome.results) {
    tokens += result.hypotheses.front().token_ids.size();
    EXPECT_EQ(source_tokens[source], result.source_tokens);
  }
  EXPECT_EQ(status.rows, tokens);
  EXPECT_GE(status.steps * 2, status.rows);
  EXPECT_LT(status.steps, status.rows);
}

TEST(RequestQueue, CanBeDestroyedWhileItIsBusy) {
  const Model model = load("shared_swish");
  Outcome outcome;
  Request request;
  {
    RequestQueue queue(model, {.workers = 2});
    request = queue.submit(inputs_of(random_sources(300, 9, 20)), {.num_beams = 4, .max_new_tokens = 100},
                           outcome.handlers());
  }
  EXPECT_LT(outcome.finished(), 300u);
  request.cancel();
}

TEST(RequestQueue, AForkedProcessHasItsOwnQueue) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers do not follow a child that starts threads, or take their locks with them";
#endif
  const Model model = load("shared_swish", 2);
  const auto sources = random_sources(20, 9, 20);
  const GenerateOptions options{.max_new_tokens = 10};
  const auto expected = model.generate_ids(sources, options);
  RequestQueue queue(model, {.workers = 2});
  Outcome outcome;
  queue.submit(inputs_of(sources), options, outcome.handlers());
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    Outcome own;
    queue.submit(inputs_of(sources), options, own.handlers());
    const bool is_done = own.wait(sources.size());
    ::_exit(is_done && own.results[7].hypotheses[0].token_ids == expected[7].hypotheses[0].token_ids ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ASSERT_TRUE(outcome.wait(sources.size()));
  for (std::size_t i = 0; i < sources.size(); ++i) expect_equal(outcome.results[i], expected[i]);
}

}  // namespace
}  // namespace encdec::model_cases
