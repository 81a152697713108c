#ifndef COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
#define COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/context.h"

namespace cooper {

// Parses a context in the form of Context::ToString: "cpu(0)", "gpu(1)", or "cpu" and "gpu" for
// number 0. kInvalidArgument, with the text, for others.
absl::StatusOr<Context> ParseContext(absl::string_view text);

// Parses a list of contexts, "gpu(0),gpu(1)", which must not be empty.
absl::StatusOr<std::vector<Context>> ParseContexts(absl::string_view text);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
