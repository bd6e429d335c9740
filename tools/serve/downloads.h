#pragma once

#include <encdec/engine/base/mutex.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/message.h"

namespace encdec::serve {

// Documents that are being translated, and translations, which are kept until they are fetched, for an hour at most.
// Counts their memory and the documents that are being translated, and keeps both within limits. One client may use at
// most three quarters of each limit, except over a Unix socket, where the client may be a proxy. Thread-safe.
class Downloads {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  static constexpr std::chrono::hours kTime{1};

  enum class Stage : std::uint8_t { queued, translating, done, failed };
  struct State {
    Stage stage = Stage::queued;
    int seconds_remaining = 0;   // an estimate, while translating
    std::size_t characters = 0;  // characters of the translated texts
    std::string error = {};      // why the translation has failed
  };
  struct File {
    std::string name, content;
  };

  // `unfinished` is the maximum number of documents that are being translated.
  explicit Downloads(std::size_t unfinished) : max_unfinished_(unfinished) {}

  // A document that is being translated. The destructor drops it unless it has finished or failed.
  class Upload {
   public:
    Upload(Downloads& downloads, std::string client, std::string key);
    Upload(Upload&& other) noexcept = default;
    Upload& operator=(Upload&& other) = delete;
    ~Upload();

    const std::string& id() const { return *id_; }
    // Counts the bytes of memory that the document takes in all. Throws HttpError if that exceeds a limit: 413 for the
    // document alone, 456 with the client's other documents, 429 with those of all clients.
    void set_bytes(std::size_t bytes);
    void set_progress(std::size_t done, std::size_t total);
    // Keeps the translation. `name` is the name of its file.
    void finish(std::string name, std::string content, std::size_t characters);
    void fail(const std::string& error);

   private:
    Downloads& downloads_;
    std::unique_ptr<const std::string> id_;  // null after a move
  };

  // Adds a document of `client` (see client_of). `key` is needed to fetch its translation; it may be empty. Throws
  // HttpError, as set_bytes() does, if too many documents are being translated.
  Upload add(const std::string& client, const std::string& key) { return {*this, client, key}; }

  // Returns the state of a document. Throws HttpError, 404, for an unknown id and for another key.
  State state(const std::string& id, std::string_view key);
  // Returns a translation and, with Fetch::remove, removes it. Throws as state() does, and 503 if it is not ready.
  enum class Fetch : std::uint8_t { keep, remove };
  File fetch(const std::string& id, std::string_view key, Fetch fetch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Document {
    std::string client, key;
    State state;
    File file;
    std::size_t bytes;
    Clock::time_point since;  // when it was added, or has finished
  };
  using Documents = std::map<std::string, Document, std::less<>>;

  // Drops what is too old. Throws if another document of `client`, or `bytes` more of its documents, exceed a limit.
  void check(const std::string& client, std::size_t documents, std::size_t bytes) ENCDEC_REQUIRES(mutex_);
  Documents::iterator find(const std::string& id, std::string_view key) ENCDEC_REQUIRES(mutex_);

  std::size_t max_unfinished_;
  Mutex mutex_;
  Documents documents_ ENCDEC_GUARDED_BY(mutex_);  // by id
};

}  // namespace encdec::serve
