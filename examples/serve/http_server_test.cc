#include "examples/serve/http_server.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

// Of this process, that listens on the port.
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
  for (int i = 0; i < 100; ++i) {
    HttpServer server;
    COOPER_ASSERT_OK(server.Start("127.0.0.1", 0).status());
  }
  HttpServer never_started;
}

}  // namespace
}  // namespace cooper
