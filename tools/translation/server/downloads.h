#pragma once

#include <encdec/engine/base/mutex.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace encdec::serve {

// Documents that are being translated, and translations, which are kept until they are fetched, for an hour at most.
// Counts their memory and the documents that are being translated, and keeps both within limits. One client may use at
// most three quarters of each limit, except over a Unix socket, where the client may be a proxy. Thread-safe.
class Downloads {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::chrono::hours kTime{1};

  struct File {
    std::string name, content = {};
    std::string problem = {};  // Translation::problem of one of its texts
  };

  // `unfinished` is the maximum number of documents that are being translated.
  explicit Downloads(std::size_t unfinished) : max_unfinished_(unfinished) {}

  // A document that is being translated. The destructor drops it unless it has finished.
  class Upload {
   public:
    // Adds a document of `client` (see client_of). Throws HttpError, as set_bytes() does, if too many documents are
    // being translated.
    Upload(Downloads& downloads, std::string client);
    Upload(const Upload& other) = delete;
    Upload& operator=(const Upload& other) = delete;
    ~Upload();

    const std::string& id() const { return id_; }
    // Counts the bytes of memory that the document takes in all. Throws HttpError if that exceeds a limit: 413 for the
    // document alone, 456 with the client's other documents, 429 with those of all clients.
    void set_bytes(std::size_t bytes);
    // Keeps the translation.
    void finish(File file);

   private:
    Downloads& downloads_;
    const std::string id_;
  };

  // Returns a translation and, with Fetch::remove, removes it. Throws HttpError, 404, if there is none with this id.
  enum class Fetch : std::uint8_t { keep, remove };
  File fetch(const std::string& id, Fetch fetch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Document {
    std::string client;
    bool is_finished = false;
    File file = {};
    std::size_t bytes;
    Clock::time_point since = Clock::now();  // when it was added, or has finished
  };

  // Drops what is too old. Throws if another document of `client`, or `bytes` more of its documents, exceed a limit.
  void check(const std::string& client, std::size_t documents, std::size_t bytes) ENCDEC_REQUIRES(mutex_);

  std::size_t max_unfinished_;
  Mutex mutex_;
  std::map<std::string, Document> documents_ ENCDEC_GUARDED_BY(mutex_);  // by id
};

// Returns a text as a part of a path, with percent signs for other characters than letters, digits, '-', '.' and '_'.
std::string percent_encoded(std::string_view text);

// Returns an answer with a file, which browsers save under its name.
HttpResponse file_response(Downloads::File file);

}  // namespace encdec::serve
