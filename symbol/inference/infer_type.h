#ifndef COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_
#define COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_

// Finds the dtypes of a graph's arguments, outputs and auxiliary states from those that are known,
// with the engine that infers shapes.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"

namespace cooper {

struct InferredTypes {
  std::vector<std::optional<DType>> args;     // in the order of Symbol::ListArguments
  std::vector<std::optional<DType>> outputs;  // of Symbol::ListOutputs
  std::vector<std::optional<DType>> auxs;     // of Symbol::ListAuxiliaryStates
  bool complete = false;
};

using KnownTypes = std::map<std::string, DType>;

// What can be known. A variable without a type in `known` has its `__dtype__` attribute's.
// kInvalidArgument, naming node, input and both types, on a contradiction; kNotFound if a name in
// `known` is no variable of the graph.
absl::StatusOr<InferredTypes> InferTypePartial(const Symbol& symbol, const KnownTypes& known);

// As InferTypePartial, but kFailedPrecondition unless everything becomes known.
absl::StatusOr<InferredTypes> InferType(const Symbol& symbol, const KnownTypes& known);

// For callers that need the types of inner nodes too: what is known of each entry before inference.
absl::StatusOr<std::vector<std::optional<DType>>> VariableTypes(const IndexedGraph& graph,
                                                                const KnownTypes& known);

// The engine on a numbered graph: refines one dtype per entry in place.
absl::Status InferEntryTypes(const IndexedGraph& graph, std::vector<std::optional<DType>>& types);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_
