#ifndef COOPER_MODULE_PREDICT_REQUESTS_REQUEST_BATCHER_H_
#define COOPER_MODULE_PREDICT_REQUESTS_REQUEST_BATCHER_H_

// Puts requests of single samples together to batches: requests that go to one bucket and come
// within a short time are computed at once, and each gets its own rows back.
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

struct RequestBatcherOptions {
  std::vector<RequestInput> inputs;
  // Rising. A request is padded to the smallest that holds it, which is also the key of the network
  // that computes it. Empty if no input has unknown extents; then the key is 0. Where there
  // are more than the predictor's max_programs, some are compiled again while requests wait.
  std::vector<int64_t> lengths;
  // If not empty, an input (batch_size,) of the network that gets the lengths without padding,
  // in the dtype that the network has for it.
  std::string length_name;
  int64_t max_batch_size = 32;
  // How long a request may wait for others: at least 0, and a day at most, whatever is more.
  std::chrono::microseconds max_delay{2000};
  // Batches that are computed at a time, each by a thread that may use all cores in turn.
  int num_threads = 1;
  // Requests that wait; one more is kResourceExhausted.
  int64_t max_waiting = 4096;
  // Refuses requests with NaN or infinite elements.
  bool check_finite = true;
};

class RequestBatcher {
 public:
  // By output of the network: the sample's row, without the batch axis and without padding. A
  // second axis that follows the lengths is cut to the request's, and an output of
  // batch_size * length rows, sample by sample or step by step, gives those of the sample. With one
  // bucket whose network takes no other length it cannot be told what follows the length, and
  // nothing is cut.
  using Outputs = absl::StatusOr<std::vector<NDArray>>;
  using Callback = std::function<void(Outputs outputs)>;

  // Compiles the networks of all buckets for max_batch_size and one for a sample less (of a single
  // bucket, also for a position less), and computes batches of made-up samples where an output has
  // batch_size * length rows, to find out in which order. kInvalidArgument for inputs that are not
  // the predictor's or have another dtype there, unknown extents without lengths, or an option out
  // of range; kUnimplemented for an output whose rows do not belong to samples, or for which it
  // cannot be told which belong to which.
  static absl::StatusOr<std::unique_ptr<RequestBatcher>> Create(
      std::shared_ptr<const Predictor> predictor, RequestBatcherOptions options);
  // Waits until all that was submitted is answered. Not on the batcher's own threads, where a
  // callback or the end of one may be the last to own it: those answer what is left on their own.
  ~RequestBatcher();

  // Thread-safe. What is wrong with a request is its own answer (kInvalidArgument, naming the
  // input) and nobody else's: where a batch fails with kInvalidArgument or kOutOfRange, as by an
  // operator that refuses what one request has, each of its requests is computed alone. Any other
  // error, as of memory or a device, is the answer to all of the batch. The arrays must not change
  // until then.
  std::future<Outputs> Submit(ArrayMap request);
  // Calls back once, on one of the batcher's threads, or on the caller's where the request is
  // refused. Others wait meanwhile. What `done` throws is logged and goes no further; its end must
  // not throw. With a null one, which nobody could tell anything, the request is refused.
  void Submit(ArrayMap request, Callback done);

  struct Counts {
    int64_t requests = 0;  // answered
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
