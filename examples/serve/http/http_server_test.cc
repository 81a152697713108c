#include "examples/serve/http/http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Returns this process's socket that listens on `port`.
int ListeningSocket(int port) {
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    int listens = 0;
    socklen_t listens_size = sizeof(listens);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) == 0 && listens != 0 &&
        ntohs(address.sin_port) == port) {
      return fd;
    }
  }
  return -1;
}

using std::chrono::milliseconds;
using std::chrono::seconds;

// A client that sends what it likes.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval limit = {.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~RawClient() { close(fd_); }

  bool Send(const std::string& text) {
    return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Reads until `text` has been received or the connection has ended.
  std::string ReadUntil(const std::string& text) {
    std::string answer;
    char c = 0;
    while (answer.find(text) == std::string::npos && recv(fd_, &c, 1, 0) == 1) answer += c;
    return answer;
  }
  std::string ReadAll() { return ReadUntil("\n\n\n no end \n\n\n"); }

 private:
  const int fd_;
};

// Seconds that the function takes.
template <typename Function>
double Seconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr char kGet[] = "GET /healthz HTTP/1.1\r\n\r\n";

class HttpServerLimitsTest : public testing::Test {
 protected:
  void Start(const HttpServerOptions& options) {
    server_ = std::make_unique<HttpServer>(options);
    server_->Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    server_->Get("/slow", [this](const httplib::Request&, httplib::Response& response) {
      ++num_slow_;
      release_.wait();
      response.set_content("slow\n", "text/plain");
    });
    server_->Get("/large", [](const httplib::Request&, httplib::Response& response) {
      std::string beyond_buffers;  // of sockets
      beyond_buffers.resize(50'000'000, 'a');
      response.set_content(beyond_buffers, "text/plain");
    });
    server_->PostBody("/count", [](const std::string& body, httplib::Response& response) {
      response.set_content(std::to_string(body.size()) + " bytes\n", "text/plain");
    });
    const absl::StatusOr<int> port = server_->Start("127.0.0.1", 0);
    COOPER_ASSERT_OK(port.status());
    port_ = *port;
  }

  std::promise<void> released_;
  const std::shared_future<void> release_ = released_.get_future().share();
  std::atomic<int> num_slow_{0};
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
};

TEST_F(HttpServerLimitsTest, AConnectionHasManyRequests) {
  Start({});
  RawClient client(port_);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client.Send(std::string(kGet) + kGet));
    EXPECT_THAT(client.ReadUntil("ok\n"), HasSubstr("200 OK"));
    EXPECT_THAT(client.ReadUntil("ok\n"), HasSubstr("200 OK"));
  }
}

TEST_F(HttpServerLimitsTest, ARequestHasOneTimeLimit) {
  Start({.timeout = milliseconds(500)});
  for (const char* const begin : {"GET /healthz HTTP/1.1\r\nA: ",
                                  "POST /healthz HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"}) {
    RawClient client(port_);
    ASSERT_TRUE(client.Send(begin));
    EXPECT_LT(Seconds([&] {
                for (int i = 0; i < 200 && client.Send("a"); ++i) {
                  std::this_thread::sleep_for(milliseconds(50));
                }
              }),
              5)
        << begin;
  }
}

