#ifndef COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_
#define COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_

// The arrays of a request in JSON: {"data": [3, 1, 4]}, with a number, or lists of equal length in
// lists, for each input.

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/array/array_map.h"

namespace cooper {

// What is missing, of another shape or not finite is left to the batcher (RequestFormat). Reading
// stops at the first that fits no input, so the time is linear in `body`, and the memory too:
// kInvalidArgument, naming the input.
absl::StatusOr<ArrayMap> ParseRequest(absl::string_view body,
                                      const std::vector<RequestInput>& inputs);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_
