#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_

// Joins the steps of one layer, each of which takes its state from the one before, into chains that
// can be computed as a whole.

#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/rnn_cell_matcher.h"

namespace cooper {

// Positions in `cells`, in the order of time.
using RNNChain = std::vector<int>;

// Chains that cover all cells. Within one, nothing but the first step's state comes from outside by
// way of the state, cell states go nowhere else but the last one, and no step's data depends on
// another step: all data can be there before the first step. Tells the cells' products apart where
// the chain does.
std::vector<RNNChain> ChainRNNCells(const GraphFacts& facts, std::vector<RNNCellMatch>& cells);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_CHAINS_H_
