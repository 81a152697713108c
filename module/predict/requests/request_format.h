#ifndef COOPER_MODULE_PREDICT_REQUESTS_REQUEST_FORMAT_H_
#define COOPER_MODULE_PREDICT_REQUESTS_REQUEST_FORMAT_H_

// The inputs of requests of single samples, and the shapes of a batch of them (request_batcher.h
// assembles the batches).

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// An input of one sample.
struct RequestInput {
  std::string name;
  // The shape without the batch axis, which is put in front. Unknown extents (kUnknownDim) are the
  // request's length, which is the same in all its inputs.
  PartialShape shape;
  DType dtype = DType::kFloat32;
  double pad_value = 0;
};

// The fields have the meaning of those of RequestBatcherOptions.
struct RequestFormat {
  std::vector<RequestInput> inputs;
  std::vector<int64_t> lengths;
  std::string length_name;
  bool check_finite = true;

  // kInvalidArgument if the lengths do not rise from at least 1, if there are lengths without an
  // unknown extent or vice versa, or a length_name without lengths.
  absl::Status Check() const;

  // Returns the length of a valid request; 0 without lengths. kInvalidArgument, naming the input,
  // if one is missing, unknown, of another shape or dtype or not finite, or if the request is
  // longer than the last of the lengths.
  absl::StatusOr<int64_t> CheckRequest(const ArrayMap& request) const;

  // Returns the shapes of the network's inputs, including length_name, for a batch of requests
  // padded to `length`.
  KnownShapes BatchShapes(int64_t batch_size, int64_t length) const;

 private:
  // `length` is 0 until the first unknown extent sets it.
  absl::Status CheckInput(const RequestInput& input, const NDArray& array, int64_t* length) const;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_REQUEST_FORMAT_H_
