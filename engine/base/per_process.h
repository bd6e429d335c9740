#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

namespace encdec {

// A T of this process: one that is forked makes its own. It leaves that of its parent as it is, for ever: its threads
// are not there and cannot be joined, and its mutexes may have been locked. For any number of threads.
template <class T>
class PerProcess {
 public:
  PerProcess() = default;
  ~PerProcess() {
    const Entry* entry = entry_;
    if (entry != nullptr && entry->is_ours()) delete entry;
  }
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  // This process' T; null if it has none yet.
  T* find() const {
    const Entry* known = entry_;
    return known != nullptr && known->is_ours() ? known->value.get() : nullptr;
  }
  // The same, at first use what `make` gives: a unique_ptr. Where several threads make one, one of them stays.
  template <class Make>
  T& get(Make&& make) {
    const Entry* known = entry_;
    if (known != nullptr && known->is_ours()) return *known->value;
    auto fresh = std::make_unique<const Entry>(Entry{.value = std::forward<Make>(make)()});
    return entry_.compare_exchange_strong(known, fresh.get()) ? *fresh.release()->value : *known->value;
  }

 private:
  struct Entry {
    bool is_ours() const { return process == ::getpid(); }

    ::pid_t process = ::getpid();
    std::unique_ptr<T> value;
  };
  std::atomic<const Entry*> entry_ = nullptr;
};

}  // namespace encdec
