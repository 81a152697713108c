#ifndef COOPER_EXAMPLES_SERVE_SERVE_H_
#define COOPER_EXAMPLES_SERVE_SERVE_H_

// Serves a trained model over HTTP, on top of RequestBatcher (module/predict).
//
//   POST /predict  {"data": [3, 1, 4]}  ->  {"outputs": [{"shape": [3, 4], "values": [0.1, ...]}]}
//   GET /healthz                        ->  ok
//   GET /metrics                        ->  counters in Prometheus format

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/predict/requests/request_batcher.h"

namespace httplib {
class Server;
}

namespace cooper {

struct PredictServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                     // 0: any free port
  size_t max_body_bytes = 1 << 20;  // larger requests get 413
  // The number of connections that are served at a time, each by a thread that waits for its
  // answer. A batch has at most this many requests, so it should exceed the batcher's
  // max_batch_size. Other connections wait.
  int num_threads = 32;
  // How long the server waits for the next bytes of a request, and for the client to take the next
  // bytes of the answer. A proxy in front limits the time of a whole request.
  int timeout_seconds = 5;
};

class PredictServer {
 public:
  // Starts to serve. `inputs` are the batcher's. kUnavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<PredictServer>> Start(
      std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
      const PredictServerOptions& options = {});
  // Rejects new connections and waits for the answers of requests that have begun.
  ~PredictServer();

  int port() const { return port_; }
  // Blocks while the server runs; returns kUnavailable when the listening socket fails. Must not
  // run concurrently with the destructor.
  absl::Status Wait();

 private:
  PredictServer(std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
                const PredictServerOptions& options);
  absl::Status Listen();
  void AddHandlers();
  std::string Metrics() const;

  const std::shared_ptr<RequestBatcher> batcher_;
  const std::vector<RequestInput> inputs_;
  const PredictServerOptions options_;
  int port_ = 0;
  std::atomic<int64_t> answered_{0}, refused_{0}, failed_{0};  // by status: 2xx, 4xx, 5xx
  std::atomic<int64_t> microseconds_{0};                       // of all requests together
  const std::unique_ptr<httplib::Server> server_;
  std::atomic<bool> ended_{false};  // server_ listens no more
  std::thread thread_;              // the thread that listens
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_SERVE_H_
