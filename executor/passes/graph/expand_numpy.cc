#include "executor/passes/graph/expand_numpy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/replacement_nodes.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/ops/numpy/composed_param.h"
#include "symbol/ops/numpy/movement_param.h"
#include "symbol/ops/numpy/random_param.h"
#include "symbol/ops/shape/split_param.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

using Dims = std::vector<int64_t>;
using Entries = std::vector<NodeEntry>;

std::string Text(const Dims& dims) { return PrintParamText(dims); }
Dims DimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

// The smallest uniform number: less would have an infinite logarithm. 2^-25 is half the distance of
// the numbers that are drawn.
constexpr double kLeastUniform = 1.0 / (1 << 25);

// Makes the nodes that replace one node. Keeps the first error, after which entries are null.
class Composition : public ReplacementNodes {
 public:
  // `i` is the node of `facts`; `inputs` are its inputs in the new graph.
  Composition(const GraphFacts& facts, int i, Entries inputs)
      : ReplacementNodes(facts.node(i)), facts_(facts), i_(i), inputs_(std::move(inputs)) {}

  template <typename P>
  const P& param() const {
    return facts_.node(i_).call().param<P>();
  }
  const NodeEntry& input(int i) const { return inputs_[i]; }
  const Entries& inputs() const { return inputs_; }
  const Shape& shape(int i) const { return facts_.shape(facts_.node(i_).inputs()[i]); }
  const Shape& out(int k = 0) const { return facts_.shape({facts_.owner(i_), k}); }
  std::string dtype() const { return DTypeName(facts_.type({facts_.owner(i_), 0})); }

  // Returns output 0 of a new node.
  NodeEntry Call(absl::string_view op, Entries inputs, AttrMap attrs = {}) {
    if (!status_.ok()) return {};
    auto made = Make(op, absl::StrCat("_", count_++), std::move(inputs), std::move(attrs));
    if (made.ok() && count_ > kMaxSteps) {
      made = absl::ResourceExhaustedError(
          absl::StrCat(Describe(facts_.node(i_)), " is more than ", kMaxSteps, " nodes"));
    }
    status_ = made.status();
    return made.ok() ? *std::move(made) : NodeEntry();
  }
  NodeEntry Reshape(const NodeEntry& x, const Dims& dims) {
    return Call("_np_reshape", {x}, {{"newshape", Text(dims)}});
  }
  NodeEntry Scalar(absl::string_view op, const NodeEntry& x, double number) {
    return Call(op, {x}, {{"scalar", PrintParamText(number)}, {"is_int", "False"}});
  }
  // Converts a result that was computed in float32 to the integers that the node gives.
  NodeEntry OfDtype(const NodeEntry& x) {
    if (IsFloating(facts_.type({facts_.owner(i_), 0}))) return x;
    return Call("Cast", {x}, {{"dtype", dtype()}});
  }
  NodeEntry Transpose(const NodeEntry& x, const Dims& axes) {
    return Call("_np_transpose", {x}, {{"axes", Text(axes)}});
  }
  // Swaps the last two axes of an array of that rank.
  NodeEntry SwapLast(const NodeEntry& x, int rank) {
    Dims axes;
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    std::swap(axes[rank - 1], axes[rank - 2]);
    return Transpose(x, axes);
  }
  NodeEntry Uniform(double low) {
    return Call("_npi_uniform", {},
                {{"low", PrintParamText(low)}, {"high", "1"}, {"size", Text(DimsOf(out()))}});
  }
  // Applies an operator of two arrays, or its relative _scalar, to x and a parameter of the node: a
  // number, or the node's input `next`, which is then counted.
  NodeEntry With(const std::string& op, const NodeEntry& x, const std::optional<double>& number,
                 int& next) {
    if (number.has_value()) return Scalar(op + "_scalar", x, *number);
    return Call(op, {x, input(next++)});
  }

  const absl::Status& status() const { return status_; }

 private:
  const GraphFacts& facts_;
  const int i_;
  const Entries inputs_;
  int64_t count_ = 0;
  absl::Status status_;
};

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

