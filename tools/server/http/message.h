#pragma once

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encdec::serve {

// The names and values of a header, a query or a form, in order. A name may occur more than once.
class Fields {
 public:
  using Field = std::pair<std::string, std::string>;

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  // Returns the value of the first field called `name`; null if it is missing.
  const std::string* find(std::string_view name) const {
    const auto found = std::ranges::find(fields_, name, &Field::first);
    return found != fields_.end() ? &found->second : nullptr;
  }
  // Returns the value of the first field called `name`; empty if it is missing.
  std::string_view operator[](std::string_view name) const {
    const std::string* value = find(name);
    return value != nullptr ? std::string_view(*value) : std::string_view();
  }

  std::size_t size() const { return fields_.size(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field> fields_;
};

// An HTTP/1.1 request (RFC 9112).
struct HttpRequest {
  std::string method = {};                 // "GET"
  std::string path = {};                   // without the query; not percent-decoded
  Fields query = {};                       // percent-decoded
  Fields headers = {};                     // names in lower case
  std::string body = {};                   // not decoded
  std::string peer = {};                   // address of the client, or "unix"
  std::string id = {};                     // the client's X-Request-ID if it is a plain word, else random
  std::shared_ptr<const void> facts = {};  // the application's data; see HttpApplication::examine()
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<Fields::Field> headers = {};  // further headers; values must be safe to send
  std::vector<std::string> more = {};       // parts of the body after `body`; each is freed once written
  std::shared_ptr<const void> held = {};    // kept alive until the whole response is written

  std::size_t body_bytes() const {
    std::size_t bytes = body.size();
    for (const std::string& part : more) bytes += part.size();
    return bytes;
  }
};

// Returns 32 random hexadecimal digits, for names that must not be predictable.
inline std::string random_id() {
  std::array<std::uint64_t, 2> words = {};
  [[maybe_unused]] const auto filled = ::getrandom(words.data(), sizeof words, 0);  // never fails for up to 256 bytes
  return fmt::format("{:016x}{:016x}", words[0], words[1]);
}

// Returns `message` or, if it is longer than 2,048 bytes because it quotes a client, its first and last 1,024 bytes.
// Replaces NUL bytes, at which what() would end, by spaces.
inline std::string shortened(std::string message) {
  constexpr std::size_t kEnds = 1024;
  std::ranges::replace(message, '\0', ' ');
  if (message.size() <= 2 * kEnds) return message;
  std::size_t begin = kEnds, end = message.size() - kEnds;
  while (begin > 0 && is_continuation(message[begin])) --begin;
  while (end < message.size() && is_continuation(message[end])) ++end;
  return message.substr(0, begin) + "..." + message.substr(end);
}

// An error that becomes an HTTP response with `status` and a message of one line. Each protocol formats the body
// differently; see ErrorFormat.
class HttpError : public std::runtime_error {
 public:
  // `retry_after`: seconds after which a client may retry; 0 if a retry would not help.
  HttpError(int status, const std::string& message, int retry_after = 0)
      : std::runtime_error(shortened(message)), status_(status), retry_after_(retry_after) {}
  int status() const { return status_; }
  int retry_after() const { return retry_after_; }

 private:
  int status_;
  int retry_after_;
};

}  // namespace encdec::serve
