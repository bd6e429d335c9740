#include "serve/keys.h"

#include <encdec/models/tokenizer/base/lower_case.h>

#include <algorithm>
#include <cstddef>

namespace encdec::serve {
namespace {

bool is_same(std::string_view given, std::string_view key) {
  std::size_t differences = given.size() ^ key.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    differences |= static_cast<unsigned char>(given[i] ^ (key.empty() ? '\0' : key[i % key.size()]));
  }
  return differences == 0;
}

}  // namespace

std::string_view key_in(const HttpRequest& head) {
  const std::string_view authorization = head.headers["authorization"];
  const std::size_t space = std::min(authorization.find(' '), authorization.size());
  const std::string scheme = lower_case(authorization.substr(0, space));  // RFC 9110, section 11.1
  if (authorization.empty()) {
    // A page cannot set headers of a WebSocket, so OpenAI's client for browsers has the key in its protocols.
    constexpr std::string_view kPrefix = "openai-insecure-api-key.";
    const std::string_view protocols = head.headers["sec-websocket-protocol"];
    if (const std::size_t place = protocols.find(kPrefix); place != protocols.npos) {
      const std::string_view key = protocols.substr(place + kPrefix.size());
      return key.substr(0, key.find_first_of(", "));
    }
  }
  if (scheme != "bearer" && scheme != "deepl-auth-key") return head.headers["x-api-key"];
  return authorization.substr(std::min(authorization.find_first_not_of(' ', space), authorization.size()));
}

bool is_among(std::string_view given, std::span<const std::string> keys) {
  return std::ranges::count_if(keys, [given](const std::string& key) { return is_same(given, key); }) > 0;
}

std::string_view client_of(std::string_view key, std::string_view peer, std::span<const std::string> keys) {
  return is_among(key, keys) ? key : peer;
}

}  // namespace encdec::serve
