#ifndef COOPER_SYMBOL_SCHEMA_TYPE_CONTEXT_H_
#define COOPER_SYMBOL_SCHEMA_TYPE_CONTEXT_H_

// The interface of type rules: the known dtypes of one node's inputs and outputs. A rule that lacks
// information adds nothing and returns OK.

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "symbol/schema/op.h"

namespace cooper {

// The arguments of one call of a type rule, with the same interface as ShapeContext. References
// dtypes that the engine owns; used by one thread.
class TypeContext {
 public:
  using Type = std::optional<DType>;  // nullopt: unknown

  // The spans must outlive the context. `forward_inputs` are the dtypes of the inputs of the node
  // whose gradient this node computes; empty for other nodes.
  TypeContext(const OpCall& call, absl::Span<Type* const> inputs, absl::Span<Type* const> outputs,
              absl::Span<Type* const> forward_inputs)
      : call_(call), inputs_(inputs), outputs_(outputs), forward_inputs_(forward_inputs) {}

  const OpCall& call() const { return call_; }
  template <typename P>
  const P& param() const {
    return call_.param<P>();
  }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  int num_forward_inputs() const { return static_cast<int>(forward_inputs_.size()); }
  Type input(int i) const { return *inputs_[i]; }
  Type output(int i) const { return *outputs_[i]; }
  Type forward_input(int i) const { return *forward_inputs_[i]; }

  // Sets a dtype; nullopt changes nothing. Fails with kInvalidArgument, naming both, on a
  // contradiction. The message names the input or output as the operator's schema does.
  absl::Status SetInput(int i, Type type);
  absl::Status SetOutput(int i, Type type);

 private:
  const OpCall& call_;
  absl::Span<Type* const> inputs_;
  absl::Span<Type* const> outputs_;
  absl::Span<Type* const> forward_inputs_;
};

// Merges the dtypes of all inputs and outputs, which are equal. Fails with kInvalidArgument, naming
// the one that differs from the first known one. A known dtype of any of them sets the others, so
// it works in both directions.
absl::Status SameType(TypeContext& c);
// Gives output i the dtype of forward input i: for nodes that compute gradients with respect to the
// leading inputs.
absl::Status GradientType(TypeContext& c);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_TYPE_CONTEXT_H_
