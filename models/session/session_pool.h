#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "encdec/engine/base/per_process.h"
#include "encdec/models/session/session.h"

namespace encdec {

// Sessions of one model, kept for later calls when a call is done with them. For any number of threads, also in a
// process that is forked.
class SessionPool {
  struct Idle;

 public:
  // Each session gets a team of so many threads.
  SessionPool(std::shared_ptr<const Transformer> model, int threads) : model_(std::move(model)), threads_(threads) {}

  // A session for the time of one call, without sources and targets.
  class Lease {
   public:
    // Takes a session, a new one if all are leased. Throws ResourceError if its threads cannot be started.
    explicit Lease(SessionPool& pool)
        : idle_(pool.idle_.get([] { return std::make_unique<Idle>(); })), session_(pool.take(idle_)) {}
    // Gives the session back; after an exception it is destroyed, since work that stopped half-way may have left it
    // with sizes that it could not get memory for.
    ~Lease() {
      const std::lock_guard lock(idle_.mutex);
      if (std::uncaught_exceptions() > exceptions_) {
        --idle_.count;
      } else {
        idle_.sessions.push_back(std::move(session_));  // take() has made room
      }
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Session& operator*() { return *session_; }        // what was leased
    Session* operator->() { return session_.get(); }  // what was leased

   private:
    Idle& idle_;
    std::unique_ptr<Session> session_;
    int exceptions_ = std::uncaught_exceptions();
  };

 private:
  // Sessions that nobody has.
  struct Idle {
    std::mutex mutex;
    std::vector<std::unique_ptr<Session>> sessions;  // with room for all: giving one back allocates nothing
    std::size_t count = 0;                           // of all, at least
  };

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
  PerProcess<Idle> idle_;
};

}  // namespace encdec
