#ifndef COOPER_EXAMPLES_SERVE_HTTP_SERVER_H_
#define COOPER_EXAMPLES_SERVE_HTTP_SERVER_H_

// httplib's server with a thread of its own. Handlers are httplib's, and are added before Start.

#include <atomic>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "httplib.h"

namespace cooper {

class HttpServer : public httplib::Server {
 public:
  HttpServer();
  // Refuses new connections and waits for those that are open.
  ~HttpServer() override;

  // Listens from now on, and returns the port; of 0, one that is free. kUnavailable if it is taken.
  absl::StatusOr<int> Start(const std::string& host, int port);
  // Returns when nothing is answered any more: kUnavailable, since the listening socket failed. Not
  // beside the destructor.
  absl::Status Wait();

 private:
  // A second handle of the listening socket: httplib closes its own when accept fails, and another
  // file may have that number then.
  int listener_ = -1;
  std::atomic<bool> stopping_{false};
  absl::Status result_;  // of thread_, once it has ended
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_HTTP_SERVER_H_
