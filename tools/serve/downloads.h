#pragma once

#include <encdec/engine/base/mutex.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "serve/http/random_id.h"

namespace encdec::serve {

// Translated files, kept in memory until they are fetched. If they take more than 64 MiB, the oldest are dropped.
// Thread-safe.
class Downloads {
 public:
  // Adds a file and returns the path to fetch it by, which cannot be guessed.
  std::string add(std::string content, const std::string& extension) {
    const MutexLock lock(mutex_);
    std::string name = random_id() + extension;
    bytes_ += bytes_of(content);
    files_.emplace_back(name, std::move(content));
    while (bytes_ > kMaxBytes && files_.size() > 1) {
      bytes_ -= bytes_of(files_.front().second);
      files_.pop_front();
    }
    return "/download_file/" + name;
  }

  // Returns the content of a file and, with Fetch::remove, removes the file. Returns nullopt for an unknown name.
  enum class Fetch { keep, remove };
  std::optional<std::string> find(const std::string& name, Fetch fetch) {
    const MutexLock lock(mutex_);
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
    constexpr std::size_t kEntry = 256;  // estimate for the name and the overhead of allocations
    return content.size() + kEntry;
  }

  Mutex mutex_;
  std::deque<File> files_ ENCDEC_GUARDED_BY(mutex_);  // oldest first
  std::size_t bytes_ ENCDEC_GUARDED_BY(mutex_) = 0;
};

}  // namespace encdec::serve