TEST_F(HttpServerLimitsTest, AHeadHasABoundedLength) {
  Start({.timeout = seconds(60)});
  RawClient client(port_);
  const std::string text(10'000, 'a');
  EXPECT_LT(Seconds([&] {
              client.Send("GET /healthz HTTP/1.1\r\n");
              for (int i = 0; i < 10'000 && client.Send(text); ++i) {
              }
            }),
            20);
}

// Returns a request whose body of `size` bytes is in chunks of one byte.
std::string Chunks(int size) {
  std::string text = "POST /count HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < size; ++i) text += "1\r\na\r\n";
  return text + "0\r\n\r\n";
}

TEST_F(HttpServerLimitsTest, ABodyHasABoundedLength) {
  Start({.max_body_bytes = 100'000});
  const std::string post = "POST /count HTTP/1.1\r\n";
  const struct {
    const char* name;
    std::string request;
    const char* answer;
  } kCases[] = {
      {"largest", post + "Content-Length: 100000\r\n\r\n" + std::string(100'000, 'a'),
       "100000 bytes"},
      {"largest in chunks", Chunks(100'000), "100000 bytes"},
      {"too large in chunks", Chunks(100'001), " 413 "},
      {"one large chunk",
       post + "Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n" + std::string(100'001, 'a'),
       " 413 "},
      {"too large, unread", post + "Content-Length: 100001\r\n\r\n", " 413 "},
      {"asked for first", post + "Expect: 100-continue\r\nContent-Length: 100001\r\n\r\n", " 413 "},
      {"compressed", post + "Content-Encoding: gzip\r\nContent-Length: 9\r\n\r\n", " 415 "},
      {"brotli", post + "Content-Encoding: br\r\nContent-Length: 9\r\n\r\n", " 415 "},
      {"several parts",
       post + "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 9\r\n\r\n",
       " 415 "},
      {"no length", post + "\r\n", " 411 "},
      {"cut off", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", " 400 "},
      {"of another path", "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", " 404 "},
  };
  for (const auto& c : kCases) {
    RawClient client(port_);
    client.Send(c.request);
    EXPECT_THAT(client.ReadUntil(c.answer), HasSubstr(c.answer)) << c.name;
  }
}

// Else httplib would answer with parts of a body, or with thousands of copies.
TEST_F(HttpServerLimitsTest, RangesAreIgnored) {
  Start({});
  std::string many = "bytes=0-";  // as many as httplib takes in a line
  while (many.size() < 8100) many += ",0-";
  const std::string kRequests[][2] = {
      {"GET /healthz HTTP/1.1\r\n", "\r\n\r\nok\n"},
      {"POST /count HTTP/1.1\r\nContent-Length: 0\r\n", "\r\n\r\n0 bytes\n"}};
  for (const auto& [begin, answer] : kRequests) {
    for (const std::string& range :
         {std::string("Range: bytes=0-0"), std::string("rAnGe:bytes=1-"), "Range: " + many,
          "Range: bytes=" + std::string(8000, '1') + "-", std::string("Range: items=0-0")}) {
      RawClient client(port_);
      ASSERT_TRUE(client.Send(begin + range + "\r\nConnection: close\r\n\r\n"));
      const std::string answered = client.ReadAll();
      EXPECT_THAT(answered, StartsWith("HTTP/1.1 200 ")) << range.substr(0, 30);
      EXPECT_THAT(answered, EndsWith(answer)) << range.substr(0, 30);
    }
  }
}

// The unread rest of a refused request is not parsed as a request.
TEST_F(HttpServerLimitsTest, NoRequestBeginsInABody) {
  Start({.max_body_bytes = 100});
  const std::string hidden = kGet;
  for (const std::string& begin :
       {std::string("POST /count HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n"),
        std::string("POST /count HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        std::string("POST /count HTTP/1.1\r\nContent-Length: 25\r\nContent-Length: 1\r\n\r\n"),
        std::string("GET /none HTTP/1.1\r\nContent-Length: 25\r\n\r\n")}) {
    RawClient client(port_);
    ASSERT_TRUE(client.Send(begin + hidden));
    const std::string answer = client.ReadAll();
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 4")) << begin;
    EXPECT_EQ(answer.find(" 200 "), std::string::npos) << begin;
  }
}

TEST_F(HttpServerLimitsTest, IdleConnectionsLeaveTheirThread) {
  Start({.num_threads = 1, .idle_timeout = milliseconds(200)});
  RawClient silent(port_);
  RawClient client(port_);
  ASSERT_TRUE(client.Send(kGet));
  EXPECT_THAT(client.ReadUntil("ok\n"), HasSubstr("200 OK"));
  EXPECT_EQ(silent.ReadAll(), "");
}

TEST_F(HttpServerLimitsTest, ConnectionsGiveWayBetweenRequests) {
  Start({.num_threads = 1, .timeout = seconds(60), .idle_timeout = seconds(60)});
  RawClient first(port_);
  ASSERT_TRUE(first.Send(kGet));
  EXPECT_THAT(first.ReadUntil("ok\n"), HasSubstr("200 OK"));
  RawClient second(port_);
  ASSERT_TRUE(second.Send(kGet));
  EXPECT_LT(Seconds([&] { EXPECT_THAT(second.ReadUntil("ok\n"), HasSubstr("200 OK")); }), 10);
  EXPECT_EQ(first.ReadAll(), "");
}

TEST_F(HttpServerLimitsTest, RefusesConnectionsThatFindNoRoom) {
  Start({.num_threads = 1, .max_waiting = 1});
  RawClient first(port_);
  ASSERT_TRUE(first.Send("GET /slow HTTP/1.1\r\n\r\n"));
  while (num_slow_ == 0) std::this_thread::yield();
  RawClient second(port_);
  ASSERT_TRUE(second.Send(kGet));
  for (int i = 0; i < 3; ++i) {
    RawClient other(port_);
    EXPECT_THAT(other.ReadAll(), StartsWith("HTTP/1.1 503 "));
  }
  EXPECT_EQ(server_->num_refused(), 3);
  released_.set_value();
  EXPECT_THAT(first.ReadUntil("slow\n"), HasSubstr("200 OK"));
  EXPECT_THAT(second.ReadUntil("ok\n"), HasSubstr("200 OK"));
}

TEST_F(HttpServerLimitsTest, AnAnswerThatIsNotReadLeavesItsThread) {
  Start({.num_threads = 1, .timeout = milliseconds(500), .idle_timeout = seconds(60)});
  RawClient deaf(port_);
  ASSERT_TRUE(deaf.Send("GET /large HTTP/1.1\r\n\r\n"));
  RawClient client(port_);
  ASSERT_TRUE(client.Send(kGet));
  EXPECT_LT(Seconds([&] { EXPECT_THAT(client.ReadUntil("ok\n"), HasSubstr("200 OK")); }), 10);
}

TEST_F(HttpServerLimitsTest, EndsBesideAClientThatDrips) {
  Start({.timeout = milliseconds(500), .idle_timeout = seconds(60)});
  RawClient silent(port_);
  RawClient client(port_);
  ASSERT_TRUE(client.Send("GET /healthz HTTP/1.1\r\nA: "));
  std::atomic<bool> ended{false};
  std::thread drip([&] {
    while (!ended && client.Send("a")) std::this_thread::sleep_for(milliseconds(50));
  });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(Seconds([&] { server_.reset(); }), 10);
  ended = true;
  drip.join();
}

TEST(HttpServerTest, OptionsAreChecked) {
  EXPECT_THAT(HttpServer({.num_threads = 0}).Start("127.0.0.1", 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_threads is 0")));
  EXPECT_THAT(HttpServer({.max_waiting = 0}).Start("127.0.0.1", 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_waiting 0")));
}

TEST(HttpServerTest, WaitTellsThatTheSocketFailed) {
  HttpServer server;
  const absl::StatusOr<int> port = server.Start("127.0.0.1", 0);
  COOPER_ASSERT_OK(port.status());
  ASSERT_EQ(shutdown(ListeningSocket(*port), SHUT_RDWR), 0);
  EXPECT_THAT(server.Wait(), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("127.0.0.1:")));
  EXPECT_FALSE(httplib::Client("127.0.0.1", *port).Get("/"));
}

TEST(HttpServerTest, EndsWhereTheSocketFailed) {
  auto server = std::make_unique<HttpServer>();
  const absl::StatusOr<int> port = server->Start("127.0.0.1", 0);
  COOPER_ASSERT_OK(port.status());
  ASSERT_EQ(shutdown(ListeningSocket(*port), SHUT_RDWR), 0);
  while (server->is_running()) std::this_thread::yield();
  server.reset();
}

TEST(HttpServerTest, EndsAtOnce) {
  for (int i = 0; i < 20; ++i) {
    HttpServer server;
    COOPER_ASSERT_OK(server.Start("127.0.0.1", 0).status());
  }
  HttpServer never_started;
}

}  // namespace
}  // namespace cooper
