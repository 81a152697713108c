#ifndef COOPER_SYMBOL_RNN_GATED_CELL_H_
#define COOPER_SYMBOL_RNN_GATED_CELL_H_

// The base of RNNCell, LSTMCell and GRUCell: cells that compute their gates from a product with the
// input and a product with the previous output, each with one weight and one bias for all gates.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/base_rnn_cell.h"

namespace cooper {

// Creates the variables i2h_weight (gates * num_hidden, input), i2h_bias, h2h_weight (gates *
// num_hidden, num_hidden) and h2h_bias in its RNNParams, under its prefix. States are (batch_size,
// num_hidden). Unpacked names have the gate's suffix, "lstm_i2h_i_weight"; RNNCell has one gate,
// whose suffix is empty.
class GatedCell : public BaseRNNCell {
 public:
  std::vector<StateInfo> state_info() const override;
  // UnpackWeights replaces each packed weight by one array for each gate, of num_hidden rows;
  // PackWeights joins these again. kInvalidArgument, naming the weight, if one is missing or has
  // another number of rows.
  absl::StatusOr<ArrayMap> UnpackWeights(ArrayMap args) const override;
  absl::StatusOr<ArrayMap> PackWeights(ArrayMap args) const override;

  int64_t num_hidden() const { return num_hidden_; }

 protected:
  // The properties of a derived cell; gates are in the order of their rows in the weights.
  struct Fields {
    int64_t num_hidden;
    int num_states;
    std::vector<std::string> gates;  // "_i": the suffix after i2h and h2h in an unpacked name
    std::string prefix;
    std::shared_ptr<RNNParams> params;
    std::string i2h_bias_init;  // an initializer as JSON, or empty
  };
  explicit GatedCell(Fields fields);

  // Return the products, (batch_size, gates * num_hidden), called name_prefix + "i2h" and "h2h".
  absl::StatusOr<Symbol> InputProduct(const std::string& name_prefix, const Symbol& input) const {
    return Product(name_prefix + "i2h", input, i2h_weight_, i2h_bias_);
  }
  absl::StatusOr<Symbol> StateProduct(const std::string& name_prefix, const Symbol& state) const {
    return Product(name_prefix + "h2h", state, h2h_weight_, h2h_bias_);
  }

 private:
  int64_t num_hidden_;
  int num_states_;
  std::vector<std::string> gates_;
  absl::StatusOr<Symbol> Product(const std::string& name, const Symbol& data, const Symbol& weight,
                                 const Symbol& bias) const;

  Symbol i2h_weight_, i2h_bias_, h2h_weight_, h2h_bias_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_GATED_CELL_H_
