#ifndef COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_
#define COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_

// Finds the dtypes of a graph's arguments, outputs and auxiliary states from those that are known,
// with the engine that infers shapes. The two are independent: dtypes do not depend on shapes.

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

// The dtypes of a symbol; nullopt: unknown.
struct InferredTypes {
  std::vector<std::optional<DType>> args;     // in the order of Symbol::ListArguments
  std::vector<std::optional<DType>> outputs;  // of Symbol::ListOutputs
  std::vector<std::optional<DType>> auxs;     // of Symbol::ListAuxiliaryStates
  bool complete = false;
};

// Dtypes by the name of a variable.
using KnownTypes = std::map<std::string, DType>;

// Infers as many dtypes as possible. The attribute `__dtype__` is the default of a variable that is
// not in `known`. Fails with kInvalidArgument, naming node, input and both dtypes, on a
// contradiction, and with kNotFound if a name in `known` is no variable of the graph.
absl::StatusOr<InferredTypes> InferTypePartial(const Symbol& symbol, const KnownTypes& known);

// Infers dtypes as InferTypePartial does, but fails with kFailedPrecondition unless every dtype is
// known.
absl::StatusOr<InferredTypes> InferType(const Symbol& symbol, const KnownTypes& known);

// Returns the dtype of each entry before inference: for a variable that of `known` or `__dtype__`,
// for other entries nullopt. For callers that need the dtypes of inner nodes, which they infer with
// InferEntryTypes.
absl::StatusOr<std::vector<std::optional<DType>>> VariableTypes(const IndexedGraph& graph,
                                                                const KnownTypes& known);

// Refines one dtype per entry in place. Fails as InferTypePartial does.
absl::Status InferEntryTypes(const IndexedGraph& graph, std::vector<std::optional<DType>>& types);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_TYPE_H_
