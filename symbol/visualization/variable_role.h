#ifndef COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_
#define COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_

// Tells data and labels from trained parameters. A graph does not: all of them are variables, and
// only whoever binds it says which ones come with each batch.

#include <vector>

#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

enum class VariableRole { kData, kLabel, kParameter, kAuxiliary };

// One role for each node of `graph`; without meaning for those that are operators. `shapes` are
// what the user gives for the graph's inputs. The first rule that holds decides:
//
// 1. An auxiliary state is what an operator uses as one.
// 2. A label has a name that ends in "label", or fills an input called label, or one of lengths
//    (sequence_length, data_lengths, ...), which come with the batch too.
// 3. A variable that `shapes` names is data, since a parameter's shape can be inferred; so is one
//    called "data", as for Module. But what fills inputs called weight, bias, gamma, beta or
//    parameters and no others is a parameter even where `shapes` names it.
// 4. Where `shapes` names others, the rest are parameters: Module would train them.
// 5. Without `shapes`, those are parameters that look like it: they fill such inputs and no others,
//    or have a name that ends as MXNet's names of weights do (_weight, _bias, ...).
std::vector<VariableRole> VariableRoles(const IndexedGraph& graph, const KnownShapes& shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_VARIABLE_ROLE_H_
