#ifndef COOPER_SYMBOL_SCHEMA_OP_H_
#define COOPER_SYMBOL_SCHEMA_OP_H_

// The schema of an operator, which is everything but its kernels: names, parameters, arguments,
// shape, type and gradient rules, and the facts that the memory planner needs. Each operator is
// declared once, in its own file under symbol/ops, with COOPER_REGISTER_OP; linking that file
// registers it.
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
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

class GradientContext;  // gradient_context.h
class ShapeContext;     // shape_context.h
class TypeContext;      // type_context.h
class OpSchema;
class Shape;
struct NodeEntry;  // node.h

// An operator with its parameters: all that a rule may depend on besides the inputs.
struct OpCall {
  const OpSchema* op = nullptr;        // null for a variable
  AttrMap attrs;                       // as written, including hidden ones (__x__)
  std::shared_ptr<const void> params;  // the parsed parameter struct; null if op has none
  // The outputs of each graph that the call holds, such as the body of a loop (num_subgraphs());
  // null if it holds none.
  std::shared_ptr<const std::vector<std::vector<NodeEntry>>> subgraphs = nullptr;

  // P must be the operator's parameter struct; this is not checked.
  template <typename P>
  const P& param() const {
    return *static_cast<const P*>(params.get());
  }
};

// Returns the operator of that name or alias with parsed `attrs`. The attribute that counts a
// variadic operator's inputs is set to `num_inputs` if absent, and old names of attributes are
// replaced. Fails with kNotFound if the operator is not linked, and with kInvalidArgument from
// parsing.
absl::StatusOr<OpCall> MakeOpCall(absl::string_view op, AttrMap attrs, size_t num_inputs);

// `extent` indices of one axis: begin, begin + step, and so on.
struct SliceRange {
  int64_t begin = 0;
  int64_t step = 1;
  int64_t extent = 0;
};

// Groups of operators that drawings of networks give one colour.
enum class OpKind : uint8_t {
  kOther,
  kLayer,
  kActivation,
  kNormalization,
  kPooling,
  kShaping,
  kLoss
};

// A registered operator. Immutable after registration and valid until the program ends.
class OpSchema {
 public:
  // Names of inputs or outputs, in order.
  using Names = std::vector<std::string>;
  using NamesFn = std::function<Names(const OpCall&)>;
  using CheckFn = std::function<absl::Status(const OpCall&)>;
  using CountFn = std::function<int(const OpCall&)>;
  using IndicesFn = std::function<std::vector<int>(const OpCall&)>;
  using ShapeFn = std::function<absl::Status(ShapeContext&)>;
  using TypeFn = std::function<absl::Status(TypeContext&)>;
  using GradientFn = std::function<absl::StatusOr<std::vector<NodeEntry>>(GradientContext&)>;
  // Corrects attributes before parsing, such as the old name of one.
  using AttrsFn = std::function<absl::Status(AttrMap&)>;
  // Attributes of the variable that is created for input `i`, such as its initializer.
  using VariableAttrsFn = std::function<AttrMap(const OpCall&, int i)>;
  // An axis; may be negative.
  using AxisFn = std::function<int(const OpCall&)>;
  // The input axis of each output axis.
  using AxesFn = std::function<std::vector<int>(const OpCall&, int rank)>;
  // The indices of `axis` of an input of shape `whole` that an output of shape `part` contains.
  using SliceFn =
      std::function<SliceRange(const OpCall&, int axis, const Shape& whole, const Shape& part)>;
  // Converts attributes from files of MXNet `version` (904 is 0.9.4) to 1.9.1.
  using UpgradeFn = std::function<void(int version, AttrMap&)>;
  // A short summary of printed parameters: "5x5/1, 20" for a Convolution.
  using SummaryFn = std::function<std::string(AttrMap& params)>;

  // `file` is the path of the source that declares the operator.
  OpSchema(std::string name, std::string file) : name_(std::move(name)), file_(std::move(file)) {}

  const std::string& name() const { return name_; }
  // Returns the folder of that source: "nn". The folder's target links the operator.
  std::string family() const;
  const std::vector<std::string>& aliases() const { return aliases_; }
  const std::string& doc() const { return doc_; }
  const ParamSchema* params() const { return params_; }

