#ifndef COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_

// Cells above each other: each takes the outputs of the one before it.

#include <memory>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

class SequentialRNNCell : public BaseRNNCell {
 public:
  // The variables of the cells are collected in `params`, or in a container of its own.
  explicit SequentialRNNCell(std::shared_ptr<RNNParams> params = nullptr);

  // Puts a cell on top. The caller may go on using it.
  void Add(RNNCellPtr cell);
  const std::vector<RNNCellPtr>& cells() const { return cells_; }

  void Reset() override;
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;
  // Those of all cells, from below.
  std::vector<StateInfo> state_info() const override;
  absl::StatusOr<std::vector<Symbol>> BeginState(const StateFn& make = ZeroStates()) override;
  absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const override;
  absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const override;

 private:
  std::vector<RNNCellPtr> cells_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_
