// Tests translation requests to encdec serve, with a model from English to its pronunciation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <deque>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/serve_process.h"
#include "tests/tools/stopped_threads.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kText = R"({"q":"cat","source":"en","target":"arpabet"})";
const std::string kDeepL = R"({"text":["cat"],"target_lang":"arpabet"})";

json json_in(const std::string& response) {
  return json::parse(body_of(response));
}

TEST(ServeTranslation, HostileFormsAreRefused) {
  const ServeProcess server;
  Connection connection(server.socket());
  const auto send_form = [&](const std::string& type, const std::string& body) {
    connection.send("POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: " + type +
                    "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return status_of(connection.receive());
  };
  const std::string type = "application/x-www-form-urlencoded";
  EXPECT_EQ(send_form(type, "q=c%61t&source=en&target=arpabet"), "200");
  EXPECT_EQ(send_form(type, "q=%ff%fe&source=en&target=arpabet"), "400");
  EXPECT_EQ(send_form(type, "&&=&%&=%4"), "400");
  EXPECT_EQ(send_form("multipart/form-data", "x"), "400");
  EXPECT_EQ(send_form("multipart/form-data; boundary=b", "--b\r\n\r\n"), "400");
  EXPECT_EQ(send_form("multipart/form-data; boundary=b",
                      "--b\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\ncat\r\n--b\r\nContent-Disposition: "
                      "form-data; name=source\r\n\r\nen\r\n--b\r\ncontent-disposition: form-data; "
                      "name=target\r\n\r\narpabet\r\n--b--\r\n"),
            "200");
}

TEST(ServeTranslation, ClientsOfDeepLGetSpacesWhileTheyWaitAlsoBeforeAnError) {
  const ServeProcess server;
  const std::set<pid_t> others = threads_of(server.process());
  EXPECT_EQ(status_of(server.post("/translate", kText)), "200");  // starts the model's threads
  StoppedThreads threads(server.process(), others);
  if (!threads) GTEST_SKIP() << "no ptrace here";
  const std::string failed = server.post("/v2/translate", kDeepL, "X-Request-Timeout-Ms: 5500\r\n");
  EXPECT_EQ(status_of(failed), "200");
  EXPECT_THAT(failed, HasSubstr(R"({"message":"the request timed out)"));
  EXPECT_EQ(server.metric(R"(encdec_requests_total{route="/v2/translate",status="504"})"), 1);
  Connection connection(server.socket());
  connection.send("POST /v2/translate HTTP/1.0\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
                  std::to_string(kDeepL.size()) + "\r\n\r\n" + kDeepL);
  EXPECT_TRUE(connection.wait_for("\r\n\r\n "));
  threads.go_on();
  const std::string response = connection.receive_all();
  EXPECT_EQ(status_of(response), "200");
  EXPECT_EQ(json_in(response)["translations"][0]["text"], "K AE1 T");
}

// With the address sanitizer, a use of freed memory gives another exit status.
TEST(ServeTranslation, EndsWithWorkLeft) {
  const json request = {{"q", std::vector<std::string>(1000, "photography")}, {"source", "en"}, {"target", "arpabet"}};
  ServeProcess server({"--drain-timeout", "1"});
  std::deque<Connection> clients;
  for (int i = 0; i < 8; ++i) clients.emplace_back(server.socket()).send(post_text("/translate", request.dump()));
  while (server.metric("encdec_requests_running") < 2) std::this_thread::yield();
  server.send(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

}  // namespace
}  // namespace encdec
