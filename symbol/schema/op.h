#ifndef COOPER_SYMBOL_SCHEMA_OP_H_
#define COOPER_SYMBOL_SCHEMA_OP_H_

// What an operator is, apart from its kernels: names, parameters, arguments, shape, type and
// gradient rules, and the facts the memory planner needs. Each operator is declared once, in its
// own file under symbol/ops, with COOPER_REGISTER_OP; linking that file makes it known.
//
//   COOPER_REGISTER_OP(Activation)
//       .Describe("Applies act_type to every element.")
//       .Param<ActivationParam>()
//       .Inputs({"data"})
//       .Shape(SameShape)
//       .Type(SameType)
//       .Gradient(ActivationGradient)
//       .InPlace({{0, 0}});

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

class GradientContext;  // gradient_context.h
class ShapeContext;     // shape_context.h
class TypeContext;      // type_context.h
class OpSchema;
class Shape;
struct NodeEntry;  // node.h

// An operator with its parameters: what a rule may depend on besides the inputs.
struct OpCall {
  const OpSchema* op = nullptr;        // null for a variable
  AttrMap attrs;                       // as written, hidden ones (__x__) too
  std::shared_ptr<const void> params;  // the parsed parameter struct; null if op has none

  template <typename P>
  const P& param() const {
    return *static_cast<const P*>(params.get());
  }
};

// An operator of that name or alias with `attrs`, parsed. The attribute that counts a variadic
// operator's inputs is set to `num_inputs` if absent, and old names of attributes are replaced.
// kNotFound if the operator is not linked; kInvalidArgument from parsing.
absl::StatusOr<OpCall> MakeOpCall(absl::string_view op, AttrMap attrs, size_t num_inputs);

// `extent` indices of one axis, from `begin` on, `step` apart.
struct SliceRange {
  int64_t begin = 0;
  int64_t step = 1;
  int64_t extent = 0;
};

// What an operator is to somebody who looks at a drawing of a network.
enum class OpKind : uint8_t {
  kOther,
  kLayer,
  kActivation,
  kNormalization,
  kPooling,
  kShaping,
  kLoss
};

class OpSchema {
 public:
  using Names = std::vector<std::string>;
  using NamesFn = std::function<Names(const OpCall&)>;
  using CountFn = std::function<int(const OpCall&)>;
  using IndicesFn = std::function<std::vector<int>(const OpCall&)>;
  using ShapeFn = std::function<absl::Status(ShapeContext&)>;
  using TypeFn = std::function<absl::Status(TypeContext&)>;
  using GradientFn = std::function<absl::StatusOr<std::vector<NodeEntry>>(GradientContext&)>;
  // What composition may need to fix before parsing, such as an attribute's old name.
  using AttrsFn = std::function<absl::Status(AttrMap&)>;
  // Attributes that the variable made for input `i` gets, such as how to initialize it.
  using VariableAttrsFn = std::function<AttrMap(const OpCall&, int i)>;
  // An axis, which may be negative.
  using AxisFn = std::function<int(const OpCall&)>;
  // The axis of the input that each axis of the output is.
  using AxesFn = std::function<std::vector<int>(const OpCall&, int rank)>;
  // Which indices of `axis` of an input of shape `whole` are in the output, of shape `part`.
  using SliceFn =
      std::function<SliceRange(const OpCall&, int axis, const Shape& whole, const Shape& part)>;
  // Changes attributes as a file of that version of MXNet (904 is 0.9.4) has them to those of
  // today.
  using UpgradeFn = std::function<void(int version, AttrMap&)>;
  // A few words from the parameters, printed: "5x5/1, 20" of a Convolution.
  using SummaryFn = std::function<std::string(AttrMap& params)>;

  // `file` is the source that declares it.
  OpSchema(std::string name, std::string file) : name_(std::move(name)), file_(std::move(file)) {}

  const std::string& name() const { return name_; }
  // The folder of the source that declares it: "nn". Its target links the operator.
  std::string family() const;
  const std::vector<std::string>& aliases() const { return aliases_; }
  const std::string& doc() const { return doc_; }
  const ParamSchema* params() const { return params_; }

  // Names of the inputs: arguments first, then auxiliary states, as MXNet orders them.
  Names InputNames(const OpCall& call) const { return inputs_(call); }
  Names OutputNames(const OpCall& call) const { return outputs_(call); }
  // Outputs beyond this number are for the operator's own gradient (a dropout mask) and are not
  // listed.
  int NumVisibleOutputs(const OpCall& call) const;
  // Indices of the inputs that are auxiliary states: written by the operator, without a gradient.
  std::vector<int> AuxInputs(const OpCall& call) const;
  // Indices of all inputs whose arrays a kernel may change: auxiliary states, and others that the
  // operator declares. A kernel changes nothing else but its outputs.
  std::vector<int> WrittenInputs(const OpCall& call) const;

