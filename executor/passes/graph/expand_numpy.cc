#include "executor/passes/graph/expand_numpy.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/numpy_composition.h"
#include "executor/passes/graph/numpy_random_rules.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/ops/numpy/composed_param.h"
#include "symbol/ops/numpy/movement_param.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

using numpy_composition::Composition;
using numpy_composition::Dims;
using numpy_composition::DimsOf;
using numpy_composition::Entries;
using numpy_composition::RandomRules;
using numpy_composition::Rule;
using numpy_composition::Text;

Entries Atleast(Composition& c) {
  Entries outputs;
  for (int i = 0; i < static_cast<int>(c.inputs().size()); ++i) {
    outputs.push_back(c.Reshape(c.input(i), DimsOf(c.out(i))));
  }
  return outputs;
}

Entries SplitAlong(Composition& c, int axis) {
  const auto& param = c.param<SplitParam>();
  const NodeEntry first = c.Call("_split_v2", {c.input(0)},
                                 {{"indices", Text(param.indices)},
                                  {"sections", PrintParamText(param.sections)},
                                  {"axis", PrintParamText(axis)}});
  Entries outputs;
  for (int i = 0; i < param.num_outputs(); ++i) outputs.push_back({first.node, i});
  return outputs;
}
Entries HSplit(Composition& c) { return SplitAlong(c, c.shape(0).rank() > 1 ? 1 : 0); }
Entries DSplit(Composition& c) { return SplitAlong(c, 2); }

Entries Diagflat(Composition& c) {
  const NodeEntry vector = c.Reshape(c.input(0), {c.shape(0).num_elements()});
  return {c.Call("_np_diag", {vector}, {{"k", PrintParamText(c.param<NumpyDiagParam>().k)}})};
}

Entries Trace(Composition& c) {
  const auto& param = c.param<NumpyDiagonalParam>();
  const NodeEntry diagonal = c.Call("_np_diagonal", {c.input(0)},
                                    {{"offset", PrintParamText(param.k)},
                                     {"axis1", PrintParamText(param.axis1)},
                                     {"axis2", PrintParamText(param.axis2)}});
  return {c.Call("_np_sum", {diagonal}, {{"axis", "(-1,)"}, {"dtype", c.dtype()}})};
}

Entries Diff(Composition& c) {
  const auto& param = c.param<DiffParam>();
  if (param.n == 0) return {c.Call("_np_copy", {c.input(0)})};
  NodeEntry x = c.input(0);
  for (int i = 0; i < param.n && c.status().ok(); ++i) {
    x = c.Call("_neighbour_difference", {x}, {{"axis", PrintParamText(param.axis)}});
  }
  return {x};
}

Entries Average(Composition& c) {
  const auto& param = c.param<AverageParam>();
  const AttrMap reduced = {{"axis", PrintParamText(param.axis)}};
  if (!param.weighted) {
    const NodeEntry one = c.Call("_npi_ones", {}, {{"shape", "()"}, {"dtype", c.dtype()}});
    const double count = static_cast<double>(c.shape(0).num_elements()) /
                         static_cast<double>(std::max<int64_t>(c.out().num_elements(), 1));
    return {c.OfDtype(c.Call("_npi_mean", {c.input(0)}, reduced)),
            c.OfDtype(c.Scalar("_npi_multiply_scalar", one, count))};
  }
  NodeEntry weights = c.input(1);
  AttrMap of_weights = reduced;
  if (c.shape(1).rank() != c.shape(0).rank()) {
    Dims aligned(c.shape(0).rank(), 1);
    const int64_t axis = (*param.axis)[0];
    aligned[axis < 0 ? axis + c.shape(0).rank() : axis] = c.shape(1)[0];
    weights = c.Reshape(weights, aligned);
    of_weights = {};
  }
  const NodeEntry total = c.Call("_np_sum", {weights}, of_weights);
  const NodeEntry sum =
      c.Call("_np_sum", {c.Call("_npi_multiply", {c.input(0), weights})}, reduced);
  return {c.OfDtype(c.Call("_npi_true_divide", {sum, total})), total};
}

Entries Polyval(Composition& c) {
  NodeEntry sum = c.Call("zeros_like", {c.input(1)});
  for (int64_t i = 0; i < c.shape(0)[0] && c.status().ok(); ++i) {
    const NodeEntry p = c.Reshape(
        c.Call("slice_axis", {c.input(0)},
               {{"axis", "0"}, {"begin", PrintParamText(i)}, {"end", PrintParamText(i + 1)}}),
        {});
    sum = i == 0 ? c.Call("_npi_add", {sum, p})
                 : c.Call("_npi_add", {c.Call("_npi_multiply", {sum, c.input(1)}), p});
  }
  return {sum};
}

Entries Cholesky(Composition& c) { return {c.Call("_linalg_potrf", {c.input(0)})}; }

