// Batch layouts of recurrent layers.

#include "symbol/ops/rnn/rnn_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

// data and output (length, batch, ...), states (layers, batch, ...), lengths (batch,). The hidden
// output is for the gradient only.
COOPER_BATCH_RULE(RNN, [](const BatchCall& c) {
  if (c.output >= c.call.op->NumVisibleOutputs(c.call)) return BatchLayout();
  return c.Map([&](int input, int axis) {
    const int batch = c.rank(input) == 1 ? 0 : 1;
    return axis == batch ? 1 : BatchCall::kMixed;
  });
});

}  // namespace
}  // namespace cooper
