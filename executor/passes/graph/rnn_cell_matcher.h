#ifndef COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_

// Finds the steps of recurrent cells in a graph, by what they compute and not by their names: as
// the cells of symbol/rnn and MXNet's make them.

#include <cstdint>
#include <vector>

#include "executor/passes/graph/graph_facts.h"
#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/node.h"

namespace cooper {

// One step: h = f(data W^T + bias + h_prev U^T + bias', ...), the gates in the order of RNN's.
struct RNNCellMatch {
  // A FullyConnected with a bias, all of whose arrays are named here.
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
  NodeEntry h, c;          // what it gives; c with lstm
  std::vector<int> nodes;  // all that the step consists of, those of h and c among them
  // The sum of two products does not tell which is of the input and which of the state. True where
  // it has been told by the step before, whose h is h2h.data.
  bool sides_known = false;
};

// Every step, in the order of its h in the graph. Of steps nothing is used but h and c, nor has
// one a node of another. Arrays are float32 or float64.
std::vector<RNNCellMatch> FindRNNCells(const GraphFacts& facts);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_RNN_CELL_MATCHER_H_
