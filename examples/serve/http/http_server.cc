#include "examples/serve/http/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "examples/serve/http/http_head.h"

namespace cooper {
namespace {

// The limit for a request's line and headers together.
constexpr uint64_t kMaxHeadBytes = 1 << 16;
// A connection is closed after this many requests, so that its thread can serve others.
constexpr int kMaxRequests = 1000;

// An upper bound of the bytes that are sent for one byte of a chunked body: a chunk of one byte
// also has a length and two line ends.
constexpr uint64_t kMaxChunking = 8;
// The time for a client to read the answer to a request whose body was not read to its end.
constexpr std::chrono::milliseconds kDrain{1000};

constexpr int kBacklog = 128;

constexpr absl::string_view kNoRoom =
    "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

void Refuse(const HttpRefusal& refusal, httplib::Response& response) {
  response.status = refusal.status;
  response.set_content(absl::StrCat("refused: ", refusal.reason, "\n"), "text/plain");
}

}  // namespace

// httplib gives each connection as a task that must be run, since it closes the socket: one for
// which there is no room is run by the thread that accepts it, where process_and_close_socket
// refuses it.
class HttpServer::Queue : public httplib::TaskQueue {
 public:
  explicit Queue(HttpServer& server) : server_(server), threads_(server.options_.num_threads) {}

  // void, and in later versions than Debian 12's whether the task was taken.
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Enqueued enqueue(std::function<void()> serve) override {
    if (server_.waiting_ >= server_.options_.max_waiting) {
      serve();
    } else {
      ++server_.waiting_;
      threads_.enqueue([this, serve = std::move(serve)] {
        --server_.waiting_;
        serve();
      });
    }
    return Enqueued(true);
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  HttpServer& server_;
  httplib::ThreadPool threads_;
};

HttpServer::HttpServer(const HttpServerOptions& options) : options_(options) {
  // As Serve keeps it, for the header of answers.
  set_keep_alive_max_count(kMaxRequests);
  set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(options.idle_timeout).count());
  new_task_queue = [this] {
    listening_thread_ = std::this_thread::get_id();
    return new Queue(*this);
  };
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    const HttpRefusal refusal = RefusalOf(request, options_.max_body_bytes);
    if (refusal.status == 0) return HandlerResponse::Unhandled;
    cooper::Refuse(refusal, response);
    return HandlerResponse::Handled;
  });
  // Answers clients that send "Expect: 100-continue", as curl does with large bodies.
  set_expect_100_continue_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        const HttpRefusal refusal = RefusalOf(request, options_.max_body_bytes);
        if (refusal.status == 0) return 100;
        cooper::Refuse(refusal, response);
        return refusal.status;
      });
  set_tcp_nodelay(true);  // answers are small, and a connection has many of them
  // In place of httplib's SO_REUSEPORT, with which two servers of one user share a port silently.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
}

void HttpServer::PostBody(const std::string& pattern, BodyHandler handler) {
  Post(pattern,
       [this, handler = std::move(handler)](const httplib::Request&, httplib::Response& response,
                                            const httplib::ContentReader& read) {
         std::string body;
         bool fits = true;
         const bool whole = read([&](const char* data, size_t size) {
           fits = size <= options_.max_body_bytes - body.size();
           if (fits) body.append(data, size);
           return fits;
         });
         if (whole) return handler(body, response);
         cooper::Refuse(fits ? HttpRefusal{400, "a body that has not come whole"}
                             : HttpRefusal{413, "a body that is too large"},
                        response);
       });
}

absl::StatusOr<int> HttpServer::Start(const std::string& host, int port) {
  if (options_.num_threads < 1 || options_.max_waiting < 1) {
    return absl::InvalidArgumentError(absl::StrCat("HttpServer: num_threads is ",
                                                   options_.num_threads, ", max_waiting ",
                                                   options_.max_waiting, ": expected at least 1"));
  }
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound < 0) return absl::UnavailableError(absl::StrCat("cannot listen on ", host, ":", port));
  listener_ = fcntl(svr_sock_, F_DUPFD_CLOEXEC, 0);
  if (listener_ < 0) {
    close(svr_sock_);
    return absl::UnavailableError("too many files are open to listen");
  }
  // httplib lets 5 wait to be accepted. When as many as a batch has come at once, the others would
  // be tried again a second later.
  ::listen(listener_, kBacklog);
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

bool HttpServer::process_and_close_socket(socket_t socket) {
  HttpConnection connection(socket);
  if (std::this_thread::get_id() == listening_thread_) {
    Refuse(connection);
  } else {
    Serve(connection);
  }
  return true;
}

void HttpServer::Refuse(HttpConnection& connection) {
  ++num_refused_;
  connection.BeginRequest(std::chrono::milliseconds(1), 0);
  connection.write(kNoRoom.data(), kNoRoom.size());  // to an empty buffer: others are not held up
  connection.Drain(std::chrono::milliseconds(0));
}

void HttpServer::Serve(HttpConnection& connection) {
  for (int i = 0; i < kMaxRequests && WaitForRequest(connection, /*is_first=*/i == 0); ++i) {
    const bool is_last = i + 1 == kMaxRequests || stopping_ || waiting_ > 0;
    bool closes = false;  // as the client wishes
    connection.BeginRequest(options_.timeout, kMaxHeadBytes);
    std::optional<uint64_t> end;  // of the request among the connection's bytes, where it is known
    const auto begin_body = [&](httplib::Request& request) {
      connection.BeginBody(kMaxHeadBytes + kMaxChunking * options_.max_body_bytes);
      const std::optional<uint64_t> bytes = BodyBytes(request);
      if (bytes.has_value()) end = connection.bytes_read() + *bytes;
      if (bytes.has_value() && RefusalOf(request, options_.max_body_bytes).status == 0) return;
      request.headers.erase("Connection");
      request.set_header("Connection", "close");  // which the answer repeats
    };
    const bool answered = [&](auto& self) {
      if constexpr (requires { self.process_request(connection, is_last, closes, begin_body); }) {
        return self.process_request(connection, is_last, closes, begin_body);
      } else {  // later versions than Debian 12's want the addresses
        return self.process_request(connection, "", 0, "", 0, is_last, closes, begin_body);
      }
    }(*this);
    // The unread rest of a body must not be parsed as the next request.
    const bool was_read = connection.bytes_read() == end;
    if (answered && !was_read) connection.Drain(kDrain);
    if (!answered || !was_read || closes || is_last) break;
  }
}

bool HttpServer::WaitForRequest(HttpConnection& connection, bool is_first) const {
  constexpr std::chrono::milliseconds kLook{20};
  const auto end = HttpConnection::Clock::now() + options_.idle_timeout;
  while (!stopping_) {
    if (connection.WaitToRead(std::min(kLook, options_.idle_timeout))) return true;
    if (HttpConnection::Clock::now() >= end || (!is_first && waiting_ > 0)) return false;
  }
  return false;
}

absl::Status HttpServer::Wait() {
  if (thread_.joinable()) thread_.join();
  return result_;
}

}  // namespace cooper
