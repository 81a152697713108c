// Tests rules that hold for every elementwise, broadcast and reduction kernel: kAdd adds kWrite's
// result to the output, kNull writes nothing, and an output in place of an input has the same
// result. The operators are read from the registry, so a new one is tested without a change here,
// unless its attributes are required or its shapes differ.

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/program/kernel.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"

namespace cooper {
namespace {

struct Shapes {
  std::vector<PartialShape> inputs;
  std::vector<PartialShape> forward;  // input shapes of the operator whose gradient this is
};

const PartialShape kFull = {3, 200};

// Required attributes, by operator; a backward operator has those of its forward operator.
const std::map<std::string, AttrMap>& Attributes() {
  static const auto* attributes = new std::map<std::string, AttrMap>{
      {"Activation", {{"act_type", "tanh"}}},
      {"Cast", {{"dtype", "float32"}}},
      {"amp_cast", {{"dtype", "float32"}}},
      {"cast", {{"dtype", "float32"}}},
      {"cast_storage", {{"stype", "default"}}},
      {"amp_multicast", {{"num_outputs", "2"}}},
      {"clip", {{"a_min", "0.3"}, {"a_max", "0.6"}}},
      {"add_n", {{"num_args", "3"}}},
      {"_grad_sum", {{"num_args", "3"}}},
      {"broadcast_to", {{"shape", "(3, 200)"}}},
      {"broadcast_axis", {{"axis", "0"}, {"size", "3"}}},
      {"_full", {{"shape", "(3, 200)"}, {"value", "2"}}},
      {"_zeros", {{"shape", "(3, 200)"}}},
      {"_ones", {{"shape", "(3, 200)"}}},
      {"_arange", {{"start", "600"}}},
      {"_linspace", {{"start", "0"}, {"stop", "1"}, {"num", "600"}}},
      {"_eye", {{"N", "30"}}},
  };
  return *attributes;
}

// Returns the input shapes. Reductions are over axis 1 of kFull; broadcasts from (3, 1) or (1, 200)
// to kFull.
Shapes ShapesOf(const OpSchema& op, const OpCall& call) {
  const std::string& name = op.name();
  const PartialShape rows = {3};
  const PartialShape column = {3, 1};
  if (name == "broadcast_to" || name == "broadcast_axis") return {{{1, 200}}, {}};
  if (name == "_broadcast_backward") return {{kFull}, {{1, 200}}};
  if (name == "broadcast_like") return {{{1, 200}, kFull}, {}};
  Shapes shapes;
  for (const std::string& input : op.InputNames(call)) {
    const bool is_rhs = input == "rhs" && absl::StrContains(name, "broadcast_");
    shapes.inputs.push_back(is_rhs ? column : kFull);
  }
  if (absl::StartsWith(name, "_backward_broadcast_")) {
    shapes.forward = {kFull, column};
  } else if (name == "_backward_moments") {
    shapes = {{rows, rows, kFull, rows}, {kFull}};
  } else if (name == "_backward_np_cumsum") {
    shapes.forward = {kFull};
  } else if (absl::StartsWith(name, "_backward_") && call.attrs.count("axis") != 0) {
    for (size_t i = 0; i < shapes.inputs.size(); ++i) {
      if (op.InputNames(call)[i] != "data") shapes.inputs[i] = rows;
    }
    shapes.forward = {kFull};
  } else if (absl::StartsWith(name, "_backward_")) {
    shapes.forward = std::vector<PartialShape>(4, kFull);
  }
  return shapes;
}

class Runner {
 public:
  Runner(const OpCall& call, const Shapes& shapes, DType dtype) : call_(call) {
    const size_t num_inputs = shapes.inputs.size();
    std::vector<PartialShape> all = shapes.inputs;
    all.resize(num_inputs + call.op->OutputNames(call).size());
    std::vector<PartialShape> forward = shapes.forward;
    std::vector<PartialShape*> pointers, forward_pointers;
    for (PartialShape& shape : all) pointers.push_back(&shape);
    for (PartialShape& shape : forward) forward_pointers.push_back(&shape);
    const absl::Span<PartialShape* const> span(pointers);
    ShapeContext context(call, span.subspan(0, num_inputs), span.subspan(num_inputs),
                         forward_pointers);
    COOPER_EXPECT_OK(call.op->shape()(context));
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(all[i].IsFull()) << "shape " << i << " of " << call.op->name();
      if (!all[i].IsFull()) return;
      storage_.emplace_back(all[i].num_elements() + 1);
      views_.push_back({storage_.back().data(), all[i].ToShape(), dtype});
    }
    num_inputs_ = num_inputs;
    usable_ = true;
  }

  bool usable() const { return usable_; }

