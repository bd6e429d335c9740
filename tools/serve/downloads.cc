#include "serve/downloads.h"

#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/http/random_id.h"
#include "serve/keys.h"

namespace encdec::serve {
namespace {

constexpr std::size_t kEntryBytes = 4096;  // estimate for a document without content, and its coroutine
constexpr int kRetrySeconds = 5;

std::size_t client_share(std::size_t limit, const std::string& client) {
  return client == "unix" ? limit : std::max<std::size_t>(limit / 4 * 3, 1);
}

bool is_unfinished(Downloads::Stage stage) {
  return stage == Downloads::Stage::queued || stage == Downloads::Stage::translating;
}

}  // namespace

Downloads::Upload::Upload(Downloads& downloads, std::string client, std::string key)
    : downloads_(downloads), id_(std::make_unique<const std::string>(random_id())) {
  const MutexLock lock(downloads_.mutex_);
  downloads_.check(client, 1, kEntryBytes);
  downloads_.documents_.emplace(*id_, Document{.client = std::move(client),
                                               .key = std::move(key),
                                               .state = {},
                                               .file = {},
                                               .bytes = kEntryBytes,
                                               .since = Clock::now()});
}

Downloads::Upload::~Upload() {
  if (id_ == nullptr) return;
  const MutexLock lock(downloads_.mutex_);
  const auto place = downloads_.documents_.find(*id_);
  if (place != downloads_.documents_.end() && is_unfinished(place->second.state.stage)) {
    downloads_.documents_.erase(place);
  }
}

void Downloads::Upload::set_bytes(std::size_t bytes) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(*id_);
  const std::size_t share = client_share(kMaxBytes, document.client);
  bytes += kEntryBytes;
  if (bytes > share) {
    throw HttpError(413, fmt::format("a document that takes {} bytes of memory, expected at most {}", bytes, share));
  }
  if (bytes > document.bytes) downloads_.check(document.client, 0, bytes - document.bytes);
  document.bytes = bytes;
}

void Downloads::Upload::set_progress(std::size_t done, std::size_t total) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(*id_);
  const double seconds = std::chrono::duration<double>(Clock::now() - document.since).count();
  const double left = static_cast<double>(total - done) / static_cast<double>(std::max<std::size_t>(done, 1));
  document.state = {.stage = Stage::translating, .seconds_remaining = static_cast<int>(seconds * left) + 1};
}

void Downloads::Upload::finish(std::string name, std::string content, std::size_t characters) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(*id_);
  document.state = {.stage = Stage::done, .characters = characters};
  document.bytes = kEntryBytes + name.size() + content.size();
  document.file = {std::move(name), std::move(content)};
  document.since = Clock::now();
}

void Downloads::Upload::fail(const std::string& error) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(*id_);
  document.state = {.stage = Stage::failed, .error = error};
  document.bytes = kEntryBytes + error.size();
  document.since = Clock::now();
}

void Downloads::check(const std::string& client, std::size_t documents, std::size_t bytes) {
  std::erase_if(documents_, [](const auto& each) {
    return !is_unfinished(each.second.state.stage) && Clock::now() - each.second.since > kTime;
  });
  struct Usage {
    std::size_t documents, bytes;
  };
  Usage all{documents, bytes}, own = all;
  for (const auto& [id, document] : documents_) {
    for (Usage* usage : {&all, &own}) {
      if (usage == &own && document.client != client) continue;
      usage->documents += is_unfinished(document.state.stage) ? 1 : 0;
      usage->bytes += document.bytes;
    }
  }
  if (const std::size_t share = client_share(kMaxBytes, client); own.bytes > share) {
    throw HttpError(456, fmt::format("this client's documents take {} bytes of memory, expected at most {}; a "
                                     "translation takes none once it is fetched",
                                     own.bytes, share));
  }
  if (all.bytes > kMaxBytes) {
    throw HttpError(429,
                    fmt::format("all documents take {} bytes of memory, expected at most {}", all.bytes, kMaxBytes),
                    kRetrySeconds);
  }
  if (const std::size_t share = client_share(max_unfinished_, client); own.documents > share) {
    throw HttpError(429,
                    fmt::format("{} documents of this client are being translated, expected at most {} of the {} "
                                "of --max-requests",
                                own.documents - 1, share, max_unfinished_),
                    kRetrySeconds);
  }
  if (all.documents > max_unfinished_) {
    throw HttpError(429,
                    fmt::format("{} documents are being translated, expected at most {} (--max-requests)",
                                all.documents - 1, max_unfinished_),
                    kRetrySeconds);
  }
}

Downloads::Documents::iterator Downloads::find(const std::string& id, std::string_view key) {
  const auto place = documents_.find(id);
  const bool is_known = place != documents_.end() && Clock::now() - place->second.since <= kTime &&
                        is_among(key, {&place->second.key, 1});
  if (!is_known) {
    throw HttpError(404, "no such document; a translation can be fetched once, within an hour, and with its key");
  }
  return place;
}

Downloads::State Downloads::state(const std::string& id, std::string_view key) {
  const MutexLock lock(mutex_);
  return find(id, key)->second.state;
}

Downloads::File Downloads::fetch(const std::string& id, std::string_view key, Fetch fetch) {
  const MutexLock lock(mutex_);
  const auto place = find(id, key);
  const State& state = place->second.state;
  if (is_unfinished(state.stage)) throw HttpError(503, "the document is being translated", kRetrySeconds);
  if (state.stage == Stage::failed) throw HttpError(404, state.error);
  if (fetch == Fetch::keep) return place->second.file;
  File file = std::move(place->second.file);
  documents_.erase(place);
  return file;
}

}  // namespace encdec::serve
