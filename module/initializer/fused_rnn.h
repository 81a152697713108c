#ifndef COOPER_MODULE_INITIALIZER_FUSED_RNN_H_
#define COOPER_MODULE_INITIALIZER_FUSED_RNN_H_

// Fills the packed vector of all parameters of a fused RNN.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "module/initializer/initializer.h"

namespace cooper::init {

// Options of FusedRnn.
struct FusedRnnOptions {
  // Fills each gate's weights (num_hidden, input_size) and biases (num_hidden,), under names such
  // as "l0_i2h_f_weight". Null: InitDesc::global_init.
  std::shared_ptr<const Initializer> init;
  int64_t num_hidden = 0;  // required
  int64_t num_layers = 0;  // required
  std::string mode;        // "rnn_relu", "rnn_tanh", "lstm" or "gru"
  bool bidirectional = false;
  double forget_bias = 1;  // of the forget gate's two biases, if mode is "lstm"
};

// Returns an initializer for the packed vector. kInvalidArgument for other modes and numbers below
// 1. Init fails if no input size fits the length of the vector. Both products have a bias, so the
// forget gate starts with twice forget_bias.
absl::StatusOr<std::unique_ptr<NamePatternInitializer>> FusedRnn(FusedRnnOptions options);

}  // namespace cooper::init

#endif  // COOPER_MODULE_INITIALIZER_FUSED_RNN_H_
