// Tests which requests are admitted, and which requests are refused to free space.
#include "server/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace encdec::serve {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class LoadTest : public testing::Test {
 protected:
  // A request of `client`, and why it was refused; empty if it was not.
  struct Arrival {
    std::unique_ptr<RequestTicket> ticket;
    std::string refused;
  };
  std::unique_ptr<Arrival> admit(const std::string& client) {
    auto arrival = std::make_unique<Arrival>();
    arrival->ticket = load_.admit(client);
    arrival->ticket->on_refused = [&refused = arrival->refused](const HttpError& error) { refused = error.what(); };
    return arrival;
  }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
      return {};
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 429);
      EXPECT_GE(error.retry_after(), 1);
      return error.what();
    }
  }
  bool is_running(int requests) const {
    return metrics_.text({}).find("\nencdec_requests_running " + std::to_string(requests) + "\n") != std::string::npos;
  }

  ServiceLimits limits_ = [] {
    ServiceLimits limits;
    limits.requests = 4;
    limits.total_request_bytes = 1000;
    return limits;
  }();
  Metrics metrics_;
  Load load_{limits_, metrics_};
};

TEST_F(LoadTest, OnlyCompleteRequestsCount) {
  std::vector<std::unique_ptr<Arrival>> arriving;
  for (int i = 0; i < 100; ++i) arriving.push_back(admit("a"));
  EXPECT_TRUE(is_running(0));
  const auto whole = admit("a");
  whole->ticket->complete();
  EXPECT_TRUE(is_running(1));
  whole->ticket.reset();
  EXPECT_TRUE(is_running(0));
  for (int i = 0; i < 3; ++i) arriving[static_cast<std::size_t>(i)]->ticket->complete();
  EXPECT_THAT(error_of([&] { arriving[3]->ticket->complete(); }), HasSubstr("3 requests"));
  EXPECT_TRUE(is_running(3));
}

TEST_F(LoadTest, AClientMayHaveThreeQuartersOfTheRequests) {
  std::vector<std::unique_ptr<Arrival>> running;
  for (const char* client : {"a", "a", "a", "b"}) {
    running.push_back(admit(client));
    running.back()->ticket->complete();
    if (running.size() == 3) {
      EXPECT_EQ(error_of([&] { admit("a"); }),
                "this client has 3 requests that wait or run, expected at most 3 of the 4 of --max-requests");
    }
  }
  EXPECT_EQ(error_of([&] { admit("c"); }), "4 requests wait or run, expected at most 4 (--max-requests)");
  running.erase(running.begin());
  EXPECT_THAT(error_of([&] { admit("a")->ticket->complete(); }), IsEmpty());
}

TEST_F(LoadTest, AProxyMayHaveAllRequests) {
  std::vector<std::unique_ptr<Arrival>> running;
  for (int i = 0; i < 4; ++i) {
    running.push_back(admit("unix"));
    running.back()->ticket->complete();
  }
  EXPECT_THAT(error_of([&] { admit("unix"); }), HasSubstr("4 requests wait or run"));
}

TEST_F(LoadTest, AClientMayHaveThreeQuartersOfTheBytes) {
  const auto running = admit("a"), more = admit("a"), other = admit("b");
  running->ticket->add_bytes(700);
  running->ticket->complete();
  EXPECT_EQ(error_of([&] { more->ticket->add_bytes(51); }),
            "this client has requests of 700 bytes that wait or run, expected at most 750 of the 1000 of "
            "all clients");
  more->ticket->add_bytes(50);
  other->ticket->add_bytes(250);
  EXPECT_THAT(more->refused, IsEmpty());
}

TEST_F(LoadTest, ASingleBodyMayUseAllSpace) {
  const auto large = admit("a"), other = admit("b");
  large->ticket->add_bytes(600);
  large->ticket->add_bytes(600);
  large->ticket->complete();
  EXPECT_EQ(error_of([&] { other->ticket->add_bytes(1); }),
            "requests of 1200 bytes wait or run, expected at most 1000");
}

TEST_F(LoadTest, TheBodyThatHasGoneLongestWithoutProgressIsRefusedFirst) {
  const auto empty = admit("a"), first = admit("a"), second = admit("b"), third = admit("c");
  first->ticket->add_bytes(300);
  second->ticket->add_bytes(300);
  third->ticket->add_bytes(300);
  first->ticket->add_bytes(50);
  third->ticket->add_bytes(100);
  EXPECT_THAT(second->refused, HasSubstr("more slowly than others: requests of 950 bytes"));
  EXPECT_THAT(first->refused, IsEmpty());
  EXPECT_THAT(empty->refused, IsEmpty());
  // The space of the refused body is free at once.
  third->ticket->add_bytes(250);
  EXPECT_THAT(first->refused, IsEmpty());
  // A complete request is not refused.
  first->ticket->complete();
  empty->ticket->complete();
  EXPECT_THAT(error_of([&] { third->ticket->add_bytes(1); }), HasSubstr("requests of 1000 bytes"));
  EXPECT_THAT(first->refused, IsEmpty());
}

TEST_F(LoadTest, AClientsOwnRequestsAreRefusedFirst) {
  const auto other = admit("b"), first = admit("a"), second = admit("a");
  other->ticket->add_bytes(100);
  first->ticket->add_bytes(500);
  second->ticket->add_bytes(300);
  EXPECT_THAT(first->refused, HasSubstr("this client has requests of 500 bytes"));
  EXPECT_THAT(other->refused, IsEmpty());
}

}  // namespace
}  // namespace encdec::serve
