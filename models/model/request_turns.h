#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "encdec/models/model/request_state.h"

namespace encdec {

// A queue's waiting requests in the order of their turns (see RequestQueue). Not thread-safe.
class RequestTurns {
 public:
  // Adds waiting jobs to a request. If the request had no waiting jobs, adds the request to its client's requests.
  void add(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client);
  // Removes a request and returns its waiting jobs.
  std::deque<DecodeJob> remove(RequestState& request);

  bool empty() const { return lines_[line()].empty(); }
  // Returns the request whose turn is next. REQUIRES: not empty().
  const std::shared_ptr<RequestState>& first() const { return lines_[line()].front().requests.front(); }
  std::size_t job_count() const { return job_count_; }  // thread-safe

  // Removes the jobs that start next in a batch with this capacity, and appends them to `jobs`.
  // `idle_workers`: number of other workers that wait for jobs. The rules:
  // - round robin: a turn takes one job from one client; the requests of a client take turns too;
  // - no overtaking: stops at the first job that does not fit; the client of this job keeps the turn;
  // - yielding: a request that yields starts one job, in an empty batch, if no other request waits;
  // - equal shares: a new batch leaves each idle worker an equal share of the waiting jobs.
  void take(DecodeFeed::Capacity capacity, std::size_t idle_workers, std::vector<DecodeJob>& jobs);

 private:
  // A client with at least one waiting request.
  struct Client {
    explicit Client(std::uint64_t number_) : number(number_) {}

    std::uint64_t number;
    std::deque<std::shared_ptr<RequestState>> requests = {};  // next turn first
  };

  using Line = std::deque<Client>;  // next turn first

  // Returns the index of the line with the next turn. Requests that yield come last.
  std::size_t line() const { return lines_[0].empty() ? 1 : 0; }
  void end_turn(bool is_done);

  std::array<Line, 2> lines_;  // 0: requests that do not yield; 1: requests that yield
  std::atomic<std::size_t> job_count_ = 0;
};

}  // namespace encdec
