#ifndef COOPER_SYMBOL_RNN_LSTM_CELL_H_
#define COOPER_SYMBOL_RNN_LSTM_CELL_H_

// The long short-term memory cell (Hochreiter and Schmidhuber, 1997): c' = f c + i g, h' = o
// tanh(c'), where i, f and o are sigmoids and g the tanh of W x + b + R h + d, each with weights of
// its own.

#include <memory>
#include <string>
#include <vector>

#include "symbol/rnn/gated_cell.h"

namespace cooper {

struct LSTMCellOptions {
  std::string prefix = "lstm_";
  std::shared_ptr<RNNParams> params = nullptr;  // to share weights with another cell
  double forget_bias = 1.0;                     // initial value of the forget gate's i2h bias
};

// A cell with the states h, which is also its output, and c, each (batch_size, num_hidden). Gates
// in the weights: i, f, c (that is g), o.
class LSTMCell : public GatedCell {
 public:
  explicit LSTMCell(int64_t num_hidden, LSTMCellOptions options = {});

  // Adds a step: two products for all gates together, and about ten operators on parts of their
  // sum, which an executor may fuse. The states are h, then c.
  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_LSTM_CELL_H_
