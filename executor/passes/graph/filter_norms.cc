#include "executor/passes/graph/filter_norms.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/folded_batch_norm_param.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {

bool NormalizesChannels(const GraphFacts& facts, int i) {
  const Node& node = facts.node(i);
  if (!IsOp(node, "BatchNorm")) return false;
  const auto& param = node.call().param<BatchNormParam>();
  return (param.axis == 1 || param.axis == 1 - facts.shape(node.inputs()[0]).rank()) &&
         !param.output_mean_var && facts.type(node.inputs()[0]) == DType::kFloat32 &&
         facts.is_unused({facts.owner(i), 1}) && facts.is_unused({facts.owner(i), 2});
}

absl::StatusOr<Filters> FoldBatchNorm(const std::string& name, const Filters& filters,
                                      absl::Span<const NodeEntry> norm, const AttrMap& attrs) {
  AttrMap of_norm = {{"no_bias", filters.bias ? "False" : "True"}};
  for (const char* attr : {"eps", "fix_gamma"}) {
    const auto it = attrs.find(attr);
    if (it != attrs.end()) of_norm.insert(*it);
  }
  std::vector<NodeEntry> arrays = {filters.weight};
  arrays.insert(arrays.end(), norm.begin(), norm.end());
  if (filters.bias) arrays.push_back(filters.bias);
  COOPER_ASSIGN_OR_RETURN(NodeEntry folded,
                          MakeEntry("_folded_batch_norm", absl::StrCat(name, "_folded"),
                                    std::move(arrays), std::move(of_norm)));
  using enum FoldedBatchNormArrays::Output;
  return Filters{.weight = {folded.node, kScaledWeight}, .bias = {folded.node, kShift}};
}

}  // namespace cooper
