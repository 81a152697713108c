#include "examples/serve/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace cooper {

HttpServer::HttpServer() {
  set_tcp_nodelay(true);  // answers are small, and a connection has many of them
  // In place of httplib's SO_REUSEPORT, with which two servers of one user share a port silently.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
}

absl::StatusOr<int> HttpServer::Start(const std::string& host, int port) {
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound < 0) return absl::UnavailableError(absl::StrCat("cannot listen on ", host, ":", port));
  listener_ = fcntl(svr_sock_, F_DUPFD_CLOEXEC, 0);
  if (listener_ < 0) return absl::UnavailableError("too many files are open to listen");
  thread_ = std::thread([this, host, bound] {
    if (listen_after_bind() || stopping_) return;
    result_ = absl::UnavailableError(absl::StrCat("the socket of ", host, ":", bound, " failed"));
    shutdown(listener_, SHUT_RDWR);  // else clients would wait for it
  });
  return bound;
}

// Not httplib's stop(), which does nothing before the thread has come to listen, nor after.
HttpServer::~HttpServer() {
  if (listener_ < 0) return;
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);  // which ends accept, also one that is still to come
  if (thread_.joinable()) thread_.join();
  close(listener_);
}

absl::Status HttpServer::Wait() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

}  // namespace cooper
