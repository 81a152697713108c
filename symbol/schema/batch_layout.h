#ifndef COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_
#define COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_

// Describes where the samples of a batch are in an array, and how each operator maps this layout
// from its inputs to its outputs.
//
// Operators whose schema is sufficient need no rule: elementwise ones, views, transposes, splits,
// joins and slices (op.h). Another operator registers a rule in a separate source of its folder,
// which need not be linked:
//
//   COOPER_BATCH_RULE(one_hot, [](const BatchCall& c) { return c.Map(...); });
//
// Without a rule the layout of an output is unknown, and so are the layouts computed from it.
// infer_batch_layout.h applies the rules to a graph.

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// The position of the samples of a batch in an array.
struct BatchLayout {
  enum class Kind : uint8_t {
    kUnknown,  // cannot be determined
    kNone,     // independent of the samples, such as a parameter
    kSamples,  // each sample has elements of its own
    kSum,      // a sum over the samples
    kMean,     // a mean over the samples
    // Rows of some of the samples, in their order, along the first axis; which samples is known
    // only after the computation (OpSchema::counts_rows). Treated as unknown by rules without
    // special support.
    kSomeSamples,
  };

  Kind kind = Kind::kUnknown;
  // For kSamples: index (o * batch_size + n) * inner + i of this axis belongs to sample n, for all
  // o < outer and i < inner. Both are 1 unless axes were merged: (T, N, C) reshaped to (T * N, C)
  // has outer T, (N, T, C) reshaped to (N * T, C) has inner T.
  int axis = 0;
  int64_t outer = 1;
  int64_t inner = 1;

  static BatchLayout Of(Kind kind) { return {.kind = kind}; }
  static BatchLayout Samples(int axis, int64_t outer = 1, int64_t inner = 1) {
    return {Kind::kSamples, axis, outer, inner};
  }

  bool is_unknown() const { return kind == Kind::kUnknown || kind == Kind::kSomeSamples; }
  bool has_samples() const { return kind == Kind::kSamples; }
  bool is_reduced() const { return kind == Kind::kSum || kind == Kind::kMean; }
  // Returns the number of indices of the axis that belong to one sample.
  int64_t per_sample() const { return outer * inner; }
  // Returns whether an array of this shape can hold `batch_size` samples in this layout.
  bool Fits(const Shape& shape, int64_t batch_size) const;
  // Returns `shape` with room for `to` samples instead of the present number. Requires
  // has_samples(), and a shape that has the axis.
  Shape WithSamples(Shape shape, int64_t to) const;
  // Returns "axis 1", "axis 0 as (3, N, 1)", "a mean over samples".
  std::string ToString() const;

  friend bool operator==(const BatchLayout&, const BatchLayout&) = default;
};

// Prints layout.ToString().
std::ostream& operator<<(std::ostream& os, const BatchLayout& layout);

// The call that a rule evaluates. No input layout is unknown, and at least one is not kNone unless
// there are no inputs.
struct BatchCall {
  // Maps an axis of an input to an axis of the output; kMixed if it combines elements of several
  // samples.
  using AxisFn = absl::FunctionRef<int(int input, int axis)>;
  static constexpr int kMixed = -1;

  const OpCall& call;
  absl::Span<const Shape> inputs;
  absl::Span<const Shape> outputs;
  absl::Span<const BatchLayout> layouts;  // of the inputs
  int64_t batch_size = 0;
  int output = 0;  // the output whose layout is computed

  // Returns the operator's parameters; P must be its struct.
  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
  // Return the shapes of input `i` and of the output whose layout is computed.
  const Shape& input(int i) const { return inputs[i]; }
  const Shape& out() const { return outputs[output]; }
  int rank(int i) const { return inputs[i].rank(); }

  // Returns samples on the axis to which `axis_of` maps the sample axes of the inputs; unknown if
  // two inputs disagree, if one is reduced over samples, or if `axis_of` returns kMixed.
  BatchLayout Map(AxisFn axis_of) const;
  // Returns the layout for an operator that keeps samples of the first axis on the first axis.
  BatchLayout FirstAxis() const;
  // Returns the layout for an operator that aligns inputs at their last axes and broadcasts them.
  BatchLayout Aligned() const;
  // Returns the layout for an operator that keeps the layout of input 0: unknown if the samples are
  // on the axis `mixed` (which may be negative).
  BatchLayout AllBut(int64_t mixed) const;
  // Returns the layout for an operator that gives the elements of input `i`, in their order,
  // another shape.
  BatchLayout View(int i, const Shape& shape) const;
  // Returns the layout for an operator that is linear in all its inputs and whose inputs have no
  // samples: kSum if all inputs are sums; kMean if all are means or kNone; kNone if all are kNone;
  // unknown otherwise.
  BatchLayout Reduced() const;
  // Returns whether an input is a sum or a mean over the samples.
  bool any_reduced() const;
};

// A rule for one output of an operator; a lambda without captures converts to it.
using BatchRule = BatchLayout (*)(const BatchCall& call);

// Returns the layout of output call.output by the operator's rule, or else by its schema: kNone for
// an operator without inputs, unknown if neither decides it. Thread-safe after registration.
BatchLayout OutputLayout(const BatchCall& call);

// Registers a rule for operators. A second rule of one operator is a bug in cooper and ends the
// program.
struct BatchRuleRegistrar {
  BatchRuleRegistrar(std::initializer_list<const char*> ops, BatchRule rule);
};

// Registers whether the gradient that a loss starts is divided by a number that grows with the
// batch size. The loss must have the parameter grad_scale.
struct LossRuleRegistrar {
  LossRuleRegistrar(std::initializer_list<const char*> ops, bool (*divides)(const BatchCall& call));
};

// Returns whether the gradients of a loss over parts of a batch must be weighted by the parts'
// sizes to add up to the gradient over the whole batch: if they are divided by the batch size, or
// if the loss is a mean over the samples or independent of them.
bool LossNeedsWeights(const BatchCall& call);

// COOPER_BATCH_RULE(op, rule)
#define COOPER_BATCH_RULE(op, ...) \
  static const ::cooper::BatchRuleRegistrar cooper_batch_rule_##op({#op}, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_