  // Returns the names of the inputs: arguments first, then auxiliary states, as MXNet orders them.
  Names InputNames(const OpCall& call) const { return inputs_(call); }
  Names OutputNames(const OpCall& call) const { return outputs_(call); }
  // Returns the number of outputs that are listed: the first ones of OutputNames. The others,
  // hidden ones, are for the operator's own gradient (a dropout mask).
  int NumVisibleOutputs(const OpCall& call) const;
  // Returns the inputs that are auxiliary states: written by the operator, without a gradient.
  std::vector<int> AuxInputs(const OpCall& call) const;
  // Returns all inputs whose arrays a kernel may change: auxiliary states, and others that the
  // operator declares. A kernel changes nothing else but its outputs.
  std::vector<int> WrittenInputs(const OpCall& call) const;

  const ShapeFn& shape() const { return shape_; }
  const TypeFn& type() const { return type_; }
  // Empty: no gradient flows through the operator (as through a comparison).
  const GradientFn& gradient() const { return gradient_; }

  // Pairs (input, output): the output may overwrite the input's memory.
  const std::vector<std::pair<int, int>>& in_place() const { return in_place_; }
  // Output 0 is the memory of input 0 under another shape: nothing is computed.
  bool is_view() const { return is_view_; }
  // Output 0 has the bytes of input 0 if the dtypes are equal: a view or a conversion.
  bool keeps_elements() const { return is_view_ || keeps_elements_; }
  // If inputs and outputs have equally many elements, each element of an output depends only on the
  // inputs' elements at its position and on the parameters. The CPU kernel may then run on any
  // subrange of elements, in several threads at a time, with arrays of shape (count,): it reads no
  // extents, keeps no state, needs no workspace and draws no random numbers.
  bool is_elementwise() const { return is_elementwise_; }
  // Reads the shapes of its inputs but no elements, so the arrays need no memory.
  bool reads_shapes_alone() const { return reads_shapes_alone_; }
  // The shapes of the outputs depend on the values of the inputs: those that are inferred are the
  // largest, and the kernel writes the true ones to the last output, which is hidden. Calls without
  // that output count nothing (counted_shapes.h).
  bool counts_rows() const { return counts_rows_; }
  // Output 0 is input 0 with permuted axes. Empty: it is not.
  const AxesFn& transposed_axes() const { return transposed_axes_; }
  // The outputs are consecutive parts of input 0 along that axis. Empty: they are not.
  const AxisFn& split_axis() const { return split_axis_; }
  // The inputs are consecutive parts of output 0 along that axis. Empty: they are not.
  const AxisFn& join_axis() const { return join_axis_; }
  // Output 0 is a slice of input 0. Empty: it is not.
  const SliceFn& slice() const { return slice_; }
  // Returns whether the operator is a loss: it starts its own gradient and ignores head gradients.
  bool IgnoresHeadGradient(const OpCall& call) const;
  // Its gradient has the outputs among its inputs, and recomputes and writes them.
  bool gradient_computes_outputs() const { return gradient_computes_outputs_; }
  // Draws random numbers: equal calls may give different results.
  bool is_random() const { return is_random_; }
  // The number of graphs that a call holds beside its attributes; 0 for most operators. Only symbol
  // files and functions such as Foreach (symbol/control/foreach.h) make calls with subgraphs.
  int num_subgraphs() const { return num_subgraphs_; }
  // Fails with kInvalidArgument unless the call has num_subgraphs() subgraphs that fit its
  // attributes. Must be called before a node is made of the call.
  absl::Status CheckSubgraphs(const OpCall& call) const;
  // The attribute that holds the number of inputs of a variadic operator ("num_args"), or empty.
  const std::string& variadic_attr() const { return variadic_attr_; }
  const AttrsFn& fix_attrs() const { return fix_attrs_; }
  const VariableAttrsFn& variable_attrs() const { return variable_attrs_; }
  const UpgradeFn& upgrade_attrs() const { return upgrade_attrs_; }

  // Returns whether the operator, by its name, computes the gradient of another one:
  // "_backward_Pad", "_broadcast_backward". Only gradient rules create its nodes, so its own rules
  // and kernels do not validate its inputs.
  bool is_gradient() const;

  // Returns the group of the operator in drawings.
  OpKind Kind(const OpCall& call) const;
  // Returns the summary in drawings; empty if there is none.
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
  int num_subgraphs_ = 0;
  CheckFn check_subgraphs_;
  std::string variadic_attr_;
  AttrsFn fix_attrs_;
  VariableAttrsFn variable_attrs_;
  UpgradeFn upgrade_attrs_;
  OpKind kind_ = OpKind::kOther;
  SummaryFn summary_;
};

