#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "http/random_id.h"

namespace encdec::serve {

// Files that were translated, until they are fetched: the last ones, in memory.
class Downloads {
 public:
  // The path of its address.
  std::string add(std::string content, const std::string& extension) {
    const std::lock_guard lock(mutex_);
    std::string name = random_id() + extension;
    bytes_ += content.size();
    files_.emplace_back(name, std::move(content));
    while (bytes_ > kMaxBytes && files_.size() > 1) {
      bytes_ -= files_.front().second.size();
      files_.pop_front();
    }
    return "/download_file/" + name;
  }

  std::optional<std::string> find(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, content] : files_) {
      if (known == name) return content;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  mutable std::mutex mutex_;
  std::deque<std::pair<std::string, std::string>> files_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace encdec::serve
