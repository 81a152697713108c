#ifndef COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_
#define COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_

// Where the samples of a batch are in an array, and how each operator hands that on from its inputs
// to its outputs.
//
// Operators whose schema says enough need no rule: elementwise ones, views, transposes, splits,
// joins and slices (op.h). Another operator says it in a file of its folder, apart from its schema,
// for which nobody has to link it:
//
//   COOPER_BATCH_RULE(one_hot, [](const BatchCall& c) { return c.Map(...); });
//
// What has no rule is unknown, and so is all that is computed from it. infer_batch_layout.h applies
// the rules to a graph.

#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

struct BatchLayout {
  enum class Kind : uint8_t {
    kUnknown,  // nobody can tell
    kNone,     // the same whatever the samples are, such as a parameter
    kSamples,  // each sample has elements of its own
    kSum,      // a sum over the samples
    kMean,     // a mean over the samples
    // The rows of some samples, in their order, along the first axis: whose they are is known once
    // they are computed (OpSchema::counts_rows). Unknown to all that cannot say more of it.
    kSomeSamples,
  };

  Kind kind = Kind::kUnknown;
  // Of kSamples: index (o * batch_size + n) * inner + i of this axis belongs to sample n, for all
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
  // Indices of the axis that belong to one sample.
  int64_t per_sample() const { return outer * inner; }
  // Whether an array of this shape can have `batch_size` samples there.
  bool Fits(const Shape& shape, int64_t batch_size) const;
  // The shape of the same array with `to` samples. Requires has_samples() and the axis.
  Shape WithSamples(Shape shape, int64_t to) const;
  // "axis 1", "axis 0 as (3, N, 1)", "a mean over samples".
  std::string ToString() const;

  friend bool operator==(const BatchLayout&, const BatchLayout&) = default;
};

std::ostream& operator<<(std::ostream& os, const BatchLayout& layout);

// A call as a rule sees it. At least one input is not kNone, and none is unknown; or there are no
// inputs at all.
struct BatchCall {
  // From an axis of an input to that of the output; kMixed if elements of several samples meet.
  using AxisFn = absl::FunctionRef<int(int input, int axis)>;
  static constexpr int kMixed = -1;

  const OpCall& call;
  absl::Span<const Shape> inputs;
  absl::Span<const Shape> outputs;
  absl::Span<const BatchLayout> layouts;  // of the inputs
  int64_t batch_size = 0;
  int output = 0;  // the one that is asked for

  template <typename P>
  const P& param() const {
    return call.param<P>();
  }
  const Shape& input(int i) const { return inputs[i]; }
  const Shape& out() const { return outputs[output]; }
  int rank(int i) const { return inputs[i].rank(); }

  // Samples where `axis_of` moves those of each input that has some; unknown if two inputs do not
  // agree, if one is reduced over samples, or if `axis_of` gives kMixed.
  BatchLayout Map(AxisFn axis_of) const;
  // The first axis stays the first one, whatever happens behind it.
  BatchLayout FirstAxis() const;
  // Inputs are aligned at their last axes and broadcast.
  BatchLayout Aligned() const;
  // Output as input 0, but for the axis `mixed` (which may be negative).
  BatchLayout AllBut(int64_t mixed) const;
  // The elements of input `i`, in their order, under another shape.
  BatchLayout View(int i, const Shape& shape) const;
  // A sum or a mean, if all inputs are that (or, beside means, the same for all samples); unknown
  // where one has samples. For operators that are linear in all their inputs.
  BatchLayout Reduced() const;
  bool any_reduced() const;
};

using BatchRule = BatchLayout (*)(const BatchCall& call);

// By the operator's rule, or by what its schema says.
BatchLayout OutputLayout(const BatchCall& call);

// A second rule of one operator is a bug in cooper and ends the program.
struct BatchRuleRegistrar {
  BatchRuleRegistrar(std::initializer_list<const char*> ops, BatchRule rule);
};

// Losses, whose gradient begins from themselves, divide it by numbers that may grow with the batch.
// Such an operator has the parameter grad_scale and a rule that tells whether its gradient is
// divided by the batch size.
struct LossRuleRegistrar {
  LossRuleRegistrar(std::initializer_list<const char*> ops, bool (*divides)(const BatchCall& call));
};

// Whether the gradient that a loss begins with, added up over parts of a batch, has to be weighted
// by the parts' sizes to give that of the whole batch: where it is divided by the batch size, or
// where the loss is a mean over the samples, or the same for all.
bool LossNeedsWeights(const BatchCall& call);

// COOPER_BATCH_RULE(op, rule)
#define COOPER_BATCH_RULE(op, ...) \
  static const ::cooper::BatchRuleRegistrar cooper_batch_rule_##op({#op}, __VA_ARGS__)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_BATCH_LAYOUT_H_
