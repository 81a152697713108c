#include "executor/compile/passes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/passes/graph/batch_products.h"
#include "executor/passes/graph/block_channels.h"
#include "executor/passes/graph/fold_batch_norms.h"
#include "executor/passes/graph/fold_constants.h"
#include "executor/passes/graph/fuse_rnn_layers.h"
#include "executor/passes/graph/fuse_softmax_output.h"
#include "executor/passes/graph/move_transposes.h"
#include "executor/passes/graph/pack_rnn_weights.h"
#include "executor/passes/graph/pack_weights.h"
#include "executor/passes/graph/rnn_lengths.h"
#include "executor/passes/graph/transpose_weights.h"
#include "executor/passes/program/program_passes.h"
#include "ndarray/base/near_names.h"

namespace cooper {

const std::vector<Pass>& AllPasses() {
  static const auto* passes = new std::vector<Pass>{
      {.name = "rnn_layers", .over_graph = FuseRNNLayers, .merges_nodes = true},
      {.name = "rnn_lengths", .over_graph = MoveLengthsIntoRNNLayers, .merges_nodes = true},
      {.name = "batched_products", .over_graph = BatchProducts, .merges_nodes = true},
      {.name = "softmax_output", .over_graph = FuseSoftmaxOutput, .merges_nodes = true},
      {.name = "transposes", .over_graph = MoveTransposes, .merges_nodes = true},
      {.name = "blocked_channels", .over_graph = BlockChannels, .merges_nodes = true},
      {.name = "winograd", .over_graph = UseWinograd, .merges_nodes = true},
      {.name = "packed_weights", .over_graph = PackWeights, .merges_nodes = true},
      {.name = "folded_batch_norms", .over_graph = FoldBatchNorms, .merges_nodes = true},
      {.name = "packed_rnn_weights", .over_graph = PackRNNWeights, .merges_nodes = true},
      {.name = "transposed_weights", .over_graph = TransposeWeights, .merges_nodes = true},
      {.name = "constants", .over_graph = FoldConstants, .merges_nodes = true},
      {.name = "conditions", .over_program = FindConditions, .required = true},
      {.name = "copies", .over_program = InsertCopies, .required = true},
      {.name = "gradients", .over_program = RouteGradients, .required = true},
      {.name = "accumulate", .over_program = AccumulateGradients},
      {.name = "views", .over_program = MakeViews},
      {.name = "slices", .over_program = PlaceSlices},
      {.name = "in_place", .over_program = ShareInPlace},
      {.name = "tiles", .over_program = TileElementwise, .merges_nodes = true},
  };
  return *passes;
}

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses()) {
    if (!pass.required) names.emplace_back(pass.name);
  }
  return names;
}

absl::Status CheckPassNames(const std::set<std::string>& disabled) {
  const std::vector<std::string> names = PassNames();
  for (const std::string& name : disabled) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("no pass called '", name, "' can be disabled; the passes are ",
                     absl::StrJoin(names, ", "), DidYouMean(name, names)));
  }
  return absl::OkStatus();
}

std::set<std::string> WithoutMergingPasses(std::set<std::string> disabled) {
  for (const Pass& pass : AllPasses()) {
    if (pass.merges_nodes) disabled.insert(pass.name);
  }
  return disabled;
}

}  // namespace cooper
