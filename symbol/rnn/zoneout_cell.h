#ifndef COOPER_SYMBOL_RNN_ZONEOUT_CELL_H_
#define COOPER_SYMBOL_RNN_ZONEOUT_CELL_H_

// Zoneout (Krueger et al., Zoneout: Regularizing RNNs by Randomly Preserving Hidden Activations,
// 2016): in training, random elements of the base's outputs and states keep the value of the step
// before. In prediction the base's results are unchanged, as in MXNet.

#include <optional>
#include <vector>

#include "symbol/rnn/modifier_cell.h"

namespace cooper {

// Fractions are in [0, 1]. With 0 no mask is drawn.
struct ZoneoutCellOptions {
  double zoneout_outputs = 0;  // fraction of the outputs that keep their value
  double zoneout_states = 0;   // fraction of the states that keep their value
};

// Draws a mask for each step by Dropout of ones. The output before the first step is 0.
class ZoneoutCell : public ModifierCell {
 public:
  // The base must support Step: no FusedRNNCell (unfuse it first), and no BidirectionalCell (modify
  // the cells in it). Unroll fails otherwise.
  explicit ZoneoutCell(RNNCellPtr base, ZoneoutCellOptions options = {});

  void Reset() override;
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;

 private:
  ZoneoutCellOptions options_;
  std::optional<Symbol> previous_output_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_ZONEOUT_CELL_H_
