#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "serve/http/random_id.h"

namespace encdec::serve {

// Files that were translated, in memory until they are fetched; the oldest are dropped to make room. Thread-safe.
class Downloads {
 public:
  // Returns the path of its address.
  std::string add(std::string content, const std::string& extension) {
    const std::lock_guard lock(mutex_);
    std::string name = random_id() + extension;
    bytes_ += bytes_of(content);
    files_.emplace_back(name, std::move(content));
    while (bytes_ > kMaxBytes && files_.size() > 1) {
      bytes_ -= bytes_of(files_.front().second);
      files_.pop_front();
    }
    return "/download_file/" + name;
  }

  enum class Fetch { keep, remove };
  std::optional<std::string> find(const std::string& name, Fetch fetch) {
    const std::lock_guard lock(mutex_);
    const auto file = std::ranges::find(files_, name, &File::first);
    if (file == files_.end()) return std::nullopt;
    if (fetch == Fetch::keep) return file->second;
    std::string content = std::move(file->second);
    bytes_ -= bytes_of(content);
    files_.erase(file);
    return content;
  }

 private:
  using File = std::pair<std::string, std::string>;  // name and content
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static std::size_t bytes_of(const std::string& content) {
    constexpr std::size_t kEntry = 256;  // its name, and what allocations take beside it
    return content.size() + kEntry;
  }

  std::mutex mutex_;
  std::deque<File> files_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace encdec::serve
