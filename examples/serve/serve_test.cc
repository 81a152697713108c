// Tests a server on loopback sockets: its answers, and that a hostile request affects no other.

#include "examples/serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "examples/serve/serve_tagger.h"
#include "examples/tagger/tagger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr size_t kMaxBody = 500'000;

class ServeTest : public testing::Test {
 protected:
  // All tests share one model, since training takes most of their time.
  static void SetUpTestSuite() {
    server_ = ServeTagger({.max_body_bytes = kMaxBody, .timeout_seconds = 1}).value().release();
  }
  static void TearDownTestSuite() { delete server_; }

  static httplib::Client Client() {
    httplib::Client client("127.0.0.1", server_->port());
    client.set_read_timeout(30);
    return client;
  }

  static httplib::Result Predict(const std::string& body) {
    return Client().Post("/predict", body, "application/json");
  }

  // Returns the head of the server's answer to `text`, or nothing if none comes. With `end` the
  // connection is closed at once.
  static std::string Send(const std::string& text, bool end = false) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval limit = {.tv_sec = 4, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    (void)!send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    std::string answer;
    char buffer[4096];
    while (!end && answer.find("\r\n\r\n") == std::string::npos) {
      const ssize_t n = recv(fd, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      answer.append(buffer, static_cast<size_t>(n));
    }
    close(fd);
    return answer;
  }

  // Checks that the server answers a valid request correctly.
  static void ExpectWell(const char* after) {
    const httplib::Result result = Predict(R"({"data": [3, 1, 4]})");
    ASSERT_TRUE(result) << after;
    EXPECT_EQ(result->status, 200) << after << ": " << result->body;
  }

  static PredictServer* server_;
};

PredictServer* ServeTest::server_ = nullptr;

TEST_F(ServeTest, TagsSentences) {
  const TaggedSentences sentences = MakeTaggedSentences(40, 2);
  int right = 0;
  for (size_t i = 0; i < sentences.words.size(); ++i) {
    const httplib::Result result = Predict(json{{"data", sentences.words[i]}}.dump());
    ASSERT_TRUE(result);
    ASSERT_EQ(result->status, 200) << result->body;
    const json answer = json::parse(result->body);
    const json& output = answer["outputs"][0];
    const auto words = static_cast<int>(sentences.words[i].size());
    ASSERT_EQ(output["shape"], json({words, 4}));
    const auto values = output["values"].get<std::vector<float>>();
    std::vector<int> tags;
    for (int t = 0; t < words; ++t) {
      const auto* p = &values[t * 4];
      tags.push_back(static_cast<int>(std::max_element(p, p + 4) - p));
    }
    right += tags == sentences.tags[i];
  }
  EXPECT_GE(right, 38);
}

TEST_F(ServeTest, HostileRequestsAreTheirOwnErrors) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const struct {
    const char* name;
    std::string body;
    int status;
    const char* says;
  } kCases[] = {
      {"empty", "", 400, "no JSON object"},
      {"no JSON", "{\"data\": [1, 2", 400, "no JSON object"},
      {"bytes", std::string("\xff\xfe\x00\x01{", 5), 400, "no JSON object"},
      {"a list", "[1, 2, 3]", 400, "no JSON object"},
      {"missing", "{}", 400, "'data' is missing"},
      {"unknown", R"({"data": [1], "x\u0000\ud83d": [1]})", 400, ""},
      {"misspelt", R"({"dota": [1, 2]})", 400, "'dota' is none of the model's"},
      {"no list", R"({"data": 3})", 400, "'data' has number where a list is expected"},
      {"no number", R"({"data": [1, "two"]})", 400, "'data' has string where a number"},
      {"null", R"({"data": [1, null]})", 400, "null"},
      {"NaN", R"({"data": [1, NaN]})", 400, "no JSON object"},
      {"infinite", R"({"data": [1, 1e999]})", 400, ""},
      {"not finite", R"({"data": [1, 1e300]})", 400, "not finite"},
      {"too many axes", R"({"data": [[1, 2], [3, 4]]})", 400, "has array where a number"},
      {"empty list", R"({"data": []})", 400, "expected (?,)"},
      {"too long", json{{"data", std::vector<int>(16, 1)}}.dump(), 400, "length 16"},
      {"deep", R"({"data": )" + deep + "}", 400, "has array where a number"},
      {"deep, of two keys", R"({"x": )" + deep + R"(, "y": 0})", 400, "'x' is none"},
      {"huge", json{{"data", std::vector<int>(kMaxBody, 7)}}.dump(), 413, ""},
  };
  for (const auto& c : kCases) {
    const httplib::Result result = Predict(c.body);
    ASSERT_TRUE(result) << c.name;
    EXPECT_EQ(result->status, c.status) << c.name << ": " << result->body;
    EXPECT_THAT(result->body, HasSubstr(c.says)) << c.name;
    if (c.status == 400) {
      EXPECT_TRUE(json::parse(result->body).contains("error")) << c.name;
    }
    ExpectWell(c.name);
  }
}

