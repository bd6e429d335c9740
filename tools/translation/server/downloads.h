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

// Stores documents that are being translated, and stores translations for one hour or until they are fetched. Limits
// their memory and the number of unfinished documents. A client may use three quarters of each limit, or the whole
// limit over a Unix socket, because that client may be a proxy. Thread-safe.
class Downloads {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::chrono::hours kTime{1};

  struct File {
    std::string name, content = {};
    std::string problem = {};  // Translation::problem of one of the texts
  };

  // `unfinished` is the maximum number of documents in translation.
  explicit Downloads(std::size_t unfinished) : max_unfinished_(unfinished) {}

  // A document in translation. The destructor removes it unless it is finished.
  class Upload {
   public:
    // Adds a document of `client` (see client_of()). Throws HttpError as set_bytes() does, and 429
    // for too many documents in translation.
    Upload(Downloads& downloads, std::string client);
    Upload(const Upload& other) = delete;
    Upload& operator=(const Upload& other) = delete;
    ~Upload();

    const std::string& id() const { return id_; }
    // Sets the document's total memory. Throws HttpError if that exceeds a limit: 413 for the
    // document alone, 456 with the client's other documents, 429 with the documents of all clients.
    void set_bytes(std::size_t bytes);
    // Stores the translation for fetch().
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
    Clock::time_point since = Clock::now();  // time at which the document was added or finished
  };

  // Removes expired translations. Throws HttpError if `documents` and `bytes` more for `client` exceed a limit.
  void check(const std::string& client, std::size_t documents, std::size_t bytes) ENCDEC_REQUIRES(mutex_);

  std::size_t max_unfinished_;
  Mutex mutex_;
  std::map<std::string, Document> documents_ ENCDEC_GUARDED_BY(mutex_);  // by id
};

// Percent-encodes all characters of a text for a path, except letters, digits, "-", "." and "_".
std::string percent_encoded(std::string_view text);

// Returns an HTTP response with a file, which browsers save under the name of the file.
HttpResponse file_response(Downloads::File file);

}  // namespace encdec::serve
