#include "docs/two_layers.h"

#include "symbol/op/elemwise.h"
#include "symbol/op/loss.h"
#include "symbol/op/nn.h"

namespace cooper {

Symbol TwoLayers() {
  const Symbol data = Symbol::Variable("data");
  const Symbol fc1 = op::FullyConnected(data, {.num_hidden = 128, .name = "fc1"});
  const Symbol act = op::Activation(fc1, {.act_type = "relu"});
  const Symbol fc2 = op::FullyConnected(act, {.num_hidden = 10, .name = "fc2"});
  return op::SoftmaxOutput(fc2, {.name = "softmax"});
}

}  // namespace cooper