TEST_F(ServeTest, BrokenConnectionsDoNoHarm) {
  const std::string head = "POST /predict HTTP/1.1\r\nHost: x\r\n";
  EXPECT_THAT(Send("no HTTP at all\r\n\r\n"), HasSubstr("400"));
  EXPECT_THAT(Send(head + "Content-Length: 99999999999999999999999\r\n\r\n{}"), HasSubstr("HTTP/"));
  EXPECT_THAT(Send(head + "Content-Length: 100000000\r\n\r\n{}"), HasSubstr("413"));
  ExpectWell("a huge length");
  Send(head + "Content-Length: 50\r\n\r\n{\"data\"", /*end=*/true);
  ExpectWell("half a body");
  Send(head + "Content-Length: 50\r\n\r\n{\"data\"");  // and nothing more comes
  ExpectWell("a slow body");
  Send(head + "Transfer-Encoding: chunked\r\n\r\nzzzz\r\n");
  ExpectWell("bad chunks");
  EXPECT_THAT(Send(head + "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n"
                          "\r\n--x--\r\n\r\n"),
              HasSubstr("415"));
  ExpectWell("several parts");
  Send("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n");
  ExpectWell("a long path");
  EXPECT_EQ(Client().Get("/no/such/path")->status, 404);
  EXPECT_EQ(Client().Get("/predict")->status, 404);
}

TEST_F(ServeTest, GoodRequestsAreRightAmongHostileOnes) {
  const std::string good = R"({"data": [7, 2, 9, 4, 4, 1]})";
  const json expected = json::parse(Predict(good)->body);
  std::atomic<int> wrong{0}, refused{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      httplib::Client client = Client();
      client.set_keep_alive(true);
      for (int k = 0; k < 50; ++k) {
        if ((i + k) % 2 == 0) {
          const char* bodies[] = {"{", "{}", R"({"data": [1e300]})", R"({"data": [[1]]})"};
          const httplib::Result result = client.Post("/predict", bodies[k % 4], "application/json");
          refused += result && result->status == 400;
          continue;
        }
        const httplib::Result result = client.Post("/predict", good, "application/json");
        if (!result || result->status != 200) {
          ++wrong;
          continue;
        }
        const json answer = json::parse(result->body);
        for (size_t v = 0; v < 24; ++v) {
          const double a = answer["outputs"][0]["values"][v];
          const double b = expected["outputs"][0]["values"][v];
          wrong += std::abs(a - b) > 1e-5;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(refused, 100);
}

TEST_F(ServeTest, TellsOfItself) {
  EXPECT_EQ(Client().Get("/healthz")->body, "ok\n");
  Predict("{}");
  const httplib::Result metrics = Client().Get("/metrics");
  EXPECT_THAT(metrics->body, AllOf(HasSubstr("cooper_http_responses_total{status=\"2xx\"}"),
                                   HasSubstr("# TYPE cooper_batches_total counter"),
                                   HasSubstr("cooper_predict_seconds_total")));
  EXPECT_EQ(metrics->body.find("cooper_http_responses_total{status=\"4xx\"} 0"), std::string::npos);
}

}  // namespace
}  // namespace cooper
