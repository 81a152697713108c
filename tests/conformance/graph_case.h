#ifndef COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_
#define COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_

// The checks of a case that has a symbol and arrays: shapes, types, forward, backward. Operators,
// small graphs and RNN cells are such cases.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "symbol/graph/symbol.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// "null", "write" or "add".
absl::StatusOr<WriteReq> WriteReqFromJson(const Json& json);

// The symbol of a file that MXNet 1.9.1 wrote.
struct SymbolFile {
  Symbol symbol;
  std::string text;
};
absl::StatusOr<SymbolFile> ReadSymbolFile(const std::string& path);

// Saving the symbol gives the text again. The section node_row_ptr is left out: some operators of
// MXNet have inner outputs, for the benefit of one library, that readers have no use for.
absl::Status CheckSaved(const SymbolFile& file);

// `json` is the case's infer_shape: shapes from `known` alone, compared by name.
absl::Status CheckInferShape(const Symbol& symbol, const Json& json, bool partial = false);
absl::Status CheckInferType(const Symbol& symbol, const Json& json);

// Binds, runs and compares outputs, gradients, auxiliary states and that no argument was written.
// `io` and `json` are io.params and case.json.
absl::Status CheckExecution(const Symbol& symbol, const Arrays& io, const Json& json);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_
