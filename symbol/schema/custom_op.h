#ifndef COOPER_SYMBOL_SCHEMA_CUSTOM_OP_H_
#define COOPER_SYMBOL_SCHEMA_CUSTOM_OP_H_

// Operators of a program's own under MXNet's name Custom: a file has nodes of the operator Custom
// with the attribute op_type, and the program registers functions under that name before it loads
// the file or calls Symbol::Create. They run on the CPU; with BindOptions::fallback a graph on a
// GPU copies their arrays there and back. For an operator with kernels for both devices, declare
// one (docs/operators.md).
//
//   COOPER_RETURN_IF_ERROR(RegisterCustomOp(
//       "square", {.forward =
//                      [](const CustomForward& c) {
//                        const float* x = c.arguments[0].as<float>();
//                        float* y = c.outputs[0].as<float>();
//                        for (int64_t i = 0; i < c.outputs[0].size(); ++i) y[i] = x[i] * x[i];
//                        return absl::OkStatus();
//                      }}));
//   Symbol::Create("Custom", {.inputs = {data}, .attrs = {{"op_type", "square"}}});
//
// MXNet: python/mxnet/operator.py (CustomOpProp, CustomOp).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// A dense, row-major array in CPU memory, which the executor owns. Valid during the call.
struct CustomArray {
  void* data = nullptr;
  Shape shape;
  DType dtype = DType::kFloat32;

  int64_t size() const { return shape.num_elements(); }
  // T must be the C++ type of `dtype`; this is not checked.
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// The known shapes or dtypes of a node, to which an inferring function adds.
template <typename T>
struct CustomFacts {
  const AttrMap& attrs;  // of the node, as written, op_type among them
  std::vector<T> arguments;
  std::vector<T> outputs;
  std::vector<T> auxiliary_states;
};
using CustomShapes = CustomFacts<PartialShape>;
using CustomTypes = CustomFacts<std::optional<DType>>;

// The arrays of one forward run. The function overwrites every element of every output.
struct CustomForward {
  const AttrMap& attrs;
  bool is_train;
  absl::Span<const CustomArray> arguments;
  absl::Span<const CustomArray> outputs;
  absl::Span<const CustomArray> auxiliary_states;  // the function may change them
};

// The arrays of one backward run. The function overwrites every element of every gradient.
struct CustomBackward {
  const AttrMap& attrs;
  absl::Span<const CustomArray> head_gradients;  // by output; none without needs_head_gradient
  absl::Span<const CustomArray> arguments;
  absl::Span<const CustomArray> outputs;           // of the forward run
  absl::Span<const CustomArray> auxiliary_states;  // not to be changed
  absl::Span<const CustomArray> gradients;         // by argument
};

// The functions of an operator. They may be called by several threads at once, for different nodes
// or runs. An error that one returns is that of the call (binding, running), with node and op_type.
struct CustomOp {
  using Names = std::vector<std::string>;
  using NamesFn = std::function<Names(const AttrMap& attrs)>;

  // The names of inputs and outputs, which depend on nothing but the attributes. A node has at
  // least one argument and one output.
  NamesFn arguments = [](const AttrMap&) { return Names{"data"}; };
  NamesFn outputs = [](const AttrMap&) { return Names{"output"}; };
  NamesFn auxiliary_states = [](const AttrMap&) { return Names(); };
  // Add shapes and dtypes, which may not contradict what is known. They are called when the shape
  // (in full) or the dtype of argument 0 is known, possibly several times. By default outputs have
  // the shape of argument 0, and all arrays have its dtype.
  std::function<absl::Status(CustomShapes&)> infer_shape;
  std::function<absl::Status(CustomTypes&)> infer_type;
  // Required.
  std::function<absl::Status(const CustomForward&)> forward;
  // Empty: no gradient passes.
  std::function<absl::Status(const CustomBackward&)> backward;
  // Whether backward reads head gradients. False for a loss, which starts its own gradient.
  bool needs_head_gradient = true;
};

// Registers an operator for the rest of the program. kInvalidArgument without a forward function;
// kAlreadyExists if the name is taken. Thread-safe.
absl::Status RegisterCustomOp(absl::string_view op_type, CustomOp op);

// Returns the operator that `attrs` name. Fails with kInvalidArgument without op_type, and with
// kNotFound, naming those that are registered, if it is not. The result is valid until the program
// ends. Thread-safe.
absl::StatusOr<const CustomOp*> FindCustomOp(const AttrMap& attrs);

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_CUSTOM_OP_H_
