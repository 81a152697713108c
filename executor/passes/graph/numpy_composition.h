#ifndef COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_COMPOSITION_H_
#define COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_COMPOSITION_H_

// Builds the nodes that compute a NumPy operator without a kernel, for expand_numpy.cc and
// numpy_random_rules.cc.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "executor/passes/graph/graph_facts.h"
#include "executor/passes/graph/replacement_nodes.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_text.h"

namespace cooper::numpy_composition {

using Dims = std::vector<int64_t>;
using Entries = std::vector<NodeEntry>;

inline std::string Text(const Dims& dims) { return PrintParamText(dims); }
inline Dims DimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

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

// The composition of one operator. `compose` returns the entries that replace its outputs, in
// order.
struct Rule {
  absl::string_view op;
  Entries (*compose)(Composition&);
};

}  // namespace cooper::numpy_composition

#endif  // COOPER_EXECUTOR_PASSES_GRAPH_NUMPY_COMPOSITION_H_
