#include "executor/graph_passes/graph_passes.h"

#include "executor/graph_passes/fuse_rnn_layers.h"

namespace cooper {

const std::vector<GraphPass>& AllGraphPasses() {
  static const auto* passes = new std::vector<GraphPass>{
      {"rnn_layers", FuseRNNLayers},
  };
  return *passes;
}

}  // namespace cooper
