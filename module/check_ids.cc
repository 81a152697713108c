#include "module/check_ids.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "module/batch_descs.h"
#include "ndarray/status_macros.h"
#include "symbol/infer_shape.h"
#include "symbol/is_op.h"
#include "symbol/ops/loss/ctc_loss_param.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/ops/nn/embedding_param.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

// The inputs whose elements the outputs of a node are made of, none computed: the schema's facts
// tell, but for reverse, of which it says nothing.
absl::Span<const NodeEntry> MovedInputs(const Node& node) {
  if (node.is_variable() || node.inputs().empty()) return {};
  const OpSchema& op = *node.op();
  if (op.join_axis()) return node.inputs();
  const bool moves = op.keeps_elements() || op.transposed_axes() || op.split_axis() || op.slice() ||
                     IsOp(node, "reverse");
  return absl::MakeConstSpan(node.inputs()).first(moves ? 1 : 0);
}

// The variables whose elements `entry` has.
std::set<std::string> Sources(const NodeEntry& entry) {
  std::set<std::string> names;
  std::set<const Node*> seen;
  std::vector<const Node*> open = {entry.node.get()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->is_variable()) names.insert(node->name());
    for (const NodeEntry& input : MovedInputs(*node)) open.push_back(input.node.get());
  }
  return names;
}

using Shapes = absl::flat_hash_map<const Node*, std::vector<PartialShape>>;

// What is known of the shapes of all values for this batch.
absl::StatusOr<Shapes> InferAll(const Symbol& symbol, const KnownShapes& known) {
  const Symbol internals = symbol.GetInternals();
  COOPER_ASSIGN_OR_RETURN(const InferredShapes inferred, InferShapePartial(internals, known));
  Shapes shapes;
  for (int i = 0; i < internals.num_outputs(); ++i) {
    shapes[internals.outputs()[i].node.get()].push_back(inferred.outputs[i]);
  }
  return shapes;
}

// An input of an operator that takes ids.
struct IdInput {
  NodeEntry entry;
  const char* name;
  int64_t limit;                  // ids are [0, limit)
  std::optional<double> ignored;  // but for this one
};

std::optional<IdInput> IdsOf(const Node& node, const Shapes& shapes) {
  const auto shape_of = [&](const NodeEntry& e) {
    const auto it = shapes.find(e.node.get());
    return it == shapes.end() || e.index >= static_cast<int>(it->second.size())
               ? PartialShape()
               : it->second[e.index];
  };
  if (IsOp(node, "Embedding")) {
    return IdInput{node.inputs()[0], "data", node.call().param<EmbeddingParam>().input_dim, {}};
  }
  if (IsOp(node, "CTCLoss")) {
    const PartialShape scores = shape_of(node.inputs()[0]);
    if (!scores.IsFull() || scores.rank() != 3) return std::nullopt;
    // One class is the blank, which as the first one also pads labels.
    const bool first = node.call().param<CtcLossParam>().blank_label == CtcLossParam::kFirst;
    if (first) return IdInput{node.inputs()[1], "label", scores[2], {}};
    return IdInput{node.inputs()[1], "label", scores[2] - 1, -1};
  }
  const bool softmax = IsOp(node, "SoftmaxOutput");
  if (!softmax && !IsOp(node, "softmax_cross_entropy")) return std::nullopt;
  const PartialShape scores = shape_of(node.inputs()[0]);
  // Labels of the scores' own shape are probabilities.
  if (!scores.IsFull() || scores.rank() == 0 || scores == shape_of(node.inputs()[1])) {
    return std::nullopt;
  }
  IdInput ids{node.inputs()[1], "label", scores[scores.rank() - 1], {}};
  if (!softmax) return ids;
  const auto& param = node.call().param<SoftmaxOutputParam>();
  if (param.multi_output && scores.rank() > 1) ids.limit = scores[1];
  if (!param.multi_output && !param.preserve_shape && scores.rank() > 1) {
    ids.limit = PartialShape(scores.dims().subspan(1)).num_elements();
  }
  if (param.use_ignore) ids.ignored = param.ignore_label;
  return ids;
}

absl::Status CheckArray(const std::string& name, const NDArray& array, const IdInput& ids,
                        const Node& node) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, array.ToVector<double>());
  const int64_t row =
      array.shape().rank() == 0 || array.shape()[0] == 0 ? 1 : array.size() / array.shape()[0];
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < static_cast<double>(ids.limit)) continue;
    if (ids.ignored.has_value() && values[i] == *ids.ignored) continue;
    return absl::OutOfRangeError(
        absl::StrCat("'", name, "' ", array.shape().ToString(), " has ", values[i], " in row ",
                     static_cast<int64_t>(i) / row, ", expected ids in [0, ", ids.limit, ")",
                     ids.ignored.has_value() ? absl::StrCat(" or ", *ids.ignored) : "", ", the ",
                     ids.name, " of ", Describe(node)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckIds(const BaseModule& module, const DataBatch& batch) {
  const auto symbol = module.symbol();
  if (!symbol.ok()) return absl::OkStatus();
  std::map<std::string, NDArray> arrays;
  KnownShapes known;
  const std::set<std::string> variables = [&] {
    const std::vector<std::string> names = symbol->ListInputs();
    return std::set<std::string>(names.begin(), names.end());
  }();
  const auto add = [&](const std::vector<NDArray>& from, const std::vector<DataDesc>& descs) {
    for (size_t i = 0; i < from.size() && i < descs.size(); ++i) {
      if (!variables.contains(descs[i].name)) continue;
      arrays[descs[i].name] = from[i];
      known[descs[i].name] = from[i].shape();
    }
  };
  add(batch.data, DataDescs(module, batch));
  add(batch.label, LabelDescs(module, batch));
  COOPER_ASSIGN_OR_RETURN(const Shapes shapes, InferAll(*symbol, known));
  for (const Node* node : TopologicalOrder(symbol->outputs())) {
    const std::optional<IdInput> ids = IdsOf(*node, shapes);
    if (!ids.has_value()) continue;
    for (const std::string& name : Sources(ids->entry)) {
      const auto it = arrays.find(name);
      if (it == arrays.end()) continue;
      COOPER_RETURN_IF_ERROR(CheckArray(name, it->second, *ids, *node));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
