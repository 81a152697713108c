#include "executor/passes/graph/batch_products.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/step_stacker.h"
#include "executor/passes/graph/unit_order.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

using enum FullyConnectedArrays::Input;

// The operators that the pass may insert, apart from FullyConnected.
constexpr const char* kOps[] = {"SliceChannel", "_backward_SliceChannel",
                                "Concat",       "_backward_Concat",
                                "SwapAxis",     "reverse",
                                "Reshape",      "_backward_reshape",
                                "zeros_like"};

// The number of rows from which a product gains little from more rows, and costs more to copy.
constexpr int64_t kManyRows = 256;

// Limits for the nodes visited to find independent products, and for the attempts to order batches,
// so that graphs from files do not take quadratic time.
constexpr int64_t kMaxVisits = int64_t{1} << 27;
constexpr int kMaxOrders = 100;

using Batch = std::vector<int>;  // nodes

// Returns whether node `i` is a product that may be merged with others.
bool IsCandidate(const GraphFacts& facts, int i) {
  const Node& node = facts.node(i);
  if (!IsOp(node, "FullyConnected")) return false;
  const Shape& data = facts.shape(node.inputs()[kData]);
  if (data.rank() != 2 || data[0] >= kManyRows || data.num_elements() == 0) return false;
  const NodeEntry output{facts.owner(i), 0};
  const auto uses = facts.uses(output);
  return uses.size() != 1 || facts.is_output(output) ||
         !IsOp(facts.node(uses[0].node), "SoftmaxOutput");
}

// Returns, by node, whether a gradient from an output or a loss may reach it. If it reached only
// one of two merged products, the other one's gradient would be zeros, and zeros times infinities
// are NaN. Inputs without a gradient, such as the condition of `where`, count as reached: MXNet
// gives them zeros too.
std::vector<bool> ReachedByGradients(const GraphFacts& facts) {
  std::vector<bool> reached(facts.graph().num_nodes(), false);
  if (!facts.has_gradients()) return reached;
  for (const NodeEntry& head : facts.symbol().outputs()) reached[facts.index(head)] = true;
  for (int i = facts.graph().num_nodes() - 1; i >= 0; --i) {
    const Node& node = facts.node(i);
    if (node.is_variable() || !node.op()->gradient()) continue;
    if (!reached[i] && !node.op()->IgnoresHeadGradient(node.call())) continue;
    for (const NodeEntry& input : node.inputs()) reached[facts.index(input)] = true;
  }
  return reached;
}

// Groups candidates with the same weight and bias, data of equal shape and dtype, and equal
// reachability by gradients, in the order of nodes.
std::vector<Batch> CandidatesByWeight(const GraphFacts& facts) {
  std::vector<Batch> batches;
  absl::flat_hash_map<std::tuple<int, int, Shape, DType, int64_t, bool>, size_t> found;
  const IndexedGraph& graph = facts.graph();
  const std::vector<bool> reached = ReachedByGradients(facts);
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (!IsCandidate(facts, i)) continue;
    const Node& node = facts.node(i);
    const auto& inputs = node.inputs();
    const int bias = inputs.size() > kBias ? graph.entry(inputs[kBias]) : -1;
    const auto [it, is_new] = found.try_emplace(
        {graph.entry(inputs[kWeight]), bias, facts.shape(inputs[kData]), facts.type(inputs[kData]),
         node.call().param<FullyConnectedParam>().num_hidden, reached[i]},
        batches.size());
    if (is_new) batches.emplace_back();
    batches[it->second].push_back(i);
  }
  return batches;
}

