// Tests encdec serve, with well-behaved and with hostile clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/serve_process.h"
#include "tests/tools/stopped_threads.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kCat = R"({"inputs":"cat"})";
// Takes a while: many long results that cannot end early.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kLongInputs = 5;
#else
constexpr std::size_t kLongInputs = 100;
#endif
const std::string kLong = [] {
  const json request = {{"inputs", std::vector<std::string>(kLongInputs, "photography")},
                        {"parameters", {{"num_beams", 4}, {"min_new_tokens", 120}, {"max_new_tokens", 120}}}};
  return request.dump();
}();

// A client with kExpect waits for kContinue before it sends the body.
const std::string kExpect = "Expect: 100-continue\r\n", kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

json response_json(const std::string& response) {
  return json::parse(body_of(response));
}

TEST(Serve, LongBodiesAndNamesAreRefused) {
  const ServeProcess server({"--max-body-bytes", "100000"});
  EXPECT_THAT(server.post("/v1/generate", "{\"inputs\":\"" + std::string(200'000, 'a') + "\"}"),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("more than 100000 bytes")));
  for (const char* name : {"a", "é", "日"}) {
    std::string names;
    while (names.size() < 90'000) names += name;
    const std::string response = server.post("/v1/completions", R"({"prompt":"x","model":")" + names + "\"}");
    EXPECT_EQ(status_of(response), "404");
    const std::string message = response_json(response)["error"]["message"];
    EXPECT_LT(message.size(), 3000u);
    EXPECT_THAT(message, AllOf(HasSubstr(std::string(name) + "..."), HasSubstr("expected english-pronunciation"),
                               Not(HasSubstr("\ufffd"))));
  }
}

TEST(Serve, HostileHeadsAreRefused) {
  const ServeProcess server;
  const std::string body = "\r\nContent-Type: application/json\r\n";
  const std::string many = [] {
    std::string fields;
    for (int i = 0; i < 101; ++i) fields += "X-" + std::to_string(i) + ": 1\r\n";
    return fields;
  }();
  const struct {
    std::string bytes, status;
  } cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", "400"},  // no Host
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"},
      {"GET /health HTTP/1.0\r\n\r\n", "200"},
      {"GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
      {"GET health HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
      {"\x16\x03\x01\x02\x01", "400"},  // TLS
      {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: \x01\r\n\r\n", "400"},
      {"GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", "431"},
      {"GET / HTTP/1.1\r\nHost: x\r\n" + many + "\r\n", "431"},
      {"GET /health HTTP/1.1\r\nHost:\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: a b\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: a<script>\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: http://a/\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: :80\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: a:b\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: [\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: [::1\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: [a]\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: [::1]80\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "200"},
      {"GET /health HTTP/1.1\r\nHost: \t127.0.0.1:8080 \r\n\r\n", "200"},
      {"GET /health HTTP/1.1\r\nHost: xn--caf-dma.example_1.org\r\n\r\n", "200"},
      {"GET /health HTTP/1.1\r\nHost:\r\n x\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nA: b\r\n \r\n\r\n", "400"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: a\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nX-API-Key: a\r\nx-api-key: b\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Type: a/c\r\n\r\n", "400"},
      {"GET /health HTTP/1.1\r\nHost: x\r\nContent-Encoding: identity\r\nContent-Encoding: gzip\r\n\r\n", "400"},
      {"POST /v1/completions HTTP/1.0\r\nContent-Length: 16\r\nExpect: 100-continue\r\n\r\n{\"prompt\":\"cat\"}",
       "200"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "400"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "400"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx", "415"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", "413"},
      {"POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n", "400"},
  };
  for (const auto& [bytes, status] : cases) {
    Connection connection(server.socket());
    connection.send(bytes);
    connection.shut();
    const std::string response = connection.receive_all();
    EXPECT_EQ(status_of(response), status) << bytes.substr(0, 200);
    EXPECT_EQ(response.find("HTTP/1.1 ", 1), std::string::npos) << bytes;  // the rest was not read as a request
  }
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
}

TEST(Serve, RequestsOfOneConnectionAreAnsweredInOrder) {
  const ServeProcess server;
  Connection connection(server.socket());
  std::string all;
  for (const char* word : {"cat", "dog", "photography"}) {
    all += post_text("/v1/completions", std::string(R"({"prompt":")") + word + "\"}");
  }
  connection.send(all + "HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const char* text : {"K AE1 T", "D AO1 G", "F AH0 T AA1 G R AH0 F IY0"}) {
    EXPECT_EQ(response_json(connection.receive())["choices"][0]["text"], text);
  }
  connection.shut();
  const std::string head = connection.receive_all();
  EXPECT_EQ(status_of(head), "200");
  EXPECT_THAT(body_of(head), IsEmpty());
}

TEST(Serve, WorkForAClientThatDisconnectsIsCancelled) {
  const ServeProcess server;
  const std::string request = post_text("/v1/generate", kLong);
  std::string requests;  // more than the server reads ahead
  while (requests.size() < 100'000) requests += request;
  int count = 0;
  for (const std::string& ahead : {std::string(), std::string(100'000, 'x'), requests}) {
    {
      const Connection gone(server.socket());
      gone.send(request + ahead);
      while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();  // one is for the metrics
    }
    while (server.metric("encdec_requests_running") > 1) std::this_thread::yield();
    EXPECT_EQ(server.metric("encdec_requests_abandoned_total{route=\"/v1/generate\"}"), ++count);
  }
  EXPECT_LT(server.metric("encdec_generated_tokens_total{model=\"english-pronunciation\"}"), kLongInputs * 120);
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
}

TEST(Serve, AClientThatOnlyStopsSendingGetsItsAnswers) {
  const ServeProcess server;
  for (const std::string head : {"POST /v1/generate HTTP/1.1\r\nHost: x", "POST /v1/generate HTTP/1.0"}) {
    Connection connection(server.socket());
    connection.send(head + "\r\nContent-Length: " + std::to_string(kLong.size()) + "\r\n" + kExpect + "\r\n" + kLong +
                    "GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    connection.shut();
    if (head.ends_with('x')) {
      EXPECT_EQ(connection.receive(), kContinue);
    }
    EXPECT_EQ(response_json(connection.receive())["results"].size(), kLongInputs);
    EXPECT_EQ(status_of(connection.receive_all()), head.ends_with('x') ? "200" : "");
  }
}

// Returns the size of a process's address space in bytes.
std::size_t address_space_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Serve, AfterAMemoryShortageSmallRequestsAreAnswered) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers reserve the address space";
#endif
  const ServeProcess server;
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
  const std::size_t used = address_space_of(server.process());
  if (used == 0) GTEST_SKIP() << "no /proc here";
  const rlimit limit{.rlim_cur = used + (24 << 20), .rlim_max = RLIM_INFINITY};
  ASSERT_EQ(::prlimit(server.process(), RLIMIT_AS, &limit, nullptr), 0);
  const json large = {{"inputs", std::vector<std::string>(64, "photography")},
                      {"parameters", {{"num_beams", 16}, {"min_new_tokens", 120}, {"max_new_tokens", 120}}}};
  EXPECT_EQ(status_of(server.post("/v1/generate", large.dump())), "503");
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
}

TEST(Serve, AStalledModelIsReported) {
  ::setenv("WATCHDOG_USEC", "100000", 1);
  const ServeProcess server({"--stall-timeout", "1"});
  ::unsetenv("WATCHDOG_USEC");
  const std::set<pid_t> others = threads_of(server.process());
  const Connection busy(server.socket());
  busy.send(post_text("/v1/generate", kLong));
  while (server.metric("encdec_steps_total{model=\"english-pronunciation\"}") == 0) std::this_thread::yield();
  EXPECT_EQ(status_of(server.get("/health")), "200");
  StoppedThreads threads(server.process(), others);
  if (!threads) GTEST_SKIP() << "no ptrace here";
  std::string response;
  while (status_of(response = server.get("/health")) == "200") std::this_thread::yield();
  EXPECT_EQ(status_of(response), "503");
  EXPECT_THAT(response, HasSubstr("model 'english-pronunciation' has made no progress for"));
  server.discard_notifications();
  EXPECT_FALSE(server.notifies_within(std::chrono::milliseconds(300)));  // the watchdog is not fed
  threads.go_on();
  while (status_of(server.get("/health")) == "503") std::this_thread::yield();
  EXPECT_EQ(server.notification(), "WATCHDOG=1");
}

TEST(Serve, FeedsItsWatchdog) {
  ::setenv("WATCHDOG_USEC", "100000", 1);
  ServeProcess server;
  ::unsetenv("WATCHDOG_USEC");
  EXPECT_EQ(server.notification(), "WATCHDOG=1");
  EXPECT_EQ(server.notification(), "WATCHDOG=1");
}

TEST(Serve, ErrorsNameTheLimits) {
  const ServeProcess server(Limits{{"requests=1", "inputs=101"}});
  Connection busy(server.socket());
  busy.send(post_text("/v1/generate", kLong, "X-Request-Timeout-Ms: 300000\r\n"));
  std::string full;
  while (status_of(full = server.post("/v1/generate", kCat)) == "200") {
  }
  EXPECT_EQ(status_of(full), "429") << full;
  EXPECT_THAT(full, AllOf(HasSubstr("Retry-After: "), HasSubstr("--max-requests")));
  EXPECT_EQ(status_of(server.get("/health")), "200");
  EXPECT_EQ(status_of(busy.receive()), "200");
  EXPECT_EQ(status_of(server.post("/v1/generate", kLong, "X-Request-Timeout-Ms: 1\r\n")), "504");
  const json inputs = {{"inputs", std::vector<std::string>(102, "a")}};
  EXPECT_THAT(server.post("/v1/generate", inputs.dump()),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("102 inputs, expected at most 101")));
}

// Returns a request with large answers: a token has about 4,000 bytes.
std::string with_scores(std::size_t inputs, int tokens) {
  return json{{"inputs", std::vector<std::string>(inputs, "photography")},
              {"parameters", {{"min_new_tokens", tokens}, {"max_new_tokens", tokens}, {"top_log_probs", 100}}}}
      .dump();
}

TEST(Serve, TheSizeOfAnAnswerIsCheckedBeforeGeneration) {
  const ServeProcess server(Limits{{"response_bytes=100000"}});
  const json costly = {
      {"inputs", {"cat", "dog"}},
      {"parameters", {{"num_beams", 4}, {"num_return_sequences", 4}, {"max_new_tokens", 50}, {"top_log_probs", 10}}}};
  const std::string refused = server.post("/v1/generate", costly.dump());
  EXPECT_THAT(refused, AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("2 inputs x 4 sequences x 50 tokens x 288 bytes"),
                             HasSubstr("are 115200 bytes, expected at most 100000")));
  EXPECT_EQ(server.metric("encdec_steps_total{model=\"english-pronunciation\"}"), 0);
  json cheap = costly;
  cheap["inputs"] = {"cat"};
  EXPECT_EQ(status_of(server.post("/v1/generate", cheap.dump())), "200");
  EXPECT_EQ(status_of(server.post("/v1/completions", R"({"prompt":"cat","max_tokens":4000,"n":16,"logprobs":5})")),
            "413");
  EXPECT_THAT(server.post("/v1/generate", with_scores(1, 34)),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("a response of more than 100000 bytes")));
}

TEST(Serve, UnreadAnswersAreLimited) {
  const ServeProcess server(Limits{{"unread_bytes=1000000"}});
  const std::string large = with_scores(5, 120);  // about two million bytes of response
  {
    Connection deaf(server.socket());
    deaf.send(post_text("/v1/generate", large));
    EXPECT_TRUE(deaf.wait_for("HTTP/1.1 200"));  // the client reads no further
    const std::string response = server.post("/v1/generate", large);
    EXPECT_THAT(response, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After"),
                                HasSubstr("expected at most 1000000, and 750000 for one client")));
    EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
  }
  while (status_of(server.post("/v1/generate", large)) != "200") {
  }
}

TEST(Serve, BodiesThatDoNotArriveDoNotBlockOthers) {
  const ServeProcess server(Limits{{"requests=4", "total_request_bytes=100000"}});
  std::deque<Connection> clients;
  for (int i = 0; i < 40; ++i) {
    const std::string length = i % 2 == 0 ? "Transfer-Encoding: chunked" : "Content-Length: 4194304";
    clients.emplace_back(server.socket())
        .send("POST /v1/generate HTTP/1.1\r\nHost: x\r\n" + kExpect + length + "\r\n\r\n");
    EXPECT_EQ(clients.back().receive(), kContinue);
  }
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");
  EXPECT_EQ(server.metric("encdec_requests_running"), 1);  // this request for metrics itself
}

TEST(Serve, TheSlowestBodyIsRefusedFirst) {
  const ServeProcess server(Limits{{"total_request_bytes=100000"}});
  const std::string half = post_text("/v1/completions", R"({"prompt":"cat"})" + std::string(100'000, ' '), kExpect);
  const std::size_t head = half.find("\r\n\r\n") + 4;
  Connection slow(server.socket());
  slow.send(half.substr(0, head));
  EXPECT_EQ(slow.receive(), kContinue);
  slow.send(half.substr(head, 60'000));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(status_of(server.get("/health")), "200");  // now the server has read the body
  EXPECT_EQ(status_of(server.post("/v1/completions", R"({"prompt":"cat"})" + std::string(60'000, ' '))), "200");
  const std::string response = slow.receive_all();
  EXPECT_EQ(status_of(response), "429");
  EXPECT_THAT(response, AllOf(HasSubstr("more slowly"), HasSubstr("expected at most 100000"),
                              HasSubstr("Connection: close"), HasSubstr("Retry-After: ")));
}

TEST(Serve, AKeyMayHaveOnlyAShareOfTheRequests) {
  const TemporaryFolder folder;
  const ServeProcess server({"--max-requests", "2", "--api-key-file", folder.write("keys", "first\nsecond\n")});
  const Connection busy(server.socket());
  busy.send(post_text("/v1/generate", kLong, "X-API-Key: first\r\n"));
  while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();
  EXPECT_THAT(server.get("/v1/models", "Authorization: Bearer first\r\n"),
              AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("this client has 1 requests")));
  EXPECT_EQ(status_of(server.get("/v1/models", "Authorization: Bearer second\r\n")), "200");
}

TEST(Serve, RequestsNeedAKey) {
  const TemporaryFolder folder;
  const ServeProcess server({"--api-key-file",
                             folder.write("keys",
                                          "\xEF\xBB\xBF"
                                          "first \r\n  \n\t# ours \nsecond\t"),
                             "--metrics-key-file", folder.write("metrics", "third\n")});
  EXPECT_EQ(status_of(server.get("/health")), "200");
  EXPECT_EQ(status_of(server.get("/")), "200");
  EXPECT_EQ(status_of(server.get("/v1/models")), "401");
  EXPECT_EQ(status_of(server.get("/v1/models", "Authorization: Bearer secon\r\n")), "401");
  EXPECT_EQ(status_of(server.get("/v1/models", "Authorization: Bearer # ours\r\n")), "401");
  EXPECT_EQ(status_of(server.get("/v1/models", "Authorization: Bearer second\r\n")), "200");
  EXPECT_EQ(status_of(server.get("/v1/models", "X-API-Key: first\r\n")), "200");
  EXPECT_EQ(status_of(server.post("/v1/generate", R"({"inputs":"x","api_key":"first"})")), "401");
  EXPECT_EQ(status_of(server.get("/metrics", "X-API-Key: first\r\n")), "401");
  EXPECT_EQ(status_of(server.get("/metrics", "X-API-Key: third\r\n")), "200");
}

TEST(Serve, OtherPagesNeedPermission) {
  const std::string origin = "Origin: https://a.example\r\n";
  const ServeProcess closed, open({"--cors-origin", "https://a.example"});
  EXPECT_THAT(closed.get("/v1/models", origin), Not(HasSubstr("Access-Control-Allow-Origin")));
  EXPECT_THAT(open.get("/v1/models", origin), HasSubstr("Access-Control-Allow-Origin: https://a.example\r\n"));
  EXPECT_THAT(open.get("/v1/models", "Origin: https://b.example\r\n"), Not(HasSubstr("Access-Control-Allow-Origin")));
  EXPECT_EQ(status_of(open.post("/v1/generate", kCat, origin)), "200");
  const std::string refused = closed.post("/v1/generate", kCat, origin);
  EXPECT_THAT(refused, AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("--cors-origin")));
  EXPECT_EQ(status_of(closed.post("/v1/generate", kCat, "Origin: null\r\n")), "403");
  EXPECT_EQ(status_of(closed.post("/v1/generate", kCat, "Origin: http://x\r\n")), "200");  // its own page
  // Through a proxy that changes the Host.
  EXPECT_EQ(status_of(closed.post("/v1/generate", kCat, origin + "Sec-Fetch-Site: same-origin\r\n")), "200");
  EXPECT_EQ(status_of(closed.post("/v1/generate", kCat, "Origin: http://x\r\nSec-Fetch-Site: cross-site\r\n")), "403");
}

TEST(Serve, ErrorsNameNoFolderAndKeepWords) {
  const TemporaryFolder folder;
  std::filesystem::create_directory_symlink(std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation",
                                            folder.path("t"));
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path(""));
  const ServeProcess server({"--model", "letter=t"});
  std::filesystem::current_path(before);
  const std::string refused =
      server.post("/v1/generate", R"({"model":"letter","inputs":"x","parameters":{"top_p":"a"}})");
  EXPECT_EQ(status_of(refused), "400");
  EXPECT_THAT(refused, HasSubstr("'parameters.top_p'"));
}

TEST(Serve, PathsOfClientsDoNotBecomeMetrics) {
  const ServeProcess server;
  const std::string preflight = "/made-up HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: POST\r\n\r\n";
  for (const std::string method : {"OPTIONS", "GET", "MADEUP"}) {
    Connection connection(server.socket());
    connection.send(method + " " + preflight);
    EXPECT_EQ(status_of(connection.receive()), method == "OPTIONS" ? "204" : "404");
  }
  EXPECT_EQ(status_of(server.get("/health")), "200");
  const std::string metrics = server.get("/metrics");
  EXPECT_THAT(metrics, HasSubstr("route=\"/health\""));
  EXPECT_THAT(metrics, AllOf(HasSubstr("route=\"-\""), Not(HasSubstr("made-up"))));
}

TEST(Serve, MetricsShowWhatTheModelsDo) {
  const ServeProcess server;
  const json three = {{"inputs", {"cat", "dog", "photography"}}};
  EXPECT_EQ(status_of(server.post("/v1/generate", three.dump())), "200");
  EXPECT_EQ(status_of(server.post("/v1/generate", R"({"inputs":"cat","stream":true})")), "200");
  const std::string model = "{model=\"english-pronunciation\"}";
  EXPECT_EQ(server.metric("encdec_queue_seconds_count" + model), 4);
  EXPECT_EQ(server.metric("encdec_first_token_seconds_count" + model), 1);
  EXPECT_EQ(server.metric("encdec_token_seconds_count" + model), 4);
  EXPECT_EQ(server.metric("encdec_waiting_sources" + model), 0);
  const double tokens = server.metric("encdec_generated_tokens_total" + model);
  double rows = 0;
  while (rows < tokens) rows = server.metric("encdec_step_rows_total" + model);  // a step is counted after its results
  EXPECT_EQ(rows, tokens);
  const double steps = server.metric("encdec_steps_total" + model);
  EXPECT_LT(steps, rows);
  EXPECT_GT(steps * 3, rows);
  EXPECT_GE(server.metric("encdec_connections"), 1);
  EXPECT_EQ(server.metric("encdec_connections_refused_total"), 0);
}

// The error must not name the folder of the model.
TEST(Serve, PathsStayOnTheMachine) {
  const ServeProcess server;
  EXPECT_THAT(server.post("/v1/generate", R"({"inputs":"x","prefixes":["\u0000ZZ"]})"),
              Not(HasSubstr(ENCDEC_PRETRAINED_DIR)));
}

TEST(Serve, AcceptedRequestsAreFinishedBeforeItEnds) {
  ServeProcess server({"--drain-timeout", "600"});  // sanitizers are slow
  Connection busy(server.socket()), idle(server.socket());
  busy.send(post_text("/v1/generate", kLong));
  while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();
  server.send(SIGTERM);
  EXPECT_EQ(server.notification(), "STOPPING=1");
  const std::string response = busy.receive();
  EXPECT_EQ(status_of(response), "200");
  EXPECT_EQ(response_json(response)["results"].size(), kLongInputs);
  EXPECT_THAT(idle.receive_all(), IsEmpty());
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, RequestsThatHaveBegunToArriveAreAnsweredBeforeItEnds) {
  ServeProcess server({"--drain-timeout", "600"});
  const std::string request = post_text("/v1/generate", kCat, kExpect);
  const std::size_t head = request.find("\r\n\r\n") + 4;
  Connection header(server.socket()), body(server.socket());
  header.send(request.substr(0, head - 4));
  body.send(request.substr(0, head));
  EXPECT_EQ(body.receive(), kContinue);
  EXPECT_EQ(status_of(server.get("/health")), "200");  // now the server has read both
  server.send(SIGTERM);
  EXPECT_EQ(server.notification(), "STOPPING=1");
  body.send(request.substr(head));
  const std::string response = body.receive_all();
  EXPECT_EQ(status_of(response), "200");
  EXPECT_THAT(response, HasSubstr("Connection: close\r\n"));
  header.send(request.substr(head - 4));
  EXPECT_EQ(status_of(header.receive_all()), "503");
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, TheLongestIdleConnectionIsClosedFirst) {
  const ServeProcess server(Limits{{"connections=3"}});
  const std::string request = post_text("/v1/generate", kCat, kExpect),
                    head = request.substr(0, request.find("\r\n\r\n") + 4);
  const auto asks = [](Connection& connection) {
    connection.send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    return status_of(connection.receive()) == "200";
  };
  const auto begins = [&head](Connection& connection) {
    connection.send(head);
    return connection.receive() == kContinue;
  };
  const auto ends = [&](Connection& connection) {
    connection.send(request.substr(head.size()));
    return status_of(connection.receive()) == "200";
  };
  Connection slow(server.socket());
  EXPECT_TRUE(begins(slow));
  Connection used(server.socket()), unused(server.socket());
  EXPECT_TRUE(asks(used));
  Connection third(server.socket());
  EXPECT_TRUE(asks(third));
  EXPECT_THAT(unused.receive_all(), IsEmpty());
  EXPECT_TRUE(asks(used));
  Connection fourth(server.socket());
  EXPECT_TRUE(asks(fourth));
  EXPECT_THAT(third.receive_all(), IsEmpty());
  // No connection is idle: the request that has gone longest without progress is closed.
  EXPECT_TRUE(begins(fourth));
  EXPECT_TRUE(begins(used));
  Connection fifth(server.socket());
  EXPECT_TRUE(asks(fifth));
  EXPECT_THAT(slow.receive_all(), IsEmpty());
  EXPECT_TRUE(ends(fourth));
  EXPECT_TRUE(ends(used));
}

TEST(Serve, ARunningRequestIsNotClosedForOthers) {
  const ServeProcess server(Limits{{"connections=1"}});
  Connection busy(server.socket());
  busy.send(post_text("/v1/generate", R"({"inputs":"photography","stream":true,"parameters":{"min_new_tokens":120}})"));
  EXPECT_TRUE(busy.wait_for("data: "));
  EXPECT_EQ(status_of(server.get("/health")), "503");
  EXPECT_TRUE(busy.wait_for("\"result\""));
}

// If the server paused between clients, this test would exceed CTest's time limit.
TEST(Serve, WithoutDescriptorsNewClientsDoNotWait) {
  const ServeProcess server;
  const rlimit few = {.rlim_cur = 64, .rlim_max = 64};
  ASSERT_EQ(::prlimit(server.process(), RLIMIT_NOFILE, &few, nullptr), 0);
  std::deque<Connection> clients;
  for (int i = 0; i < 10'000; ++i) {
    clients.emplace_back(server.socket()).send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_EQ(status_of(clients.back().receive()), "200");
    if (clients.size() > 64) clients.pop_front();
  }
}

TEST(Serve, AnswersConnectionsThatWaitToBeAcceptedWhenItEnds) {
  ServeProcess server;
  EXPECT_EQ(status_of(server.get("/health")), "200");
  ::kill(server.process(), SIGSTOP);
  std::deque<Connection> clients;
  for (int i = 0; i < 40; ++i) clients.emplace_back(server.socket()).send(post_text("/v1/generate", kCat));
  server.send(SIGTERM);
  ::kill(server.process(), SIGCONT);
  for (Connection& client : clients) EXPECT_THAT(status_of(client.receive()), testing::AnyOf("200", "503"));
  EXPECT_EQ(server.wait().status, 0);
}

// Under the address sanitizer, a use of freed memory is another status.
TEST(Serve, EndsWithWorkLeft) {
  ServeProcess server({"--drain-timeout", "1"});
  std::deque<Connection> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(server.socket()).send(post_text("/v1/generate", kLong));
  while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();
  server.send(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, ASecondSignalEndsItAtOnce) {
  ServeProcess server;
  const Connection busy(server.socket());
  busy.send(post_text("/v1/generate", kLong));
  server.send(SIGTERM);
  EXPECT_EQ(server.notification(), "STOPPING=1");
  server.send(SIGINT);
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, EndsWithinItsTimeoutWhateverItsThreadsDo) {
  ServeProcess server({"--drain-timeout", "1"});
  const std::set<pid_t> others = threads_of(server.process());
  EXPECT_EQ(status_of(server.post("/v1/generate", kCat)), "200");  // starts the threads of the model
  StoppedThreads threads(server.process(), others);
  if (!threads) GTEST_SKIP() << "no ptrace here";
  Connection busy(server.socket());
  busy.send(post_text("/v1/generate", kLong));
  while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();
  server.send(SIGTERM);
  busy.receive_all();
  std::ifstream file("/proc/" + std::to_string(server.process()) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  EXPECT_EQ(state, "Z") << "it has not ended";
  threads.go_on();
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, AnUnreadLogBlocksNothing) {
  const TemporaryFolder folder;
  const std::string socket = folder.path("socket");
  const NotifySocket ready(folder.path("ready"));
  Process server({"sh", "-c", "exec \"$0\" \"$@\" 2>&1", kEncdec, "serve", "--log-json", "--host", "", "--unix", socket,
                  "--model", std::string(ENCDEC_PRETRAINED_DIR) + "/english-pronunciation"});
  ASSERT_EQ(ready.wait(), "READY=1");
  Connection connection(socket);
  // Far more than a pipe can hold.
  for (int i = 0; i < 1000; ++i) {
    connection.send("GET /health HTTP/1.1\r\nHost: x\r\nX-Request-ID: " + std::string(128, 'x') + "\r\n\r\n");
    ASSERT_EQ(status_of(connection.receive()), "200");
  }
  server.send(SIGTERM);
  siginfo_t end = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(server.id()), &end, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(server.wait().status, 0);
}

TEST(Serve, SlowClientsAreDisconnected) {
  const ServeProcess server(Limits{{"header_time=1", "body_time=1", "write_time=1", "idle_time=1"}});
  Connection head(server.socket()), body(server.socket()), idle(server.socket());
  head.send("POST /v1/generate HTTP/1.1\r\nHos");
  body.send("POST /v1/generate HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{");
  EXPECT_THAT(head.receive_all(), IsEmpty());
  EXPECT_THAT(body.receive_all(), IsEmpty());
  EXPECT_THAT(idle.receive_all(), IsEmpty());
  const Connection deaf(server.socket());
  deaf.send(post_text("/v1/generate", with_scores(5, 120)));
  while (server.metric("encdec_requests_abandoned_total{route=\"/v1/generate\"}") == 0) std::this_thread::yield();
}

TEST(Serve, SocketsOfDeadServersAreReplaced) {
  const TemporaryFolder folder;
  const std::string socket = folder.path("socket");
  {
    ServeProcess first({}, socket);
    EXPECT_TRUE(failed(encdec_command({"serve", "--host", "", "--unix", socket, "--model", "x"}), 1,
                       {socket, "another process listens there"}));
    first.send(SIGKILL);
    first.wait();
  }
  ServeProcess second({}, socket);
  EXPECT_EQ(status_of(second.get("/health")), "200");
  second.send(SIGTERM);
  EXPECT_EQ(second.wait().status, 0);
  EXPECT_FALSE(std::filesystem::exists(socket));
}

}  // namespace
}  // namespace encdec
