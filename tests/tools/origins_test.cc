#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/access.h"

namespace encdec::serve {
namespace {

bool takes_host(const std::string& host, const std::vector<std::string>& allowed = {}) {
  HttpRequest request;
  if (!host.empty()) request.headers.add("host", host);
  try {
    check_host(request, allowed);
    return true;
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 403);
    return false;
  }
}

TEST(Origins, AServerWithoutANameAnswersOnlyToLocalNames) {
  for (const char* host :
       {"localhost", "LocalHost:8080", "127.0.0.1", "127.0.0.2:80", "[::1]:8080", "a.localhost", ""}) {
    EXPECT_TRUE(takes_host(host)) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:8080", "127.evil.example", "localhost.evil.example", "[::2]"}) {
    EXPECT_FALSE(takes_host(host)) << host;
  }
  EXPECT_TRUE(takes_host("My.Name:8080", {"my.name"}));
}

}  // namespace
}  // namespace encdec::serve