  const ShapeFn& shape() const { return shape_; }
  const TypeFn& type() const { return type_; }
  // Empty: no gradient flows through the operator (as through a comparison).
  const GradientFn& gradient() const { return gradient_; }

  // Pairs (input, output): the output may be written over the input's memory.
  const std::vector<std::pair<int, int>>& in_place() const { return in_place_; }
  // Output 0 is input 0's memory under another shape: nothing has to be computed.
  bool is_view() const { return is_view_; }
  // As a view, or a conversion to a dtype, which leaves the bytes as they are if that is input 0's.
  bool keeps_elements() const { return is_view_ || keeps_elements_; }
  // Where inputs and outputs have equally many elements, each element of an output follows from the
  // inputs' elements in its place and from the parameters. Its CPU kernel is then run on any part
  // of them, by several threads at a time, each with arrays of shape (count,): it looks at no
  // extent, keeps no state, needs no workspace and draws no random numbers.
  bool is_elementwise() const { return is_elementwise_; }
  // Looks at the shapes of its inputs and at no element of theirs, which need not be there.
  bool reads_shapes_alone() const { return reads_shapes_alone_; }
  // How many rows output 0 has is known once the kernel has run: its shape says the most there can
  // be. The kernel writes the number into the last output, a hidden int64 of shape (1,), and zeros
  // behind these rows. Nothing can be computed from such an output, which executors cut to its
  // rows: it is one of the graph's, or nobody reads it.
  bool counts_rows() const { return counts_rows_; }
  // Output 0 is input 0 with its axes in another order. Empty: it is not.
  const AxesFn& transposed_axes() const { return transposed_axes_; }
  // The outputs follow each other along that axis of input 0. Empty: they do not.
  const AxisFn& split_axis() const { return split_axis_; }
  // The inputs follow each other along that axis of output 0. Empty: they do not.
  const AxisFn& join_axis() const { return join_axis_; }
  // Output 0 is a part of input 0. Empty: it is not.
  const SliceFn& slice() const { return slice_; }
  // A loss: its gradient starts from itself, and head gradients are ignored unless
  // the function says otherwise.
  bool IgnoresHeadGradient(const OpCall& call) const;
  // Its gradient has the outputs among its inputs, computes them on its way, and writes them there.
  bool gradient_computes_outputs() const { return gradient_computes_outputs_; }
  // Draws random numbers: equal calls are not equal results.
  bool is_random() const { return is_random_; }
  // The attribute that holds the number of inputs of a variadic operator ("num_args"), or empty.
  const std::string& variadic_attr() const { return variadic_attr_; }
  const AttrsFn& fix_attrs() const { return fix_attrs_; }
  const VariableAttrsFn& variable_attrs() const { return variable_attrs_; }
  const UpgradeFn& upgrade_attrs() const { return upgrade_attrs_; }

  // Computes the gradient of another operator, by its name: "_backward_Pad", "_broadcast_backward".
  // Its nodes are made by that one's gradient rule, whose inputs its own rules and kernels trust.
  bool is_gradient() const;

  // For drawings.
  OpKind Kind(const OpCall& call) const;
  // Empty if there is nothing to say.
  std::string Summary(const OpCall& call) const;

 private:
  friend class OpBuilder;

  std::string name_;
  std::string file_;
  std::vector<std::string> aliases_;
  std::string doc_;
  const ParamSchema* params_ = nullptr;
  NamesFn inputs_ = [](const OpCall&) { return Names{"data"}; };
  NamesFn outputs_ = [](const OpCall&) { return Names{"output"}; };
  CountFn visible_outputs_;
  IndicesFn aux_inputs_;
  IndicesFn written_inputs_;
  ShapeFn shape_;
  TypeFn type_;
  GradientFn gradient_;
  std::vector<std::pair<int, int>> in_place_;
  bool is_view_ = false;
  bool keeps_elements_ = false;
  bool is_elementwise_ = false;
  bool reads_shapes_alone_ = false;
  bool counts_rows_ = false;
  AxesFn transposed_axes_;
  AxisFn split_axis_;
  AxisFn join_axis_;
  SliceFn slice_;
  std::function<bool(const OpCall&)> ignores_head_gradient_;
  bool gradient_computes_outputs_ = false;
  bool is_random_ = false;
  std::string variadic_attr_;
  AttrsFn fix_attrs_;
  VariableAttrsFn variable_attrs_;
  UpgradeFn upgrade_attrs_;
  OpKind kind_ = OpKind::kOther;
  SummaryFn summary_;
};

