#include "executor/compile/graph_passes/graph_passes.h"

#include "executor/compile/graph_passes/batch_products.h"
#include "executor/compile/graph_passes/fuse_rnn_layers.h"
#include "executor/compile/graph_passes/fuse_softmax_output.h"
#include "executor/compile/graph_passes/move_transposes.h"

namespace cooper {

const std::vector<GraphPass>& AllGraphPasses() {
  static const auto* passes = new std::vector<GraphPass>{
      {"rnn_layers", FuseRNNLayers},
      {"batched_products", BatchProducts},
      {"softmax_output", FuseSoftmaxOutput},
      {"transposes", MoveTransposes},
  };
  return *passes;
}

}  // namespace cooper
