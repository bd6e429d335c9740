#include "encdec/models/model/request_turns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace encdec {

void RequestTurns::add(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client) {
  job_count_ += jobs.size();
  // A request with waiting jobs already has a turn. Otherwise, add the request to its client, or to a new client.
  const bool has_turn = !request->waiting.empty();
  std::ranges::move(jobs, std::back_inserter(request->waiting));
  if (has_turn || request->waiting.empty()) return;
  Line& clients = lines_[request->yields ? 1 : 0];
  const auto known = client == 0 ? clients.end() : std::ranges::find(clients, client, &Client::number);
  Client& owner = known != clients.end() ? *known : clients.emplace_back(client);
  owner.requests.push_back(std::move(request));
}

std::deque<DecodeJob> RequestTurns::remove(RequestState& request) {
  for (Line& clients : lines_) {
    for (Client& client : clients) {
      std::erase_if(client.requests, [&](const auto& other) { return other.get() == &request; });
    }
    std::erase_if(clients, [](const Client& client) { return client.requests.empty(); });
  }
  job_count_ -= request.waiting.size();
  return std::exchange(request.waiting, {});
}

void RequestTurns::take(DecodeFeed::Capacity capacity, std::size_t idle_workers, std::vector<DecodeJob>& jobs) {
  // Compute the maximum number of jobs by the rule of equal shares.
  const std::size_t share = capacity.is_idle && idle_workers > 0 ? job_count_ / (idle_workers + 1) + 1
                                                                 : std::numeric_limits<std::size_t>::max();
  const bool may_yield = capacity.is_idle;
  while (!empty() && jobs.size() < share) {
    const std::shared_ptr<RequestState> request = first();
    if (request->yields && !(may_yield && jobs.empty())) break;
    // Take one job. A job without anything to decode always fits.
    if (!request->is_over()) {
      DecodeJob& job = request->waiting.front();
      if (!request->is_empty(job) && !capacity.take(job)) break;
      job.client = request;
      jobs.push_back(std::move(job));
      request->waiting.pop_front();
      --job_count_;
    }
    // Drop the jobs of a request that is over.
    const bool is_done = request->is_over() || request->waiting.empty();
    if (is_done) job_count_ -= std::exchange(request->waiting, {}).size();
    end_turn(is_done);
  }
}

// Ends the turn of the first client and of its first request. Removes the request if `is_done`. If allocation fails,
// the client keeps its turn.
void RequestTurns::end_turn(bool is_done) {
  Line& clients = lines_[line()];
  std::deque<std::shared_ptr<RequestState>>& requests = clients.front().requests;
  if (!is_done) requests.push_back(requests.front());
  requests.pop_front();
  if (!requests.empty()) clients.push_back(std::move(clients.front()));
  clients.pop_front();
}

}  // namespace encdec
