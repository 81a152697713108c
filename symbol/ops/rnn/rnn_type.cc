#include "symbol/ops/rnn/rnn_type.h"

#include "ndarray/base/status_macros.h"
#include "symbol/ops/rnn/rnn_param.h"

namespace cooper {

absl::Status RNNType(TypeContext& c) {
  const bool has_lengths = c.param<RNNParam>().use_sequence_length;
  const int num_inputs = c.num_inputs() - (has_lengths ? 1 : 0);
  TypeContext::Type type;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < num_inputs; ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, type));
      if (!type.has_value()) type = c.input(i);
    }
    for (int i = 0; i < c.num_outputs(); ++i) {
      COOPER_RETURN_IF_ERROR(c.SetOutput(i, type));
      if (!type.has_value()) type = c.output(i);
    }
  }
  if (has_lengths && !c.input(num_inputs).has_value()) {
    return c.SetInput(num_inputs, type);
  }
  return absl::OkStatus();
}

}  // namespace cooper