Entries Rot90(Composition& c) {
  const auto& param = c.param<Rot90Param>();
  const int rank = c.shape(0).rank();
  Dims plane = param.axes.value_or(Dims{0, 1}), axes;
  for (int64_t& axis : plane) axis = axis < 0 ? axis + rank : axis;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[plane[0]], axes[plane[1]]);
  const auto flip = [&](const NodeEntry& x, const Dims& along) {
    return c.Call("_npi_flip", {x}, {{"axis", Text(along)}});
  };
  const int turns = (param.k % 4 + 4) % 4;
  if (turns == 0) return {c.Call("_np_copy", {c.input(0)})};
  if (turns == 2) return {flip(c.input(0), plane)};
  if (turns == 1) return {c.Transpose(flip(c.input(0), {plane[1]}), axes)};
  return {flip(c.Transpose(c.input(0), axes), {plane[1]})};
}

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
  NodeEntry x = c.Call("_np_copy", {c.input(0)});
  const std::string axis = PrintParamText(param.axis);
  for (int i = 0; i < param.n && c.status().ok(); ++i) {
    const NodeEntry next =
        c.Call("slice_axis", {x}, {{"axis", axis}, {"begin", "1"}, {"end", "None"}});
    x = c.Call("_npi_subtract",
               {next, c.Call("slice_axis", {x}, {{"axis", axis}, {"begin", "0"}, {"end", "-1"}})});
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
  const NodeEntry x = c.Call("_npi_matmul", {c.Call("_linalg_inverse", {c.input(0)}), b});
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
  const NodeEntry inverse = c.Call("_linalg_inverse", {c.Reshape(a, {side, side})});
  return {c.Reshape(c.Call("_npi_matmul", {inverse, c.Reshape(c.input(1), {side, 1})}),
                    DimsOf(c.out()))};
}

Entries BooleanMaskAssign(Composition& c) {
  const auto& param = c.param<BooleanMaskAssignParam>();
  Dims dims(c.shape(0).rank(), 1);
  std::copy(c.shape(1).begin(), c.shape(1).end(), dims.begin() + param.start_axis);
  return {c.Call("_npi_where_lscalar", {c.Reshape(c.input(1), dims), c.input(0)},
                 {{"scalar", PrintParamText(param.value)}})};
}

// Returns -log(u) of uniform numbers u: exponential ones.
NodeEntry Exponential(Composition& c) {
  return c.Call("_npi_negative", {c.Call("_npi_log", {c.Uniform(kLeastUniform)})});
}

Entries RandomExponential(Composition& c) {
  int next = 0;
  const NodeEntry noise = Exponential(c);
  return {c.With("_npi_multiply", noise, c.param<NumpyRandomValueParam<ScaleName>>().value, next),
          noise};
}

Entries RandomRayleigh(Composition& c) {
  int next = 0;
  const NodeEntry noise =
      c.Call("_npi_sqrt", {c.Scalar("_npi_multiply_scalar", Exponential(c), 2)});
  return {c.With("_npi_multiply", noise, c.param<NumpyRandomValueParam<ScaleName>>().value, next),
          noise};
}

// Returns exp(noise / a).
NodeEntry Power(Composition& c, const NodeEntry& noise) {
  int next = 0;
  const auto& a = c.param<NumpyRandomValueParam<ExponentName>>().value;
  return c.Call("_npi_exp", {c.With("_npi_true_divide", noise, a, next)});
}

Entries RandomPareto(Composition& c) {
  const NodeEntry noise = Exponential(c);
  return {c.Scalar("_npi_subtract_scalar", Power(c, noise), 1), noise};
}

Entries RandomWeibull(Composition& c) {
  const NodeEntry noise = c.Call("_npi_log", {Exponential(c)});
  return {Power(c, noise), noise};
}

Entries RandomPowerd(Composition& c) {
  return {Power(c, c.Call("_npi_log", {c.Uniform(kLeastUniform)}))};
}