  // Returns the values of all outputs after a run over outputs filled with `before`. With
  // over_input >= 0, output 0 shares the memory of that input.
  std::vector<double> Run(WriteReq req, double before, int over_input = -1) {
    for (size_t i = 0; i < num_inputs_; ++i) {
      // Values are in (0, 1), where most functions are defined.
      for (int64_t k = 0; k < views_[i].size(); ++k) {
        Set(views_[i], k, 0.1 + 0.8 * static_cast<double>((k * 37 + i * 11) % 101) / 101);
      }
    }
    std::vector<ArrayView> outputs(views_.begin() + num_inputs_, views_.end());
    for (const ArrayView& output : outputs) {
      for (int64_t k = 0; k < output.size(); ++k) Set(output, k, before);
    }
    if (over_input >= 0) outputs[0].data = views_[over_input].data;
    const std::vector<WriteReq> reqs(outputs.size(), req);
    const absl::Span<const ArrayView> inputs(views_.data(), num_inputs_);
    const Kernel& kernel = **FindKernel(call_.op->name(), DeviceType::kCpu);
    std::vector<double> workspace;
    if (kernel.prepare != nullptr) {
      const PrepareContext prepare{
          .call = call_, .inputs = inputs, .outputs = outputs, .reqs = reqs};
      workspace.resize(kernel.prepare(prepare)->workspace_bytes / sizeof(double) + 1);
    }
    const KernelContext context{.call = call_,
                                .inputs = inputs,
                                .outputs = outputs,
                                .reqs = reqs,
                                .workspace = workspace.data()};
    COOPER_EXPECT_OK(kernel.run(context));
    std::vector<double> values;
    for (const ArrayView& output : outputs) {
      for (int64_t k = 0; k < output.size(); ++k) values.push_back(Get(output, k));
    }
    return values;
  }

  bool FitsInPlace(int input, int output) const {
    return views_[input].size() == views_[num_inputs_ + output].size();
  }

 private:
  static void Set(const ArrayView& view, int64_t i, double value) {
    StoreBlock(&value, 1, WriteReq::kWrite, ElementAt(view.data, view.dtype, i), view.dtype);
  }
  static double Get(const ArrayView& view, int64_t i) {
    double value;
    LoadBlock(ElementAt(view.data, view.dtype, i), view.dtype, 1, &value);
    return value;
  }

  const OpCall& call_;
  size_t num_inputs_ = 0;
  std::vector<std::vector<double>> storage_;
  std::vector<ArrayView> views_;
  bool usable_ = false;
};

AttrMap AttributesOf(const OpSchema& op) {
  std::string name = op.name();
  if (absl::StartsWith(name, "_backward_")) name = name.substr(10);
  const auto known = Attributes().find(name);
  if (known != Attributes().end()) return known->second;
  if (op.params() != nullptr) {
    for (const ParamField& field : op.params()->fields()) {
      if (field.name == "axis" && name != "broadcast_like") return {{"axis", "1"}};
      if (field.name == "axes") return {{"axes", "1"}};
    }
  }
  return {};
}

bool Near(double a, double b, DType dtype) {
  if (std::isnan(a) && std::isnan(b)) return true;
  if (std::isinf(b)) return a == b;
  const double epsilon = dtype == DType::kFloat16 ? 2e-3 : 1e-6;
  return std::abs(a - b) <= epsilon * (4 + std::abs(b));
}

TEST(WriteRequestsTest, AllOperatorsInTwoDTypes) {
  int tested = 0;
  for (const OpSchema* op : AllOps()) {
    if (op->family() == "control") continue;   // their conditions are bool
    if (op->name() == "_histogram") continue;  // counts are integers
    OpCall call{.op = op, .attrs = AttributesOf(*op)};
    if (op->params() != nullptr) {
      auto params = op->params()->Parse(call.attrs);
      ASSERT_THAT(params, IsOk()) << op->name();
      call.params = *params;
    }
    for (DType dtype : {DType::kFloat32, DType::kFloat16}) {
      SCOPED_TRACE(absl::StrCat(op->name(), " ", DTypeName(dtype)));
      Runner runner(call, ShapesOf(*op, call), dtype);
      ASSERT_TRUE(runner.usable());
      const std::vector<double> written = runner.Run(WriteReq::kWrite, 5);
      const std::vector<double> again = runner.Run(WriteReq::kWrite, -5);
      const std::vector<double> added = runner.Run(WriteReq::kAdd, 2);
      const std::vector<double> untouched = runner.Run(WriteReq::kNull, 9);
      for (size_t i = 0; i < written.size(); ++i) {
        ASSERT_TRUE(Near(again[i], written[i], dtype)) << "kWrite read the output, element " << i;
        ASSERT_TRUE(Near(added[i], written[i] + 2, dtype))
            << "kAdd, element " << i << ": " << added[i] << ", kWrite gives " << written[i];
        ASSERT_EQ(untouched[i], 9) << "kNull, element " << i;
      }
      for (const auto& [input, output] : op->in_place()) {
        if (output != 0 || !runner.FitsInPlace(input, output)) continue;
        const std::vector<double> in_place = runner.Run(WriteReq::kWrite, 5, input);
        for (size_t i = 0; i < written.size(); ++i) {
          ASSERT_TRUE(Near(in_place[i], written[i], dtype))
              << "over input " << input << ", element " << i << ": " << in_place[i] << ", else "
              << written[i];
        }
      }
      ++tested;
    }
  }
  EXPECT_GT(tested, 400);
}

}  // namespace
}  // namespace cooper
