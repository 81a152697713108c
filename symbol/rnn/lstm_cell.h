#ifndef COOPER_SYMBOL_RNN_LSTM_CELL_H_
#define COOPER_SYMBOL_RNN_LSTM_CELL_H_

// The long short-term memory cell: c' = f c + i g, h' = o tanh(c'). Its states are h and c.

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

class LSTMCell : public GatedCell {
 public:
  explicit LSTMCell(int64_t num_hidden, LSTMCellOptions options = {});

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_LSTM_CELL_H_
