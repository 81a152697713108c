#ifndef COOPER_SYMBOL_RNN_GRU_CELL_H_
#define COOPER_SYMBOL_RNN_GRU_CELL_H_

// The gated recurrent unit (Cho et al., 2014), in cuDNN's form: the reset gate r is applied after
// the product. With x the input, h the state, and W, R, b, d the weights and biases of one gate
// each:
//
//   r = sigmoid(W x + b + R h + d), and z in the same way with its own weights
//   n = tanh(W x + b + r (R h + d));  h' = (1 - z) n + z h

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/gated_cell.h"

namespace cooper {

struct GRUCellOptions {
  std::string prefix = "gru_";
  std::shared_ptr<RNNParams> params = nullptr;  // to share weights with another cell
};

// A cell with one state, h, which is also its output. Gates in the weights: r, z, and n under the
// suffix "_o".
class GRUCell : public GatedCell {
 public:
  explicit GRUCell(int64_t num_hidden, GRUCellOptions options = {});

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_GRU_CELL_H_
