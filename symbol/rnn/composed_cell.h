#ifndef COOPER_SYMBOL_RNN_COMPOSED_CELL_H_
#define COOPER_SYMBOL_RNN_COMPOSED_CELL_H_

// The base of cells that contain other cells: SequentialRNNCell and BidirectionalCell. The states
// and weights of a composed cell are those of its cells, in their order.

#include <memory>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// Implements Reset, BeginState, PackWeights and UnpackWeights by calls of the cells in it, in turn.
// The cells are shared with the caller, who must not unroll them while this cell builds a graph.
class ComposedCell : public BaseRNNCell {
 public:
  // Returns the cells in the order in which they were added, which is that of the states.
  const std::vector<RNNCellPtr>& cells() const { return cells_; }

  void Reset() override;
  std::vector<StateInfo> state_info() const override;
  absl::StatusOr<std::vector<Symbol>> BeginState(const StateFn& make = ZeroStates()) override;
  absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const override;
  absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const override;

 protected:
  // Collects the cells' variables in `params`, or in a container of its own if that is null.
  explicit ComposedCell(std::shared_ptr<RNNParams> params);

  // Appends a cell, which must not be null, and adds its variables to params().
  void Add(RNNCellPtr cell);

 private:
  std::vector<RNNCellPtr> cells_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_COMPOSED_CELL_H_
