#ifndef COOPER_SYMBOL_RNN_DROPOUT_CELL_H_
#define COOPER_SYMBOL_RNN_DROPOUT_CELL_H_

// Drops elements of its input in training. It has no state and is used between other cells.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

struct DropoutCellOptions {
  std::string prefix = "dropout_";
  std::shared_ptr<RNNParams> params = nullptr;
};

// A cell without states whose output is Dropout of its input, of the same shape; each step draws
// its own elements. In prediction the output is the input.
class DropoutCell : public BaseRNNCell {
 public:
  // `dropout` is the fraction of elements that are dropped, in [0, 1]; with 0 the output is the
  // input. The other elements are divided by 1 - dropout, so that means stay.
  explicit DropoutCell(double dropout, DropoutCellOptions options = {});

  std::vector<StateInfo> state_info() const override { return {}; }
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  // For a merged sequence one Dropout node drops elements of all steps. valid_length has no effect,
  // as in Gluon: zeros in padding stay 0.
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;

 private:
  double dropout_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_DROPOUT_CELL_H_
