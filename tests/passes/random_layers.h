#ifndef COOPER_TESTS_PASSES_RANDOM_LAYERS_H_
#define COOPER_TESTS_PASSES_RANDOM_LAYERS_H_

// Recurrent layers of random graphs, in all their forms: stacked, bidirectional, with dropout,
// zoneout and residual sums, of cells as MXNet writes them and as others might; over whole
// sequences or steps in any order; unrolled twice, or step by step.

#include <cstdint>
#include <string>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"
#include "tests/passes/graph_draft.h"

namespace cooper {

class RandomLayers {
 public:
  // Begins with a sequence for layers to read. The draft must outlive it.
  explicit RandomLayers(GraphDraft& draft);

  // Unrolls a network, a new one or one that has been unrolled before, over a sequence.
  void Unroll();

  // Cells whose steps take what the others gave before: decoders, layers that wait for each other.
  void StepByStep();

 private:
  // Batch, time and features; "NTC" or "TNC".
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
  // One direction of a layer over `features` features.
  RNNCellPtr Direction(int64_t features, int64_t hidden);
  Network NewNetwork(int64_t features);
  // Zeros, variables, or what another network ended with.
  std::vector<Symbol> BeginState(BaseRNNCell& cell);
  // The steps of a sequence, some left out, in the other order, or one of them twice.
  std::vector<Symbol> Steps(const Sequence& s);
  // One of the network's weights, for others to use.
  Symbol Lengths();
  void AddWeight(const BaseRNNCell& cell, const Unrolled& unrolled);

  GraphDraft& g_;
  std::vector<Sequence> sequences_;
  std::vector<Network> networks_;
  std::vector<GraphValue> states_;  // with which networks ended
};

}  // namespace cooper

#endif  // COOPER_TESTS_PASSES_RANDOM_LAYERS_H_
