#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encdec::serve {

// Names and values in their order, of a header, a query or a form; a name may come more than once.
class Fields {
 public:
  using Field = std::pair<std::string, std::string>;

  void add(std::string name, std::string value) { fields_.emplace_back(std::move(name), std::move(value)); }
  // The first of that name; null if there is none.
  const std::string* find(std::string_view name) const {
    for (const Field& field : fields_) {
      if (field.first == name) return &field.second;
    }
    return nullptr;
  }
  // The same, or nothing.
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

// A request of HTTP/1.1 (RFC 9112).
struct HttpRequest {
  std::string method = {};  // "GET"
  std::string path = {};    // without the query, as it came
  Fields query = {};        // percent signs decoded
  Fields headers = {};      // names in lower case
  std::string body = {};    // as it came
  std::string peer = {};    // the address that it came from, or "unix"
  std::string id = {};      // X-Request-ID: the client's if it is a plain word, else made here
};

// What is answered.
struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::vector<Fields::Field> headers = {};  // beside those of the connection; no value comes from a client unchecked
  std::vector<std::string> more = {};       // pieces of the body behind `body`; each is freed when it has been written
  std::shared_ptr<const void> held = {};    // kept until all has been written

  std::size_t body_bytes() const {
    std::size_t bytes = body.size();
    for (const std::string& piece : more) bytes += piece.size();
    return bytes;
  }
};

// The message; where it is long, because it repeats what a client sent, only its beginning and its end.
inline std::string shortened(const std::string& message) {
  constexpr std::size_t kEnds = 1024;
  if (message.size() <= 2 * kEnds) return message;
  const auto is_within_character = [&](std::size_t i) {
    return (static_cast<unsigned char>(message[i]) & 0xC0) == 0x80;
  };
  std::size_t begin = kEnds, end = message.size() - kEnds;
  while (begin > 0 && is_within_character(begin)) --begin;
  while (end < message.size() && is_within_character(end)) ++end;
  return message.substr(0, begin) + "..." + message.substr(end);
}

// A refusal with one line for the client. Protocols write it in their own form.
class HttpError : public std::runtime_error {
 public:
  // `retry_after`: seconds, or 0 where another try would not help.
  HttpError(int status, const std::string& message, int retry_after = 0)
      : std::runtime_error(shortened(message)), status_(status), retry_after_(retry_after) {}
  int status() const { return status_; }
  int retry_after() const { return retry_after_; }

 private:
  int status_;
  int retry_after_;
};

}  // namespace encdec::serve
