#include "serve/origins.h"

#include <encdec/models/tokenizer/base/lower_case.h>
#include <fmt/format.h>

#include <algorithm>

namespace encdec::serve {
namespace {

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

std::string_view allowed_origin(std::string_view origin, std::span<const std::string> allowed) {
  const auto found = std::ranges::find_if(allowed, [&](const auto& known) { return known == "*" || known == origin; });
  return found == allowed.end() ? std::string_view() : std::string_view(*found);
}

void check_origin(const HttpRequest& head, std::span<const std::string> allowed) {
  const std::string_view origin = head.headers["origin"], site = head.headers["sec-fetch-site"];
  if (origin.empty() || !allowed_origin(origin, allowed).empty()) return;
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
