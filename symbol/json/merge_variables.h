#ifndef COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_
#define COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_

// MXNet lets a graph have several variables of one name (the label of two losses, the source of an
// encoder and of its attention), and whoever binds it gives them one array. Here a name is one
// variable.

#include "absl/status/status.h"
#include "symbol/json/json_graph.h"

namespace cooper {

// Makes all variables of one name the first of them, which takes over the attributes of the others,
// the last of which win, as in MXNet's attr_dict. The others stay in the list, used by nothing;
// versions of inputs (JsonGraph::Entry) are to be counted anew. Linear in the size of the graph.
//
// Fails with kInvalidArgument, naming it, for a name that is an argument in one place and an
// auxiliary state in another: these are two arrays in MXNet too. Other errors are MakeOpCall's and
// InputNamesOf's.
absl::Status MergeVariablesOfOneName(JsonGraph* graph);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_
