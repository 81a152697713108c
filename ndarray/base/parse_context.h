#ifndef COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
#define COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_

// Reads contexts from text, such as the options of programs.

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/context.h"

namespace cooper {

// Parses a context in the form of Context::ToString: "cpu(0)", "gpu(1)", or "cpu" and "gpu" for
// number 0. kInvalidArgument, with the text, for others.
absl::StatusOr<Context> ParseContext(absl::string_view text);

// Parses a list of contexts separated by commas, "gpu(0),gpu(1)", which must not be empty. Spaces
// around a context are ignored. Errors are those of ParseContext.
absl::StatusOr<std::vector<Context>> ParseContexts(absl::string_view text);

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_PARSE_CONTEXT_H_
