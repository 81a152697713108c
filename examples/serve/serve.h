#ifndef COOPER_EXAMPLES_SERVE_SERVE_H_
#define COOPER_EXAMPLES_SERVE_SERVE_H_

// Serves a trained model over HTTP: a thin face over RequestBatcher (module/predict).
//
//   POST /predict  {"data": [3, 1, 4]}  ->  {"outputs": [{"shape": [3, 4], "values": [0.1, ...]}]}
//   GET /healthz                        ->  ok
//   GET /metrics                        ->  counts, as Prometheus reads them

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/predict/requests/request_batcher.h"

namespace cooper {

class HttpServer;

struct PredictServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                     // 0: any that is free
  size_t max_body_bytes = 1 << 20;  // a larger request is refused (http_server.h)
  // Connections that are served at a time, each by a thread that waits for its answer. A batch is
  // as large as this at most, so it should be above the batcher's max_batch_size.
  int num_threads = 32;
  int max_waiting = 64;     // connections that wait for a thread; one more is answered with 503
  int timeout_seconds = 5;  // for a client to send its request, and again to take the answer
};

class PredictServer {
 public:
  // Answers from now on. `inputs` are the batcher's. kUnavailable if the port is taken.
  static absl::StatusOr<std::unique_ptr<PredictServer>> Start(
      std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
      const PredictServerOptions& options = {});
  // Refuses new connections and waits for the answers of requests that have begun.
  ~PredictServer();

  int port() const { return port_; }
  // Returns when nothing is answered any more: kUnavailable, since the listening socket failed. Not
  // beside the destructor.
  absl::Status Wait();

 private:
  PredictServer(std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
                const PredictServerOptions& options);
  void AddHandlers();
  std::string Metrics() const;

  const std::shared_ptr<RequestBatcher> batcher_;
  const std::vector<RequestInput> inputs_;
  int port_ = 0;
  std::atomic<int64_t> answered_{0}, refused_{0}, failed_{0};  // by status: 2xx, 4xx, 5xx
  std::atomic<int64_t> microseconds_{0};                       // of all requests together
  const std::unique_ptr<HttpServer> server_;  // the last, since its threads use the others
};

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_SERVE_H_
