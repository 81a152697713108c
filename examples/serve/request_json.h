#ifndef COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_
#define COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_

// Parses the arrays of a request in JSON, {"data": [3, 1, 4]}: a number, or nested lists of equal
// length, for each input.

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/array/array_map.h"

namespace cooper {

// Parses `body`. Stops at the first value that fits no input, so time and memory are linear in
// `body`: kInvalidArgument, naming the input. Missing inputs, other shapes and non-finite values
// are left to the batcher's checks (RequestFormat).
absl::StatusOr<ArrayMap> ParseRequest(absl::string_view body,
                                      const std::vector<RequestInput>& inputs);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_REQUEST_JSON_H_
