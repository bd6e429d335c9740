#include "server/turns.h"

#include <encdec/engine/base/cancellation.h>

#include <boost/asio/post.hpp>

namespace encdec::serve {

Turns::~Turns() {
  stop();
  // The waiting tasks are destroyed after the lock is released, because their destructors may call add().
  Lane small, large;
  const MutexLock lock(mutex_);
  small.swap(small_);
  large.swap(large_);
}

void Turns::stop() {
  has_stopped_ = true;
  pool_.stop();
  pool_.join();
}

void Turns::add(const Owner& owner, std::unique_ptr<Task> task) {
  if (has_stopped_) return;
  {
    const MutexLock lock(mutex_);
    Lane& lane = *owner.is_large ? large_ : small_;
    auto client = std::ranges::find(lane, owner.client, &Client::number);
    if (client == lane.end()) client = lane.insert(client, {.number = owner.client});
    client->tasks.push_back({owner.check, std::move(task)});
  }
  asio::post(pool_, [this] { run_next(); });
}

// Runs the next task. Prefers large tasks, unless large tasks already occupy all threads but one.
void Turns::run_next() {
  Waiting next;
  bool is_large = false;
  {
    const MutexLock lock(mutex_);
    is_large = !large_.empty() && large_running_ < std::max<std::size_t>(threads_ - 1, 1);
    Lane& lane = is_large ? large_ : small_;
    if (lane.empty()) return;  // only large tasks wait; a running task will post run_next() again when it ends
    Client& client = lane.front();
    next = std::move(client.tasks.front());
    client.tasks.pop_front();
    // Move the client to the end of the lane, or remove a client without further tasks.
    if (client.tasks.empty()) {
      lane.pop_front();
    } else {
      lane.splice(lane.end(), lane, lane.begin());
    }
    if (is_large) ++large_running_;
  }
  {
    const CancellationScope scope(*next.check);
    next.task->run();
    next = {};
  }
  if (!is_large) return;
  {
    const MutexLock lock(mutex_);
    --large_running_;
  }
  asio::post(pool_, [this] { run_next(); });
}

}  // namespace encdec::serve
