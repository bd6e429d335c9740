#include "serve/unread_answers.h"

#include <fmt/format.h>

#include "serve/http/message.h"

namespace encdec::serve {

void UnreadAnswers::Part::add(std::size_t bytes) {
  const MutexLock lock(answers_.mutex_);
  const auto known = answers_.clients_.find(client_);
  const std::size_t of_client = known != answers_.clients_.end() ? known->second : 0;
  const std::size_t share = answers_.limit_ - answers_.limit_ / 4;
  const bool has_room = answers_.total_ + bytes <= answers_.limit_ && of_client + bytes <= share;
  const bool is_alone = answers_.total_ == bytes_;
  if (!has_room && !is_alone && bytes_ + bytes > kSmall) {
    throw HttpError(503,
                    fmt::format("answers of {} bytes wait to be read, {} of them this client's; expected at most {}, "
                                "and a share of {}",
                                answers_.total_, of_client, answers_.limit_, share),
                    1);
  }
  answers_.clients_[client_] = of_client + bytes;
  answers_.total_ += bytes;
  bytes_ += bytes;
}

UnreadAnswers::Part::~Part() {
  if (bytes_ == 0) return;
  const MutexLock lock(answers_.mutex_);
  answers_.total_ -= bytes_;
  const auto known = answers_.clients_.find(client_);
  known->second -= bytes_;
  if (known->second == 0) answers_.clients_.erase(known);
}

}  // namespace encdec::serve
