#include "encdec/models/model/request_turns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace encdec {

void RequestTurns::add(std::shared_ptr<RequestState> request, std::vector<DecodeJob> jobs, std::uint64_t client) {
  job_count_ += jobs.size();
  const bool has_turn = !request->waiting.empty();
  std::ranges::move(jobs, std::back_inserter(request->waiting));
  if (has_turn || request->waiting.empty()) return;
  const auto known = client == 0 ? clients_.end() : std::ranges::find(clients_, client, &Client::number);
  Client& owner = known != clients_.end() ? *known : clients_.emplace_back(client);
  owner.requests.push_back(std::move(request));
}

std::deque<DecodeJob> RequestTurns::remove(RequestState& request) {
  for (Client& client : clients_) {
    std::erase_if(client.requests, [&](const auto& other) { return other.get() == &request; });
  }
  std::erase_if(clients_, [](const Client& client) { return client.requests.empty(); });
  job_count_ -= request.waiting.size();
  return std::exchange(request.waiting, {});
}

void RequestTurns::take(const VocabularyShortlist* shortlist, DecodeFeed::Capacity capacity, std::size_t idle_workers,
                        std::vector<DecodeJob>& jobs) {
  const bool begins_batch = capacity.is_idle;
  const std::size_t share =
      begins_batch && idle_workers > 0 ? job_count_ / (idle_workers + 1) + 1 : std::numeric_limits<std::size_t>::max();
  std::size_t next = 0;  // index of the next client
  while (next < clients_.size() && jobs.size() < share) {
    const std::shared_ptr<RequestState> request = clients_[next].requests.front();
    if (!request->is_over()) {
      if (request->shortlist() != shortlist) {
        if (!begins_batch || jobs.empty()) return;
        ++next;
        continue;
      }
      DecodeJob& job = request->waiting.front();
      if (!request->is_empty(job) && !capacity.take(job)) break;
      job.client = request;
      jobs.push_back(std::move(job));
      request->waiting.pop_front();
      --job_count_;
    }
    const bool is_done = request->is_over() || request->waiting.empty();
    if (is_done) job_count_ -= std::exchange(request->waiting, {}).size();
    if (is_done || shortlist == nullptr) end_turn(next, is_done);
  }
  const bool has_filled_batch = !jobs.empty() && shortlist != nullptr && next < clients_.size();
  if (has_filled_batch && clients_[next].requests.front()->shortlist() == shortlist) end_turn(next, false);
}

// Ends the turn of a client and of its first request, which is removed if it is done.
// If memory is short, the client keeps its place.
void RequestTurns::end_turn(std::size_t client, bool is_done) {
  std::deque<std::shared_ptr<RequestState>>& requests = clients_[client].requests;
  if (!is_done) requests.push_back(requests.front());
  requests.pop_front();
  if (!requests.empty()) clients_.push_back(std::move(clients_[client]));
  clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(client));
}

}  // namespace encdec
