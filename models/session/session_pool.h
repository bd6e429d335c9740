#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "encdec/models/session/session.h"

namespace encdec {

// Sessions of one model, kept for later calls when a call is done with them. For any number of threads. A process that
// is forked makes its own: the threads of those that were there are in its parent.
class SessionPool {
  struct Idle;

 public:
  // Each session gets a team of so many threads.
  SessionPool(std::shared_ptr<const Transformer> model, int threads)
      : model_(std::move(model)), threads_(threads), idle_(new Idle) {}
  ~SessionPool() {
    if (Idle* idle = idle_; idle->is_ours()) delete idle;
  }
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  // A session for the time of one call, without sources and targets.
  class Lease {
   public:
    // Takes a session, a new one if all are leased. Throws ResourceError if its threads cannot be started.
    explicit Lease(SessionPool& pool) : idle_(pool.idle()), session_(pool.take(idle_)) {}
    ~Lease() {
      const std::lock_guard lock(idle_.mutex);
      idle_.sessions.push_back(std::move(session_));  // take() has made room
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Session& operator*() { return *session_; }        // what was leased
    Session* operator->() { return session_.get(); }  // what was leased

   private:
    Idle& idle_;
    std::unique_ptr<Session> session_;
  };

 private:
  // Sessions that nobody has, and whose process that was.
  struct Idle {
    bool is_ours() const { return process == ::getpid(); }

    ::pid_t process = ::getpid();
    std::mutex mutex;
    std::vector<std::unique_ptr<Session>> sessions;  // with room for all: giving one back allocates nothing
    std::size_t count = 0;                           // of all, at least
  };

  // Those of this process. Those of a parent are left as they are, for ever: threads that are not there cannot be
  // joined, and their mutex may have been locked.
  Idle& idle() {
    Idle* known = idle_;
    if (known->is_ours()) return *known;
    auto fresh = std::make_unique<Idle>();
    return idle_.compare_exchange_strong(known, fresh.get()) ? *fresh.release() : *known;
  }

  std::unique_ptr<Session> take(Idle& idle) const {
    const std::lock_guard lock(idle.mutex);
    if (idle.sessions.empty()) {
      auto session = std::make_unique<Session>(model_, std::make_shared<ThreadTeam>(threads_));
      if (idle.sessions.capacity() == idle.count) idle.sessions.reserve(2 * idle.count + 1);
      ++idle.count;
      return session;
    }
    std::unique_ptr<Session> session = std::move(idle.sessions.back());
    idle.sessions.pop_back();
    session->reset();
    session->reset_times();
    session->set_observer({});
    session->set_run_observer({});
    session->set_shortlist(nullptr);
    session->set_source_attention(Session::SourceAttention::forget);
    return session;
  }

  std::shared_ptr<const Transformer> model_;
  int threads_;
  std::atomic<Idle*> idle_;
};

}  // namespace encdec
