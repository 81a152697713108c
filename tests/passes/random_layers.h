#ifndef COOPER_TESTS_PASSES_RANDOM_LAYERS_H_
#define COOPER_TESTS_PASSES_RANDOM_LAYERS_H_

// Adds recurrent layers to random graphs, in all forms: stacked, bidirectional, with dropout,
// zoneout and residual sums, with MXNet's cells and unusual ones; over whole sequences or steps in
// any order; unrolled twice, or step by step.

#include <cstdint>
#include <string>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"
#include "tests/passes/graph_draft.h"

namespace cooper {

class RandomLayers {
 public:
  // Starts with an input sequence. The draft must outlive it.
  explicit RandomLayers(GraphDraft& draft);

  // Unrolls a network, new or already unrolled once, over a sequence.
  void Unroll();

  // Adds cells whose steps use the outputs of other cells' earlier steps: decoders, interleaved
  // layers.
  void StepByStep();

 private:
  // An array with axes batch, time and features; `layout` is "NTC" or "TNC".
  struct Sequence {
    Symbol symbol;
    int64_t length = 0, features = 0;
    std::string layout;
  };

  // Cells that may be unrolled several times.
  struct Network {
    RNNCellPtr cell;
    int64_t features = 0, outputs = 0;
  };

  Sequence NewSequence();
  void AddSequence(const Sequence& s);
  RNNCellPtr StepCell(int64_t hidden);
  // Returns one direction of a layer over `features` features.
  RNNCellPtr Direction(int64_t features, int64_t hidden);
  Network NewNetwork(int64_t features);
  // Returns zeros, variables, or the final states of another network.
  std::vector<Symbol> BeginState(BaseRNNCell& cell);
  // Returns the steps of a sequence: some omitted, reversed, or one repeated.
  std::vector<Symbol> Steps(const Sequence& s);
  // Returns lengths of the rows for valid_length: the row numbers in reverse order.
  Symbol Lengths();
  // Makes one of the network's weights a value for other parts.
  void AddWeight(const BaseRNNCell& cell, const Unrolled& unrolled);

  GraphDraft& g_;
  std::vector<Sequence> sequences_;
  std::vector<Network> networks_;
  std::vector<GraphValue> states_;  // final states of networks
};

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_LAYERS_H_
