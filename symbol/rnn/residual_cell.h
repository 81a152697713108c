#ifndef COOPER_SYMBOL_RNN_RESIDUAL_CELL_H_
#define COOPER_SYMBOL_RNN_RESIDUAL_CELL_H_

// A residual connection (Wu et al., Google's Neural Machine Translation System, 2016): the output
// is the base's output plus the input.

#include <vector>

#include "symbol/rnn/modifier_cell.h"

namespace cooper {

// A cell whose input must have the shape of the base's output: a first layer with as many features
// as the input, or any layer above it. States are the base's. Outputs of padding are 0 with
// valid_length. A base with another number of features makes shape inference fail where the sum is.
class ResidualCell : public ModifierCell {
 public:
  explicit ResidualCell(RNNCellPtr base) : ModifierCell(std::move(base)) {}

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_RESIDUAL_CELL_H_
