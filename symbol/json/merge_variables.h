#ifndef COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_
#define COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_

// Merges variables of one name. MXNet lets a graph have several such variables (the label of two
// losses, the source of an encoder and of its attention), and binding gives them one array. In
// cooper only one variable of a graph may have a name.

#include "absl/status/status.h"
#include "symbol/json/json_graph.h"

namespace cooper {

// Replaces all variables of one name by the first of them, which takes the attributes of the
// others; the last value wins, as in MXNet's attr_dict. The others stay in the list, unused;
// versions of inputs (JsonGraph::Entry) must be counted again. O(size of the graph) time.
//
// Fails with kInvalidArgument, with the name, for a name that is an argument in one place and an
// auxiliary state in another: MXNet binds two arrays for such a name. Other errors: those of
// MakeOpCall and InputNamesOf.
absl::Status MergeVariablesOfOneName(JsonGraph* graph);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_MERGE_VARIABLES_H_