// Builds an OpSchema; see COOPER_REGISTER_OP. Most methods set the property of OpSchema with a
// similar name, whose comment has the meaning: InPlace sets in_place(), View sets is_view(). Texts
// are copied. Nothing is inline, since hundreds of operators are declared by the same calls.
class OpBuilder {
 public:
  // Constructed in the source that declares the operator.
  explicit OpBuilder(absl::string_view name, const char* file = __builtin_FILE());
  OpBuilder(OpBuilder&&) noexcept;
  ~OpBuilder();

  OpBuilder&& Describe(absl::string_view doc) &&;
  // Adds another name that symbol files and callers may use.
  OpBuilder&& Alias(absl::string_view name) &&;
  template <typename P>
  OpBuilder&& Param() && {
    return std::move(*this).Params(ParamDeclaration<P>::Schema());
  }
  OpBuilder&& Inputs(std::initializer_list<const char*> names) &&;
  OpBuilder&& Inputs(OpSchema::Names names) &&;
  OpBuilder&& Inputs(OpSchema::NamesFn names) &&;
  // Declares inputs arg0, arg1, ... whose number is the integer parameter `attr`; composition sets
  // it to the number of given inputs if absent.
  OpBuilder&& VariadicInputs(absl::string_view attr) &&;
  OpBuilder&& AuxInputs(OpSchema::IndicesFn indices) &&;
  // Declares written inputs in addition to auxiliary states.
  OpBuilder&& WritesInputs(OpSchema::IndicesFn indices) &&;
  OpBuilder&& Outputs(std::initializer_list<const char*> names) &&;
  OpBuilder&& Outputs(OpSchema::Names names) &&;
  OpBuilder&& Outputs(OpSchema::NamesFn names) &&;
  OpBuilder&& VisibleOutputs(OpSchema::CountFn count) &&;
  OpBuilder&& Shape(OpSchema::ShapeFn rule) &&;
  OpBuilder&& Type(OpSchema::TypeFn rule) &&;
  OpBuilder&& Gradient(OpSchema::GradientFn rule) &&;
  OpBuilder&& InPlace(std::initializer_list<std::pair<int, int>> pairs) &&;
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
  // `check` may rely on the number of subgraphs.
  OpBuilder&& Subgraphs(int count, OpSchema::CheckFn check) &&;
  OpBuilder&& FixAttrs(OpSchema::AttrsFn fix) &&;
  OpBuilder&& VariableAttrs(OpSchema::VariableAttrsFn attrs) &&;
  OpBuilder&& UpgradeAttrs(OpSchema::UpgradeFn upgrade) &&;
  OpBuilder&& Kind(OpKind kind) &&;
  OpBuilder&& Summary(OpSchema::SummaryFn summary) &&;
  // Uses the text of one parameter as the summary.
  OpBuilder&& Summary(absl::string_view param) &&;

  std::unique_ptr<OpSchema> Build() &&;

 private:
  OpBuilder&& Params(const ParamSchema* params) &&;

  std::unique_ptr<OpSchema> op_;
};

// Fails with kInvalidArgument if `attrs` of a variadic operator set more inputs than `num_inputs`.
// Must be called before InputNames, which lists them: the number may be huge.
absl::Status CheckVariadicCount(const OpSchema& op, const AttrMap& attrs, size_t num_inputs);

// Returns the operator of that name or alias. Fails with kNotFound, naming similar names, if it is
// not linked. Thread-safe.
absl::StatusOr<const OpSchema*> FindOp(absl::string_view name);

// Fails with kInvalidArgument if `op` is a gradient operator: callers and symbol files, which MXNet
// writes without such nodes, may not name one.
absl::Status RefuseGradientOp(const OpSchema& op);

// Returns every linked operator, sorted by name.
std::vector<const OpSchema*> AllOps();

// Registers an operator. A name used twice is a bug in cooper and ends the program.
struct OpRegistrar {
  OpRegistrar(OpBuilder&& builder);  // NOLINT: the macro initializes with "="
};

#define COOPER_REGISTER_OP(name) COOPER_REGISTER_OP_NAMED(name, #name)
// For names that are no identifiers, or several operators declared by one function.
#define COOPER_REGISTER_OP_NAMED(id, name) \
  static const ::cooper::OpRegistrar cooper_op_registrar_##id = ::cooper::OpBuilder(name)

}  // namespace cooper

#endif  // COOPER_SYMBOL_SCHEMA_OP_H_
