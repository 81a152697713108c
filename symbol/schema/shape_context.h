#ifndef COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_
#define COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_

// What a shape rule sees: the shapes known so far of one node's inputs and outputs, which it reads
// and adds to, in both directions. Rules run until nothing changes any more, so a rule that lacks
// information adds nothing and returns OK.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/op.h"

namespace cooper {

class ShapeContext {
 public:
  // As of arrays in files. A shape is kept for each output of each node, so that without a limit a
  // small file could have more of them than there is memory.
  static constexpr int kMaxRank = 64;

  // The spans outlive the context. `forward_inputs` are the shapes of the inputs of the node whose
  // gradient this node computes; empty for other nodes.
  ShapeContext(const OpCall& call, absl::Span<PartialShape* const> inputs,
               absl::Span<PartialShape* const> outputs,
               absl::Span<PartialShape* const> forward_inputs)
      : call_(call), inputs_(inputs), outputs_(outputs), forward_inputs_(forward_inputs) {}

  const OpCall& call() const { return call_; }
  template <typename P>
  const P& param() const {
    return call_.param<P>();
  }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  int num_forward_inputs() const { return static_cast<int>(forward_inputs_.size()); }
  const PartialShape& input(int i) const { return *inputs_[i]; }
  const PartialShape& output(int i) const { return *outputs_[i]; }
  const PartialShape& forward_input(int i) const { return *forward_inputs_[i]; }

  // Adds what `shape` knows. kInvalidArgument if it contradicts what is known, or has more than
  // kMaxRank axes; `why`, such as "(num_hidden, input_dim)", stands in the message behind the
  // expected shape.
  absl::Status SetInput(int i, const PartialShape& shape, const char* why = "");
  absl::Status SetOutput(int i, const PartialShape& shape, const char* why = "");

 private:
  const OpCall& call_;
  absl::Span<PartialShape* const> inputs_;
  absl::Span<PartialShape* const> outputs_;
  absl::Span<PartialShape* const> forward_inputs_;
};

// Rules that many operators share.

// All inputs and outputs have one shape.
absl::Status SameShape(ShapeContext& c);
// Output i has the shape of forward input i: for nodes that compute a gradient with respect to the
// leading inputs of another.
absl::Status GradientShape(ShapeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_SHAPE_CONTEXT_H_
