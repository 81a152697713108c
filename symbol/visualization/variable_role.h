#ifndef COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_
#define COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_

// Guesses which variables are data, labels and trained parameters. A graph does not record this:
// only the caller that binds it knows which arrays change with each batch.

#include <vector>

#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// The purpose of a variable.
enum class VariableRole { kData, kLabel, kParameter, kAuxiliary };

// Returns one role for each node of `graph`; the entries of operators are meaningless. `shapes` are
// the user's shapes of the graph's inputs. The first rule that applies decides:
//
// 1. A variable that an operator uses as an auxiliary state is an auxiliary state.
// 2. A variable is a label if its name ends in "label", or if it is used as an input called label
//    or as lengths (sequence_length, data_lengths, ...), which change with the batch too.
// 3. A variable that `shapes` names is data, since a parameter's shape can be inferred; so is one
//    called "data", as in Module. But a variable used only as weight, bias, gamma, beta or
//    parameters is a parameter even if `shapes` names it.
// 4. If `shapes` is not empty, all other variables are parameters: Module would train them.
// 5. Without `shapes`, a variable is a parameter if it is used only as weight, bias, gamma, beta or
//    parameters, or if its name ends like MXNet's names of weights (_weight, _bias, ...).
std::vector<VariableRole> VariableRoles(const IndexedGraph& graph, const KnownShapes& shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_
