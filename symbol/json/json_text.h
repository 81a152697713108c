#ifndef COOPER_SYMBOL_JSON_JSON_TEXT_H_
#define COOPER_SYMBOL_JSON_JSON_TEXT_H_

// Parses the text of a symbol file as JSON, within limits. json_graph.h builds a graph from it.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"
#include "symbol/json/load_limits.h"

namespace cooper {

// Parses the text, in which strings may hold control characters as MXNet writes them. Fails with
// kInvalidArgument if it is no JSON, saying what kind of file it is if that is known, or is nested
// too deeply; with kResourceExhausted if it exceeds `limits`.
absl::StatusOr<nlohmann::json> ParseSymbolText(absl::string_view text, const LoadLimits& limits);

// Returns kInvalidArgument: "symbol file: node 3 has no 'op'", from `what` and its `problem`.
absl::Status MalformedSymbol(absl::string_view what, absl::string_view problem);

// Returns kResourceExhausted: there are more than `limit` of `what`. The message names `of`, the
// member of LoadLimits that sets the limit.
absl::Status ExceedsLimit(absl::string_view what, int64_t limit, absl::string_view of);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_JSON_TEXT_H_