// Returns loc + noise * scale, and the noise.
Entries Located(Composition& c, const NodeEntry& noise) {
  const auto& param = c.param<NumpyRandomParam<NormalNames>>();
  int next = param.first.has_value() ? 0 : 1;
  const NodeEntry scaled = c.With("_npi_multiply", noise, param.second, next);
  next = 0;
  return {c.With("_npi_add", scaled, param.first, next), noise};
}

Entries RandomGumbel(Composition& c) {
  return Located(c, c.Call("_npi_negative", {c.Call("_npi_log", {Exponential(c)})}));
}

Entries RandomLogistic(Composition& c) {
  const NodeEntry u = c.Uniform(kLeastUniform);
  const NodeEntry other = c.Call("_npi_log", {c.Scalar("_npi_rsubtract_scalar", u, 1)});
  return Located(c, c.Call("_npi_subtract", {c.Call("_npi_log", {u}), other}));
}

Entries RandomGamma(Composition& c) {
  const auto& param = c.param<NumpyRandomParam<GammaNames>>();
  // Drawn for a vector, since _sample_gamma takes no scalars.
  const Dims size = {c.out().num_elements()};
  const NodeEntry ones =
      c.Call("_npi_ones", {}, {{"shape", Text(DimsOf(c.out()))}, {"dtype", c.dtype()}});
  int next = 0;
  const NodeEntry alpha = c.Reshape(c.With("_npi_multiply", ones, param.first, next), size);
  const NodeEntry drawn =
      c.Call("_sample_gamma", {alpha, c.Reshape(ones, size)}, {{"dtype", c.dtype()}});
  return {c.With("_npi_multiply", c.Reshape(drawn, DimsOf(c.out())), param.second, next)};
}

Entries RandomBernoulli(Composition& c) {
  const auto& param = c.param<NumpyBernoulliParam>();
  const NodeEntry u = c.Uniform(0);
  NodeEntry is_one;
  if (param.prob.has_value()) {
    is_one = c.Scalar("_npi_less_scalar", u, *param.prob);
  } else if (param.logit.has_value()) {
    is_one = c.Scalar("_npi_less_scalar", u, 1 / (1 + std::exp(-*param.logit)));
  } else {
    const NodeEntry given = c.input(0);
    is_one = c.Call("_npi_less", {u, param.is_logit ? c.Call("_npx_sigmoid", {given}) : given});
  }
  return {c.Call("Cast", {is_one}, {{"dtype", c.dtype()}})};
}

struct Rule {
  absl::string_view op;
  Entries (*compose)(Composition&);
};

constexpr Rule kRules[] = {
    {"_np_atleast_1d", Atleast},
    {"_np_atleast_2d", Atleast},
    {"_np_atleast_3d", Atleast},
    {"_np_diagflat", Diagflat},
    {"_np_trace", Trace},
    {"_npi_average", Average},
    {"_npi_bernoulli", RandomBernoulli},
    {"_npi_boolean_mask_assign_scalar", BooleanMaskAssign},
    {"_npi_cholesky", Cholesky},
    {"_npi_diff", Diff},
    {"_npi_dsplit", DSplit},
    {"_npi_eigh", Eigh},
    {"_npi_eigvalsh", Eigvalsh},
    {"_npi_exponential", RandomExponential},
    {"_npi_gamma", RandomGamma},
    {"_npi_gumbel", RandomGumbel},
    {"_npi_hsplit", HSplit},
    {"_npi_logistic", RandomLogistic},
    {"_npi_pareto", RandomPareto},
    {"_npi_polyval", Polyval},
    {"_npi_powerd", RandomPowerd},
    {"_npi_rayleigh", RandomRayleigh},
    {"_npi_rot90", Rot90},
    {"_npi_solve", Solve},
    {"_npi_tensorinv", Tensorinv},
    {"_npi_tensorsolve", Tensorsolve},
    {"_npi_weibull", RandomWeibull},
};

const Rule* RuleFor(const Node& node) {
  if (node.is_variable() || node.op()->family() != "numpy") return nullptr;
  const auto found = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const Rule& rule) { return rule.op == node.op()->name(); });
  return found == std::end(kRules) ? nullptr : found;
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
