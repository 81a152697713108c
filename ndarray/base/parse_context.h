#ifndef COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
#define COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/context.h"

namespace cooper {

// The context that a text as Context::ToString's names: "cpu(0)", "gpu(1)", or "cpu", "gpu" for
// number 0. kInvalidArgument, with what came, for others.
absl::StatusOr<Context> ParseContext(absl::string_view text);

// The same of a list: "gpu(0),gpu(1)". Not empty.
absl::StatusOr<std::vector<Context>> ParseContexts(absl::string_view text);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
