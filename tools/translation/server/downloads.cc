#include "translation/server/downloads.h"

#include <encdec/translation/documents/document.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace encdec::serve {
namespace {

constexpr std::size_t kEntryBytes = 4096;  // estimated memory of a document without content
constexpr int kRetrySeconds = 5;

// Returns the part of a limit that one client may use.
std::size_t client_share(std::size_t limit, const std::string& client) {
  return client == "unix" ? limit : std::max<std::size_t>(limit / 4 * 3, 1);
}

}  // namespace

Downloads::Upload::Upload(Downloads& downloads, std::string client) : downloads_(downloads), id_(random_id()) {
  const MutexLock lock(downloads_.mutex_);
  downloads_.check(client, 1, kEntryBytes);
  downloads_.documents_.emplace(id_, Document{.client = std::move(client), .bytes = kEntryBytes});
}

Downloads::Upload::~Upload() {
  const MutexLock lock(downloads_.mutex_);
  const auto found = downloads_.documents_.find(id_);
  if (found != downloads_.documents_.end() && !found->second.is_finished) downloads_.documents_.erase(found);
}

void Downloads::Upload::set_bytes(std::size_t bytes) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(id_);
  const std::size_t share = client_share(kMaxBytes, document.client);
  bytes += kEntryBytes;
  if (bytes > share) {
    throw HttpError(413, fmt::format("a document that takes {} bytes of memory, expected at most {}", bytes, share));
  }
  if (bytes > document.bytes) downloads_.check(document.client, 0, bytes - document.bytes);
  document.bytes = bytes;
}

void Downloads::Upload::finish(File file) {
  const MutexLock lock(downloads_.mutex_);
  Document& document = downloads_.documents_.at(id_);
  document.is_finished = true;
  document.bytes = kEntryBytes + file.name.size() + file.content.size();
  document.file = std::move(file);
  document.since = Clock::now();
}

void Downloads::check(const std::string& client, std::size_t documents, std::size_t bytes) {
  std::erase_if(documents_,
                [](const auto& each) { return each.second.is_finished && Clock::now() - each.second.since > kTime; });
  // Add up the usage of all clients, and the usage of this client.
  struct Usage {
    std::size_t documents, bytes;
  };
  Usage all{documents, bytes}, own = all;
  for (const auto& [id, document] : documents_) {
    for (Usage* usage : {&all, &own}) {
      if (usage == &own && document.client != client) continue;
      usage->documents += document.is_finished ? 0 : 1;
      usage->bytes += document.bytes;
    }
  }
  // Check the memory, then the number of unfinished documents.
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

Downloads::File Downloads::fetch(const std::string& id, Fetch fetch) {
  const MutexLock lock(mutex_);
  const auto found = documents_.find(id);
  if (found == documents_.end() || !found->second.is_finished || Clock::now() - found->second.since > kTime) {
    throw HttpError(404, "no such document; a translation can be fetched once, within an hour");
  }
  if (fetch == Fetch::keep) return found->second.file;
  File file = std::move(found->second.file);
  documents_.erase(found);
  return file;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kKept = "-._";
  std::string encoded;
  for (const char c : text) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || kKept.find(c) != std::string_view::npos;
    encoded += is_kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

HttpResponse file_response(Downloads::File file) {
  const std::string name = percent_encoded(file.name);
  std::string plain = name;
  std::ranges::replace(plain, '%', '_');
  // Clients that do not support "filename*" use "filename" (RFC 6266, section 5).
  const std::string disposition = fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, name);
  HttpResponse response{.body = std::move(file.content),
                        .content_type = std::string(media_type_of(file.name)),
                        .headers = {{"Content-Disposition", disposition}, {"X-Content-Type-Options", "nosniff"}}};
  if (!file.problem.empty()) response.headers.emplace_back("X-Problem", file.problem);
  return response;
}

}  // namespace encdec::serve
