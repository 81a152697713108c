#ifndef COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_

// Stacked cells: each takes the outputs of the one before it.

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "symbol/rnn/composed_cell.h"

namespace cooper {

// A stack of cells; its states are those of the cells from the bottom to the top, and its output is
// the top cell's. Without cells the output is the input. Step fails if the Step of a cell in it
// fails, such as that of a FusedRNNCell.
class SequentialRNNCell : public ComposedCell {
 public:
  // Collects the cells' variables in `params`, or in a container of its own if that is null.
  explicit SequentialRNNCell(std::shared_ptr<RNNParams> params = nullptr)
      : ComposedCell(std::move(params)) {}

  // Adds a cell on top; the caller may keep using it. Fails with kInvalidArgument for null, for
  // this cell itself, and, naming the variable, for a cell whose variables have names of other
  // variables below it: two cells with one prefix, unless they share a container.
  absl::Status Add(RNNCellPtr cell);

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_SEQUENTIAL_RNN_CELL_H_
