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

// The waiting requests of a queue in the order of their turns, which RequestQueue describes. Not thread-safe, except
// for job_count().
class RequestTurns {
 public:
  // Adds waiting jobs to a request, and the request to its client's turn if it is not there yet.
  void add(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client);
  // Removes a request and returns its waiting jobs.
  std::deque<DecodeJob> remove(RequestState& request);

  bool empty() const { return lines_[line()].empty(); }
  // Returns the request whose turn is next. REQUIRES: not empty().
  const std::shared_ptr<RequestState>& first() const { return lines_[line()].front().requests.front(); }
  std::size_t job_count() const { return job_count_; }  // thread-safe

  // Removes the jobs that start next in a batch with this capacity, and appends them to `jobs`. Another `idle_workers`
  // workers wait for jobs. The rules, by name:
  // - round robin: a turn takes one job from a client, whose requests take turns among themselves;
  // - no overtaking: at the first job that does not fit, nothing more is taken, and that job's client keeps its place;
  // - yielding: a job of a request that yields starts alone, in an empty batch, if no other request waits;
  // - equal shares: the first jobs of a batch are at most an equal share of all jobs for this and each idle worker.
  void take(DecodeFeed::Capacity capacity, std::size_t idle_workers, std::vector<DecodeJob>& jobs);

 private:
  // A client with its waiting requests, at least one.
  struct Client {
    explicit Client(std::uint64_t number_) : number(number_) {}

    std::uint64_t number;
    std::deque<std::shared_ptr<RequestState>> requests = {};  // next turn first
  };

  using Line = std::deque<Client>;  // next turn first

  // Returns the index of the line whose first client has the next turn.
  std::size_t line() const { return lines_[0].empty() ? 1 : 0; }
  void end_turn(bool is_done);

  std::array<Line, 2> lines_;  // one for requests that do not yield, one for those that do
  std::atomic<std::size_t> job_count_ = 0;
};

}  // namespace encdec
