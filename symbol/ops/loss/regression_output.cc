// Outputs with the gradient of a regression loss. MXNet: src/operator/regression_output.cc.

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/loss/loss_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum LossArrays::Input;

// Shape rule: label has data's shape, or any other with as many elements and the same batch size;
// an unknown label becomes (batch_size,) for data (batch_size, 1).
absl::Status RegressionShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, c.output(0)));
  const PartialShape& data = c.input(kData);
  if (!data.IsFull()) return absl::OkStatus();
  if (data.rank() == 0) return c.SetInput(kLabel, data, "data's shape");
  const PartialShape& label = c.input(kLabel);
  if (!label.rank_known()) {
    if (data.rank() == 2 && data[1] == 1) return c.SetInput(kLabel, {data[0]});
    return c.SetInput(kLabel, data);
  }
  if (!label.IsFull()) return c.SetInput(kLabel, data, "data's shape");
  if (label.rank() == 0 || label[0] != data[0] || label.num_elements() != data.num_elements()) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'label' has shape ", label.ToString(), ", expected ", data.ToString(),
                     " or one with as many elements and the same first axis"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NodeEntry>> RegressionGradient(GradientContext& c) {
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()),
                    {c.input(kLabel), c.output(0)});
}

OpBuilder Forward(const char* name, const char* doc) {
  return OpBuilder(name)
      .Describe(doc)
      .Param<RegressionOutputParam>()
      .Inputs({"data", "label"})
      .Shape(RegressionShape)
      .Type(SameType)
      .Gradient(RegressionGradient)
      .InPlace({{0, 0}})
      .IgnoreHeadGradient();
}

OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradient with respect to data, divided by the outputs of a sample.")
      .Param<RegressionOutputParam>()
      .Inputs({"label", "output"})
      .Outputs({"data"})
      .Shape(GradientShape)
      .Type(GradientType)
      .InPlace({{1, 0}});
}

const OpRegistrar kRegistrars[] = {
    Forward("LinearRegressionOutput", "data; the gradient is output - label.")
        .Alias("_sparse_LinearRegressionOutput"),
    Backward("_backward_LinearRegressionOutput"),
    Forward("LogisticRegressionOutput", "sigmoid(data); the gradient is output - label.")
        .Alias("_sparse_LogisticRegressionOutput"),
    Backward("_backward_LogisticRegressionOutput"),
    Forward("MAERegressionOutput", "data; the gradient is 1 where output > label, else -1.")
        .Alias("_sparse_MAERegressionOutput"),
    Backward("_backward_MAERegressionOutput"),
};

}  // namespace
}  // namespace cooper
