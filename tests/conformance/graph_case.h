#ifndef COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_
#define COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_

// Checks cases that have a symbol and arrays (operators, small graphs, RNN cells): shapes, types,
// forward and backward.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/program/kernel.h"
#include "symbol/graph/symbol.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// Parses "null", "write" or "add".
absl::StatusOr<WriteReq> WriteReqFromJson(const Json& json);

// A symbol file that MXNet 1.9.1 wrote.
struct SymbolFile {
  Symbol symbol;
  std::string text;
};
absl::StatusOr<SymbolFile> ReadSymbolFile(const std::string& path);

// Checks that saving the symbol reproduces the text. Ignores node_row_ptr: some operators of MXNet
// have hidden outputs for the use of one library, which readers do not need.
absl::Status CheckSaved(const SymbolFile& file);

// Checks inference against `json`, the case's infer_shape: infers from `known` alone and compares
// by name.
absl::Status CheckInferShape(const Symbol& symbol, const Json& json, bool partial = false);
absl::Status CheckInferType(const Symbol& symbol, const Json& json);

// Binds and runs the graph; compares outputs, gradients and auxiliary states, and checks that no
// argument was written. `io` and `json` are io.params and case.json.
absl::Status CheckExecution(const Symbol& symbol, const Arrays& io, const Json& json);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_GRAPH_CASE_H_
