#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "encdec/engine/base/mutex.h"
#include "encdec/engine/base/per_process.h"
#include "encdec/models/session/session.h"

namespace encdec {

// A pool of sessions of one model. Each call leases a session and returns it. Thread-safe. A forked
// process starts with an empty pool.
class SessionPool {
  struct Idle;

 public:
  // Each session has a team of `threads` threads. `draft` is the draft model, or null.
  SessionPool(std::shared_ptr<const Transformer> model, int threads, std::shared_ptr<const Transformer> draft = nullptr)
      : model_(std::move(model)), draft_(std::move(draft)), threads_(threads) {}

  // A session for the duration of one call, without sources and targets at first.
  class Lease {
   public:
    // Leases an idle session or creates a session. Throws ResourceError if the threads cannot be started.
    explicit Lease(SessionPool& pool)
        : idle_(pool.idle_.get([] { return std::make_unique<Idle>(); })), session_(pool.take(idle_)) {}
    // Returns the session to the pool, or destroys it if an exception is propagating: the call may
    // have stopped between setting a size and allocating the memory.
    ~Lease() {
      const MutexLock lock(idle_.mutex);
      if (std::uncaught_exceptions() > exceptions_) {
        --idle_.session_count;
      } else {
        idle_.sessions.push_back(std::move(session_));  // does not allocate: take() has reserved the space
      }
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Session& operator*() { return *session_; }
    Session* operator->() { return session_.get(); }

   private:
    Idle& idle_;
    std::unique_ptr<Session> session_;
    int exceptions_ = std::uncaught_exceptions();
  };

 private:
  // Sessions that are not leased.
  struct Idle {
    Mutex mutex;
    // Has capacity for all sessions, so that returning one does not allocate.
    std::vector<std::unique_ptr<Session>> sessions ENCDEC_GUARDED_BY(mutex);
    // Number of idle and leased sessions; may be too large after an exception.
    std::size_t session_count ENCDEC_GUARDED_BY(mutex) = 0;
  };

  std::unique_ptr<Session> take(Idle& idle) const {
    const MutexLock lock(idle.mutex);
    if (idle.sessions.empty()) {
      auto session = std::make_unique<Session>(model_, std::make_shared<ThreadTeam>(threads_), draft_);
      if (idle.sessions.capacity() == idle.session_count) idle.sessions.reserve(2 * idle.session_count + 1);
      ++idle.session_count;
      return session;
    }
    // Remove the sources, targets, times and observers of the previous lease.
    std::unique_ptr<Session> session = std::move(idle.sessions.back());
    idle.sessions.pop_back();
    session->reset();
    session->reset_times();
    session->set_observer({});
    session->set_run_observer({});
    session->set_source_attention(Session::SourceAttention::forget);
    return session;
  }

  std::shared_ptr<const Transformer> model_;
  std::shared_ptr<const Transformer> draft_;
  int threads_;
  PerProcess<Idle> idle_;
};

}  // namespace encdec
