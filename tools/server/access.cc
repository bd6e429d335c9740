#include "server/access.h"

#include <encdec/models/tokenizer/base/utf8.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace encdec::serve {
namespace {

// Compares two keys. The time depends only on the length of `given`, so that it reveals nothing about `key`.
bool is_same(std::string_view given, std::string_view key) {
  std::size_t differences = given.size() ^ key.size();
  for (std::size_t i = 0; i < given.size(); ++i) {
    differences |= static_cast<unsigned char>(given[i] ^ (key.empty() ? '\0' : key[i % key.size()]));
  }
  return differences == 0;
}

// Returns the host without its port: "[::1]" for "[::1]:8080".
std::string name_of_host(std::string_view host) {
  const std::size_t name = host.starts_with('[') ? host.find(']') : 0;
  return lower_case(host.substr(0, host.find(':', name)));
}

bool is_loopback_name(std::string_view name) {
  const bool is_address = name.find_first_not_of("0123456789.") == std::string_view::npos;
  return name == "localhost" || name.ends_with(".localhost") || name == "[::1]" ||
         (is_address && name.starts_with("127."));
}

}  // namespace

std::string_view key_in(const HttpRequest& head) {
  const std::string_view authorization = head.headers["authorization"];
  const std::size_t space = std::min(authorization.find(' '), authorization.size());
  const std::string scheme = lower_case(authorization.substr(0, space));  // case-insensitive: RFC 9110, section 11.1
  if (authorization.empty()) {
    // A page cannot set a WebSocket's headers, so OpenAI's browser client sends the key as a subprotocol.
    constexpr std::string_view kPrefix = "openai-insecure-api-key.";
    const std::string_view protocols = head.headers["sec-websocket-protocol"];
    if (const std::size_t position = protocols.find(kPrefix); position != protocols.npos) {
      const std::string_view key = protocols.substr(position + kPrefix.size());
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

std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed) {
  const auto found = std::ranges::find_if(allowed, [&](const auto& known) { return known == "*" || known == origin; });
  return found == allowed.end() ? std::string_view() : std::string_view(*found);
}

void check_origin(const HttpRequest& head, std::span<const std::string> allowed) {
  const std::string_view origin = head.headers["origin"], site = head.headers["sec-fetch-site"];
  if (origin.empty() || !allowed_origin(origin, allowed).empty()) return;
  // Accept a request from this server's own page. If Sec-Fetch-Site is missing, compare Origin with Host.
  const std::size_t scheme = std::min(origin.find("://"), origin.size());
  const bool is_own = site.empty() ? origin.size() > scheme && origin.substr(scheme + 3) == head.headers["host"]
                                   : site == "same-origin" || site == "none";
  if (is_own) return;
  throw HttpError(403, fmt::format("pages of '{}' may not send requests to this server; see --cors-origin", origin));
}

void check_host(const HttpRequest& head, std::span<const std::string> allowed) {
  const std::string name = name_of_host(head.headers["host"]);
  if (name.empty() || is_loopback_name(name) || std::ranges::find(allowed, name, &lower_case) != allowed.end()) return;
  throw HttpError(403, fmt::format("Host is '{}', expected localhost or a name given by --allowed-host", name));
}

}  // namespace encdec::serve
