#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

// Annotations for clang's -Wthread-safety, which checks that a member is used only while its mutex
// is held. Other compilers ignore them.
#if defined(__clang__)
#define ENCDEC_ANNOTATION(attribute) __attribute__((attribute))
#else
#define ENCDEC_ANNOTATION(attribute)
#endif
#define ENCDEC_GUARDED_BY(mutex) ENCDEC_ANNOTATION(guarded_by(mutex))
#define ENCDEC_REQUIRES(...) ENCDEC_ANNOTATION(requires_capability(__VA_ARGS__))

namespace encdec {

// std::mutex with annotations.
class ENCDEC_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() ENCDEC_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() ENCDEC_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex in a scope.
class ENCDEC_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ENCDEC_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() ENCDEC_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// std::condition_variable for a Mutex. Waits may return early; check the condition in a loop.
class Condition {
 public:
  void wait(Mutex& mutex) ENCDEC_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    lock.release();
  }
  void wait_for(Mutex& mutex, std::chrono::nanoseconds time) ENCDEC_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait_for(lock, time);
    lock.release();
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace encdec
