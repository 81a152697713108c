#ifndef COOPER_EXAMPLES_SERVE_HTTP_HTTP_SERVER_H_
#define COOPER_EXAMPLES_SERVE_HTTP_HTTP_SERVER_H_

// httplib's server with a thread of its own, and limits for what strangers may take of it: the
// connections that are held, and the time and the bytes of each request. Handlers are added before
// Start: httplib's, and for bodies PostBody.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/serve/http/http_connection.h"
#include "httplib.h"

namespace cooper {

struct HttpServerOptions {
  // A longer body is answered with 413: unread where the head tells its length, and otherwise as
  // soon as more has come. Compressed bodies are refused (415).
  uint64_t max_body_bytes = 1 << 20;
  int num_threads = 32;  // connections that are served at a time
  // Connections that wait for a thread. One more is answered with 503 and closed.
  int max_waiting = 64;
  // For a client to send its request, from the first byte of its head to the last of its body, and
  // the same again to take the answer. Then the connection ends.
  std::chrono::milliseconds timeout{5000};
  // For the next request to begin, also the first; then the connection ends. Where others wait for
  // a thread, it ends after each answer.
  std::chrono::milliseconds idle_timeout{1000};
};

class HttpServer : public httplib::Server {
 public:
  explicit HttpServer(const HttpServerOptions& options = {});
  // Refuses new connections, ends those whose next request has not begun, and waits for the others'
  // answers, which their time limits bound.
  ~HttpServer() override;

  using BodyHandler = std::function<void(const std::string& body, httplib::Response& response)>;
  // Calls the handler for each request POST `pattern` whose body has come whole, of any type.
  void PostBody(const std::string& pattern, BodyHandler handler);

  // Listens from now on, and returns the port; of 0, one that is free. kUnavailable if it is taken.
  absl::StatusOr<int> Start(const std::string& host, int port);
  // Returns when nothing is answered any more: kUnavailable, since the listening socket failed. Not
  // beside the destructor.
  absl::Status Wait();

  // Connections that found no room so far.
  int64_t num_refused() const { return num_refused_; }

 private:
  class Queue;

  bool process_and_close_socket(socket_t socket) override;
  void Refuse(HttpConnection& connection);
  void Serve(HttpConnection& connection);
  bool WaitForRequest(HttpConnection& connection, bool is_first) const;

  const HttpServerOptions options_;
  std::thread::id listening_thread_;
  std::atomic<int> waiting_{0};  // connections, for a thread
  std::atomic<int64_t> num_refused_{0};
  // A second handle of the listening socket: httplib closes its own when accept fails, and another
  // file may have that number then.
  int listener_ = -1;
  std::atomic<bool> stopping_{false};
  absl::Status result_;  // of thread_, once it has ended
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_HTTP_HTTP_SERVER_H_
