#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_

// Joins the steps of one layer, each of which takes its state from the one before, into chains that
// can be computed as a whole.

#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/rnn_cell_matcher.h"

namespace cooper {

// Indices into `cells`, in the order of time.
using RNNChain = std::vector<int>;

// Returns chains that cover all cells. Within a chain the state of each step but the first comes
// from the step before, the cell states of all steps but the last are used only by the next step,
// and no step's data depends on another step, so that all data can be computed before the first
// step. Exchanges i2h and h2h of cells where the chain shows that they are swapped.
std::vector<RNNChain> ChainRNNCells(const GraphFacts& facts, std::vector<RNNCellMatch>& cells);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_
