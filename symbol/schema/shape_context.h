#ifndef COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_
#define COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_

// The interface of shape rules: the known shapes of one node's inputs and outputs. A rule reads
// them and adds information in both directions. Rules run until nothing changes, so a rule that
// lacks information adds nothing and returns OK.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/op.h"

namespace cooper {

// The arguments of one call of a shape rule. References shapes that the engine owns
// (symbol/inference/inference.h); used by one thread.
class ShapeContext {
 public:
  // The greatest rank of a shape, which is also that of arrays in files (params_format.h). A shape
  // is stored for each output of each node, so without a limit a small file could exhaust memory.
  static constexpr int kMaxRank = 64;

  // The spans must outlive the context. `forward_inputs` are the shapes of the inputs of the node
  // whose gradient this node computes; empty for other nodes.
  ShapeContext(const OpCall& call, absl::Span<PartialShape* const> inputs,
               absl::Span<PartialShape* const> outputs,
               absl::Span<PartialShape* const> forward_inputs)
      : call_(call), inputs_(inputs), outputs_(outputs), forward_inputs_(forward_inputs) {}

  // The operator call and its parameters.
  const OpCall& call() const { return call_; }
  template <typename P>
  const P& param() const {
    return call_.param<P>();
  }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  int num_forward_inputs() const { return static_cast<int>(forward_inputs_.size()); }
  // The shapes that are known so far. A reference shows later changes by SetInput and SetOutput.
  const PartialShape& input(int i) const { return *inputs_[i]; }
  const PartialShape& output(int i) const { return *outputs_[i]; }
  const PartialShape& forward_input(int i) const { return *forward_inputs_[i]; }

  // Merges `shape` into the known shape. Fails with kInvalidArgument on a contradiction, for a
  // negative extent, and for more than kMaxRank axes; the message has `why`, such as "(num_hidden,
  // input_dim)", after the expected shape. An unknown rank or extent adds nothing.
  absl::Status SetInput(int i, const PartialShape& shape, const char* why = "");
  absl::Status SetOutput(int i, const PartialShape& shape, const char* why = "");

 private:
  const OpCall& call_;
  absl::Span<PartialShape* const> inputs_;
  absl::Span<PartialShape* const> outputs_;
  absl::Span<PartialShape* const> forward_inputs_;
};

// Rules shared by many operators.

// Merges the shapes of all inputs and outputs, which are equal.
absl::Status SameShape(ShapeContext& c);
// Gives output i the shape of forward input i: for nodes that compute gradients with respect to the
// leading inputs.
absl::Status GradientShape(ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_
