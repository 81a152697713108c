#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_

// Finds the steps of recurrent cells in a graph by their operators, not by their names. It knows
// the graphs that the cells of symbol/rnn and of MXNet build.

#include <cstdint>
#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/node.h"

namespace cooper {

// One step, h = f(data W^T + bias + h_prev U^T + bias', ...), with the gates in the order of the
// RNN operator.
struct RNNCellMatch {
  // A FullyConnected with a bias.
  struct Product {
    NodeEntry data, weight, bias;

    friend bool SameWeights(const Product& a, const Product& b) {
      return a.weight == b.weight && a.bias == b.bias;
    }
  };

  RNNMode mode = RNNMode::kLstm;
  int64_t hidden = 0;
  Product i2h, h2h;
  NodeEntry c_prev;        // lstm
  NodeEntry h, c;          // its results; c for lstm only
  std::vector<int> nodes;  // all nodes of the step, including those of h and c
  // Whether it is known which product reads the input and which the state. The sum of the two
  // products does not tell, but the step before does: h2h.data is its h.
  bool sides_known = false;
};

// Returns all steps, in the order of their h in the graph. Only h and c of a step have users
// outside of it, and no two steps share a node. Arrays are float32 or float64. O(nodes) time.
std::vector<RNNCellMatch> FindRNNCells(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_