// Removes members that depend on other members of the batch.
void KeepIndependent(const GraphFacts& facts, Batch& batch) {
  const int begin = batch.front();
  std::vector<bool> follows(batch.back() - begin + 1, false);  // it is a member, or depends on one
  size_t next = 0;
  Batch independent;
  for (int i = begin; i <= batch.back(); ++i) {
    const auto& inputs = facts.node(i).inputs();
    const bool depends = std::any_of(inputs.begin(), inputs.end(), [&](const NodeEntry& input) {
      const int from = facts.index(input);
      return from >= begin && follows[from - begin];
    });
    follows[i - begin] = depends;
    if (i != batch[next]) continue;
    ++next;
    if (!depends) independent.push_back(i);
    follows[i - begin] = true;
  }
  batch = std::move(independent);
}

class Batching {
 public:
  explicit Batching(const GraphFacts& facts) : facts_(facts), rebuilder_(facts) {
    int64_t visits = 0;
    for (Batch& batch : CandidatesByWeight(facts)) {
      if (batch.size() < 2) continue;
      visits += batch.back() - batch.front();
      if (visits > kMaxVisits) break;
      KeepIndependent(facts, batch);
      if (batch.size() > 1) batches_.push_back(std::move(batch));
    }
  }

  // Orders batches, and nodes in none, so that each comes after its inputs. Of batches that depend
  // on each other one is dropped; after too many attempts all are.
  void Order() {
    for (int tries = 0;; ++tries) {
      if (tries == kMaxOrders) batches_.clear();
      UnitOrder found = OrderUnits(facts_, batches_);
      order_ = std::move(found.order);
      if (found.cycle.empty()) return;
      batches_.erase(batches_.begin() + found.cycle.back());
    }
  }

  bool empty() const { return batches_.empty(); }

  absl::StatusOr<GraphRewrite> Rebuild() {
    for (int unit : order_) {
      if (unit < 0) {
        COOPER_RETURN_IF_ERROR(MakeProduct(batches_[~unit]));
      } else {
        rebuilder_.Keep(unit, rebuilder_.NewInputs(unit));
      }
    }
    return rebuilder_.Finish();
  }

 private:
  absl::Status MakeProduct(const Batch& batch) {
    const Node& first = facts_.node(batch.front());
    const std::string& name = first.name();
    std::vector<NodeEntry> steps;
    for (int node : batch) steps.push_back(rebuilder_.New(facts_.node(node).inputs()[kData]));
    std::vector<NodeEntry> inputs = {NodeEntry()};
    COOPER_ASSIGN_OR_RETURN(inputs[kData],
                            stacker_.Stack(steps, facts_.shape(first.inputs()[kData])[1]));
    for (size_t k = kWeight; k < first.inputs().size(); ++k) {
      inputs.push_back(rebuilder_.New(first.inputs()[k]));
    }
    AttrMap attrs = first.attrs();
    attrs["flatten"] = "False";
    COOPER_ASSIGN_OR_RETURN(const NodeEntry product,
                            MakeEntry("FullyConnected", absl::StrCat(name, "_batch"),
                                      std::move(inputs), std::move(attrs)));
    COOPER_ASSIGN_OR_RETURN(const NodePtr split,
                            SplitIntoSteps(product, batch.size(), absl::StrCat(name, "_split")));
    for (size_t t = 0; t < batch.size(); ++t) {
      rebuilder_.Replace({facts_.owner(batch[t]), 0}, {split, static_cast<int>(t)});
    }
    return absl::OkStatus();
  }

  const GraphFacts& facts_;
  std::vector<Batch> batches_;
  std::vector<int> order_;  // nodes, and ~b for batch b
  GraphRebuilder rebuilder_;
  StepStacker stacker_;
};

}  // namespace

absl::StatusOr<std::optional<GraphRewrite>> BatchProducts(const GraphFacts& facts,
                                                          const CanRunFn& can_run) {
  for (const char* op : kOps) {
    if (!can_run(op)) return std::nullopt;
  }
  Batching batching(facts);
  if (batching.empty()) return std::nullopt;
  batching.Order();
  if (batching.empty()) return std::nullopt;
  COOPER_ASSIGN_OR_RETURN(GraphRewrite rewrite, batching.Rebuild());
  return rewrite;
}

}  // namespace cooper
