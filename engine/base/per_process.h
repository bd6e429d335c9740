#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <utility>

namespace encdec {

// Holds one T per process. After a fork the child creates its own T and never uses or destroys the
// parent's: the parent's threads do not exist in the child, and its mutexes may be locked.
// Thread-safe.
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

  // Returns this process's T, or null if this process has not called get() yet.
  T* find() const {
    const Entry* known = entry_;
    return known != nullptr && known->is_ours() ? known->value.get() : nullptr;
  }
  // Returns this process's T. The first call creates it with `make`, which returns a unique_ptr. If
  // several threads call `make` at once, one T is kept and the others are destroyed.
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