// Fills an OpSchema; see COOPER_REGISTER_OP.
class OpBuilder {
 public:
  // Made in the source that declares the operator.
  explicit OpBuilder(std::string name, const char* file = __builtin_FILE())
      : op_(std::make_unique<OpSchema>(std::move(name), file)) {}

  OpBuilder&& Describe(std::string doc) &&;
  // Another name that symbol files and callers may use.
  OpBuilder&& Alias(std::string name) &&;
  template <typename P>
  OpBuilder&& Param() && {
    op_->params_ = ParamDeclaration<P>::Schema();
    return std::move(*this);
  }
  OpBuilder&& Inputs(std::vector<std::string> names) &&;
  OpBuilder&& Inputs(OpSchema::NamesFn names) &&;
  // arg0, arg1, ... as many as the integer parameter `attr` says; composition sets it to the number
  // of inputs given where it is absent.
  OpBuilder&& VariadicInputs(std::string attr) &&;
  OpBuilder&& AuxInputs(OpSchema::IndicesFn indices) &&;
  // Beside auxiliary states.
  OpBuilder&& WritesInputs(OpSchema::IndicesFn indices) &&;
  OpBuilder&& Outputs(std::vector<std::string> names) &&;
  OpBuilder&& Outputs(OpSchema::NamesFn names) &&;
  OpBuilder&& VisibleOutputs(OpSchema::CountFn count) &&;
  OpBuilder&& Shape(OpSchema::ShapeFn rule) &&;
  OpBuilder&& Type(OpSchema::TypeFn rule) &&;
  OpBuilder&& Gradient(OpSchema::GradientFn rule) &&;
  OpBuilder&& InPlace(std::vector<std::pair<int, int>> pairs) &&;
  OpBuilder&& View() &&;
  OpBuilder&& KeepsElements() &&;
  OpBuilder&& Elementwise() &&;
  OpBuilder&& ReadsShapesAlone() &&;
  OpBuilder&& CountsRows() &&;
  OpBuilder&& Transposes(OpSchema::AxesFn axes) &&;
  OpBuilder&& Splits(OpSchema::AxisFn axis) &&;
  OpBuilder&& Joins(OpSchema::AxisFn axis) &&;
  OpBuilder&& Slices(OpSchema::SliceFn slice) &&;
  OpBuilder&& IgnoreHeadGradient() &&;
  OpBuilder&& IgnoreHeadGradient(std::function<bool(const OpCall&)> rule) &&;
  OpBuilder&& GradientComputesOutputs() &&;
  OpBuilder&& Random() &&;
  OpBuilder&& FixAttrs(OpSchema::AttrsFn fix) &&;
  OpBuilder&& VariableAttrs(OpSchema::VariableAttrsFn attrs) &&;
  OpBuilder&& UpgradeAttrs(OpSchema::UpgradeFn upgrade) &&;
  OpBuilder&& Kind(OpKind kind) &&;
  OpBuilder&& Summary(OpSchema::SummaryFn summary) &&;
  // The value of one parameter.
  OpBuilder&& Summary(std::string param) &&;

  std::unique_ptr<OpSchema> Build() && { return std::move(op_); }

 private:
  std::unique_ptr<OpSchema> op_;
};

// kInvalidArgument if `attrs` name more inputs than there are, of an operator that has as many as
// an attribute says: asked before InputNames makes a list of them, for the number may be anything.
absl::Status CheckVariadicCount(const OpSchema& op, const AttrMap& attrs, size_t num_inputs);

// The operator of that name or alias. kNotFound, naming near misses, if it is not linked.
absl::StatusOr<const OpSchema*> FindOp(absl::string_view name);

// kInvalidArgument if `op` is an operator of gradients: neither symbol files, which MXNet writes
// without such nodes, nor callers may name one.
absl::Status RefuseGradientOp(const OpSchema& op);

// Every operator that is linked, in order of name.
std::vector<const OpSchema*> AllOps();

// Adds an operator. A name used twice is a bug in cooper and ends the program.
struct OpRegistrar {
  OpRegistrar(OpBuilder&& builder);  // NOLINT: the macro initializes with "="
};

#define COOPER_REGISTER_OP(name) COOPER_REGISTER_OP_NAMED(name, #name)
// For names that are no identifiers, or several operators declared by one function.
#define COOPER_REGISTER_OP_NAMED(id, name) \
  static const ::cooper::OpRegistrar cooper_op_registrar_##id = ::cooper::OpBuilder(name)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_H_
