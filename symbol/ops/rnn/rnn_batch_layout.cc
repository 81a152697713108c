// Batch layouts of recurrent layers.

#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// The batch axis is axis 1 of data and output (length, batch, ...) and of states (layers, batch,
// ...), and axis 0 of lengths (batch,). Outputs that are not visible, which the gradient reads,
// have no batch axis.
COOPER_BATCH_RULE(RNN, [](const BatchCall& c) {
  if (c.output >= c.call.op->NumVisibleOutputs(c.call)) return BatchLayout();
  return c.Map([&](int input, int axis) {
    const int batch = c.rank(input) == 1 ? 0 : 1;
    return axis == batch ? 1 : BatchCall::kMixed;
  });
});

}  // namespace
}  // namespace cooper
