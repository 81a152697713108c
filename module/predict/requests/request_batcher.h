#ifndef COOPER_MODULE_PREDICT_REQUESTS_REQUEST_BATCHER_H_
#define COOPER_MODULE_PREDICT_REQUESTS_REQUEST_BATCHER_H_

// Batches requests of single samples: requests for one bucket that arrive within a short time are
// computed together, and each gets its own rows back.
//
//   COOPER_ASSIGN_OR_RETURN(const auto batcher, RequestBatcher::Create(predictor, {
//       .inputs = {{.name = "data", .shape = {kUnknownDim}}},
//       .lengths = {10, 20, 40},
//       .max_batch_size = 32,
//       .max_delay = std::chrono::milliseconds(2)}));
//   std::future<RequestBatcher::Outputs> tags = batcher->Submit({{"data", words}});

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "module/predict/predictor.h"
#include "module/predict/requests/request_format.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Options of RequestBatcher::Create.
struct RequestBatcherOptions {
  std::vector<RequestInput> inputs;
  // Rising. A request is padded to the smallest length that holds it, which is also the key of the
  // network that computes it. Empty if no input has unknown extents; then the key is 0. With more
  // lengths than the predictor's max_programs, some are compiled again while requests wait.
  std::vector<int64_t> lengths;
  // If not empty, an input (batch_size,) of the network that receives the lengths without padding,
  // in the network's dtype for it.
  std::string length_name;
  int64_t max_batch_size = 32;
  // How long a request may wait for others: at least 0; values above a day mean a day.
  std::chrono::microseconds max_delay{2000};
  // Batches that are computed at the same time, each by a thread that may use all cores.
  int num_threads = 1;
  // Limit of waiting requests; one more is kResourceExhausted.
  int64_t max_waiting = 4096;
  // Whether to refuse requests with NaN or infinite elements.
  bool check_finite = true;
};

// See the top of the file. Thread-safe.
class RequestBatcher {
 public:
  // By output of the network: the sample's row, without the batch axis and without padding. A
  // second axis that follows the lengths is cut to the request's length; an output of batch_size *
  // length rows, sample by sample or step by step, gives the sample's rows. With one bucket whose
  // network accepts no other length, it is unknown what follows the length, and nothing is cut.
  using Outputs = absl::StatusOr<std::vector<NDArray>>;
  using Callback = std::function<void(Outputs outputs)>;

  // Compiles the networks of all buckets for max_batch_size, and one for a smaller batch (with a
  // single bucket, also for a smaller length). If an output has batch_size * length rows, computes
  // batches of made-up samples to find their order.
  //
  // Errors: kInvalidArgument for inputs that differ from the predictor's in name or dtype, for
  // unknown extents without lengths, and for options out of range; kUnimplemented for an output
  // whose rows do not belong to samples, or to unknown ones.
  static absl::StatusOr<std::unique_ptr<RequestBatcher>> Create(
      std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options);
  // Waits until all requests are answered; but on one of the batcher's own threads, where a
  // callback may own the last reference, it returns and the threads answer the rest.
  ~RequestBatcher();

  // Queues a request. An invalid request gets an error of its own (kInvalidArgument, naming the
  // input). If a batch fails with kInvalidArgument or kOutOfRange, for example because an operator
  // refuses one sample, each of its requests is computed alone. Any other error, such as that of
  // memory or a device, is the answer to all of the batch. The arrays must not change until the
  // answer. Thread-safe.
  std::future<Outputs> Submit(ArrayMap request);
  // Queues a request, and calls `done` once with the answer: on one of the batcher's threads, where
  // further work waits until it returns, or on the caller's thread if the request is refused.
  // Exceptions of `done` are logged; its destructor must not throw. With a null `done` the request
  // is refused.
  void Submit(ArrayMap request, Callback done);

  // Numbers since the start.
  struct Counts {
    int64_t requests = 0;  // taken into batches
    int64_t refused = 0;
    int64_t batches = 0;
  };
  Counts counts() const;

 private:
  class Impl;
  explicit RequestBatcher(std::shared_ptr<Impl> impl);

  const std::shared_ptr<Impl> impl_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_REQUEST_BATCHER_H_
