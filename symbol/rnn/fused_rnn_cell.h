#ifndef COOPER_SYMBOL_RNN_FUSED_RNN_CELL_H_
#define COOPER_SYMBOL_RNN_FUSED_RNN_CELL_H_

// A cell that computes all steps and layers in one node of the operator RNN, with all weights in
// one vector. It can only be unrolled; Unfuse returns the same network as separate cells.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"

namespace cooper {

// Options of FusedRNNCell; num_layers, mode, bidirectional and dropout are parameters of the
// operator RNN (symbol/ops/rnn/rnn_param.h).
struct FusedRNNCellOptions {
  int num_layers = 1;
  RNNMode mode = RNNMode::kLstm;
  bool bidirectional = false;
  double dropout = 0;                 // between the layers
  bool get_next_state = false;        // whether Unroll returns the final states
  double forget_bias = 1.0;           // lstm: initial value of the forget gates' biases, both
  std::optional<std::string> prefix;  // absent: "lstm_" and so on, by mode
  std::shared_ptr<RNNParams> params = nullptr;  // to share weights with another cell
};

// A cell of `num_layers` layers, whose outputs have num_hidden features per direction. Step fails
// with kUnimplemented. The packed weights are the variable "<prefix>parameters". num_hidden and
// num_layers must be at least 1: Unroll fails with kInvalidArgument otherwise.
class FusedRNNCell : public BaseRNNCell {
 public:
  explicit FusedRNNCell(int64_t num_hidden, FusedRNNCellOptions options = {});

  absl::StatusOr<StepResult> Step(const Symbol& input, const std::vector<Symbol>& states) override;
  // Time-major layout (TNC) saves two transpositions. With valid_length the operator skips padding
  // (in MXNet 1.9.1 only on GPUs). The final states of a row without valid steps are its begin
  // states; the cells of Unfuse return those after the first step, as Gluon does.
  absl::StatusOr<Unrolled> Unroll(int length, const SymbolSequence& inputs,
                                  const UnrollOptions& options = {}) override;
  // Returns the state h and, for lstm, the cell c: each (num_layers * directions, batch_size,
  // num_hidden).
  std::vector<StateInfo> state_info() const override;
  // Unpacked arrays have the names of the cells that Unfuse returns.
  absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const override;
  absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const override;

  // Returns a cell per layer, or a BidirectionalCell of two, with DropoutCells between them.
  std::shared_ptr<SequentialRNNCell> Unfuse() const;

 private:
  // Returns the parameters that determine the layout of the weights.
  RNNParam OpParam() const;
  absl::Status CheckSizes() const;
  // A slice of the parameter vector: a gate's weight or bias.
  struct WeightSlice {
    std::string name;
    int64_t offset;
    Shape shape;
    // Returns its view of the whole vector.
    absl::StatusOr<NDArray> Of(const NDArray& packed) const;
  };
  std::vector<WeightSlice> WeightSlices(int64_t input_size) const;
  RNNCellPtr MakeLayerCell(const std::string& prefix) const;

  int64_t num_hidden_;
  FusedRNNCellOptions options_;
  Symbol parameters_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_FUSED_RNN_CELL_H_
