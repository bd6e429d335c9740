// Tests a model that was used and then is used in a forked process, as in Python's multiprocessing and in preloading
// servers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>

#include "tests/models/model_cases.h"

namespace encdec::model_cases {
namespace {

// Returns true if `work` returns true in a child process within a minute.
bool works_in_child(const std::function<bool()>& work) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

constexpr int kThreads = 3;

// Returns the number of threads of this process; kThreads if the system has no /proc.
int threads_of_process() {
  const std::filesystem::path tasks = "/proc/self/task";
  if (!std::filesystem::exists(tasks)) return kThreads;
  return static_cast<int>(std::distance(std::filesystem::directory_iterator(tasks), {}));
}

class Fork : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer does not follow a child that starts threads";
#endif
    model_ = load("shared_swish", kThreads);
    expected_ = generated();
  }

  std::vector<TokenIds> generated() const {
    std::vector<TokenIds> tokens;
    for (const GenerateResult& result : model_->generate_ids(random_sources(9, 40, 20), {.max_new_tokens = 10})) {
      tokens.push_back(result.hypotheses.front().token_ids);
    }
    return tokens;
  }

  std::optional<Model> model_;
  std::vector<TokenIds> expected_;
};

TEST_F(Fork, AChildGeneratesTheSameWithAsManyThreadsAndFreesTheModel) {
  EXPECT_TRUE(works_in_child([&] {
    const bool is_same = generated() == expected_ && generated() == expected_;
    const bool has_threads = threads_of_process() == kThreads;
    const bool is_same_in_grandchild = works_in_child([&] { return generated() == expected_; });
    model_.reset();
    return is_same && has_threads && is_same_in_grandchild;
  }));
  EXPECT_EQ(generated(), expected_);
}

TEST_F(Fork, AChildThatDoesNotUseTheModelFreesIt) {
  EXPECT_TRUE(works_in_child([&] {
    model_.reset();
    return true;
  }));
}

TEST_F(Fork, OtherThreadsMayBeWorking) {
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) load("shared_swish", 2).generate_ids(random_sources(9, 40, 20), {.max_new_tokens = 10});
  });
  for (int child = 0; child < 10; ++child) {
    EXPECT_TRUE(works_in_child([&] { return generated() == expected_; })) << "child " << child;
  }
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace encdec::model_cases
