#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace encdec {

inline std::set<pid_t> threads_of(pid_t process) {
  std::set<pid_t> threads;
  std::error_code error;  // /proc may not exist
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
    threads.insert(std::stoi(task.path().filename()));
  }
  return threads;
}

// A guard that stops the threads of a child process, except those in `others`.
class StoppedThreads {
 public:
  StoppedThreads(pid_t process, const std::set<pid_t>& others) {
    for (const pid_t thread : threads_of(process)) {
      if (others.contains(thread)) continue;
      if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return;
      ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
      threads_.push_back(thread);
    }
    has_stopped_ = !threads_.empty();
  }
  ~StoppedThreads() { go_on(); }
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;

  explicit operator bool() const { return has_stopped_; }
  void go_on() {
    for (const pid_t thread : std::exchange(threads_, {})) {
      ::waitpid(thread, nullptr, __WALL);
      ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    }
  }

 private:
  std::vector<pid_t> threads_;
  bool has_stopped_ = false;
};

}  // namespace encdec
