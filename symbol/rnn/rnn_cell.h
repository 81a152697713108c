#ifndef COOPER_SYMBOL_RNN_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_RNN_CELL_H_

// The simple recurrent cell (Elman, 1990): h' = act(W x + b + R h + d).

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/gated_cell.h"

namespace cooper {

// W and b are the i2h weight and bias, R and d the h2h ones.
struct RNNCellOptions {
  std::string activation = "tanh";  // an act_type of the operator Activation
  std::string prefix = "rnn_";
  std::shared_ptr<RNNParams> params = nullptr;  // to share weights with another cell
};

// A cell with one state, h, which is also its output, (batch_size, num_hidden).
class RNNCell : public GatedCell {
 public:
  // num_hidden is at least 1; Step and Unroll fail with kInvalidArgument otherwise.
  explicit RNNCell(int64_t num_hidden, RNNCellOptions options = {});

  // Adds a step of two products, a sum and the activation. Errors: those of BaseRNNCell::Step;
  // kInvalidArgument for an activation that the operator does not have.
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;

 private:
  std::string activation_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_RNN_CELL_H_
