#ifndef COOPER_SYMBOL_RNN_GRU_CELL_H_
#define COOPER_SYMBOL_RNN_GRU_CELL_H_

// The gated recurrent unit, in cuDNN's form: h' = (1 - z) n + z h with n = tanh(W x + b + r (R h +
// d)): the reset gate r is applied after the product.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/gated_cell.h"

namespace cooper {

struct GRUCellOptions {
  std::string prefix = "gru_";
  std::shared_ptr<RNNParams> params = nullptr;  // to share weights with another cell
};

class GRUCell : public GatedCell {
 public:
  explicit GRUCell(int64_t num_hidden, GRUCellOptions options = {});

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_GRU_CELL_H_