// Returns the eigenvectors, as rows, and the eigenvalues.
Entries Eigen(Composition& c) {
  const int rank = c.shape(0).rank();
  const bool upper = c.param<EighParam>().upper;
  const NodeEntry first =
      c.Call("_linalg_syevd", {upper ? c.SwapLast(c.input(0), rank) : c.input(0)});
  return {first, {first.node, 1}};
}
Entries Eigh(Composition& c) {
  const Entries rows = Eigen(c);
  return {rows[1], c.SwapLast(rows[0], c.shape(0).rank())};
}
Entries Eigvalsh(Composition& c) { return {Eigen(c)[1]}; }

Entries Solve(Composition& c) {
  NodeEntry b = c.input(1);
  Dims dims = DimsOf(c.shape(1));
  const bool is_vector = c.shape(1).rank() != c.shape(0).rank();
  if (is_vector) {
    dims.push_back(1);
    b = c.Reshape(b, dims);
  }
  const NodeEntry x = c.Call("_linalg_solve", {c.input(0), b});
  return {is_vector ? c.Reshape(x, DimsOf(c.out())) : x};
}

Entries Tensorinv(Composition& c) {
  const int64_t side = c.shape(0).Product(0, c.param<TensorinvParam>().ind);
  const NodeEntry inverse = c.Call("_linalg_inverse", {c.Reshape(c.input(0), {side, side})});
  return {c.Reshape(inverse, DimsOf(c.out()))};
}

Entries Tensorsolve(Composition& c) {
  const int64_t side = c.shape(1).num_elements();
  const NodeEntry a = c.Transpose(c.input(0), c.param<TensorsolveParam>().order(c.shape(0).rank()));
  const NodeEntry x =
      c.Call("_linalg_solve", {c.Reshape(a, {side, side}), c.Reshape(c.input(1), {side, 1})});
  return {c.Reshape(x, DimsOf(c.out()))};
}

Entries BooleanMaskAssign(Composition& c) {
  const auto& param = c.param<BooleanMaskAssignParam>();
  Dims dims(c.shape(0).rank(), 1);
  std::copy(c.shape(1).begin(), c.shape(1).end(), dims.begin() + param.start_axis);
  return {c.Call("_npi_where_lscalar", {c.Reshape(c.input(1), dims), c.input(0)},
                 {{"scalar", PrintParamText(param.value)}})};
}

constexpr Rule kRules[] = {
    {"_np_atleast_1d", Atleast},
    {"_np_atleast_2d", Atleast},
    {"_np_atleast_3d", Atleast},
    {"_np_diagflat", Diagflat},
    {"_np_trace", Trace},
    {"_npi_average", Average},
    {"_npi_boolean_mask_assign_scalar", BooleanMaskAssign},
    {"_npi_cholesky", Cholesky},
    {"_npi_diff", Diff},
    {"_npi_dsplit", DSplit},
    {"_npi_eigh", Eigh},
    {"_npi_eigvalsh", Eigvalsh},
    {"_npi_hsplit", HSplit},
    {"_npi_polyval", Polyval},
    {"_npi_solve", Solve},
    {"_npi_tensorinv", Tensorinv},
    {"_npi_tensorsolve", Tensorsolve},
};

const Rule* RuleFor(const Node& node) {
  if (node.is_variable() || node.op()->family() != "numpy") return nullptr;
  for (const absl::Span<const Rule> rules : {absl::MakeConstSpan(kRules), RandomRules()}) {
    const auto found =
        absl::c_find_if(rules, [&](const Rule& rule) { return rule.op == node.op()->name(); });
    if (found != rules.end()) return &*found;
  }
  return nullptr;
}

// Fails if an operator computed what nobody reads from a variable that nobody else reads: an
// executor needs all variables in the graph.
absl::Status CheckVariables(const GraphFacts& facts, const Symbol& symbol) {
  std::set<const Node*> kept;
  const IndexedGraph graph(symbol.outputs());
  for (const Node* node : graph.nodes()) kept.insert(node);
  for (const Node* node : facts.graph().nodes()) {
    if (!node->is_variable() || kept.contains(node)) continue;
    return absl::UnimplementedError(
        absl::StrCat(Describe(*node), " is read only for outputs that nobody reads"));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsComposed(const Node& node) { return RuleFor(node) != nullptr; }

absl::StatusOr<std::optional<GraphRewrite>> ExpandNumpy(const GraphFacts& facts) {
  GraphRebuilder rebuilder(facts);
  bool changed = false;
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Rule* const rule = RuleFor(facts.node(i));
    if (rule == nullptr) {
      rebuilder.Keep(i, rebuilder.NewInputs(i));
      continue;
    }
    changed = true;
    Composition composition(facts, i, rebuilder.NewInputs(i));
    const Entries outputs = rule->compose(composition);
    COOPER_RETURN_IF_ERROR(composition.status());
    for (int k = 0; k < static_cast<int>(outputs.size()); ++k) {
      rebuilder.Replace({facts.owner(i), k}, outputs[k]);
    }
  }
  if (!changed) return std::nullopt;
  GraphRewrite rewrite = rebuilder.Finish();
  COOPER_RETURN_IF_ERROR(CheckVariables(facts, rewrite.symbol));
  return rewrite;
}

}  // namespace cooper
