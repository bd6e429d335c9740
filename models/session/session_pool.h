#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "encdec/models/session/session.h"

namespace encdec {

// Sessions of one model, kept for later calls when a call is done with them. For any number of threads.
class SessionPool {
 public:
  // Each session gets a team of so many threads.
  SessionPool(std::shared_ptr<const Transformer> model, int threads) : model_(std::move(model)), threads_(threads) {}

  // A session for the time of one call, without sources and targets.
  class Lease {
   public:
    // Takes a session, a new one if all are leased. Throws ResourceError if its threads cannot be started.
    explicit Lease(SessionPool& pool) : pool_(pool), session_(pool.take()) {}
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.idle_.push_back(std::move(session_));  // take() has made room
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    Session& operator*() { return *session_; }        // what was leased
    Session* operator->() { return session_.get(); }  // what was leased

   private:
    SessionPool& pool_;
    std::unique_ptr<Session> session_;
  };

 private:
  std::unique_ptr<Session> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      auto session = std::make_unique<Session>(model_, std::make_shared<ThreadTeam>(threads_));
      if (idle_.capacity() == sessions_) idle_.reserve(2 * sessions_ + 1);
      ++sessions_;
      return session;
    }
    std::unique_ptr<Session> session = std::move(idle_.back());
    idle_.pop_back();
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
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;  // with room for all sessions: giving one back allocates nothing
  std::size_t sessions_ = 0;                    // at least as many as there are
};

}  // namespace encdec
