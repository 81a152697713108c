// Batch layouts of losses, and which of them divide gradients by the batch size.

#include <cstdint>
#include <vector>

#include "ndarray/base/shape.h"
#include "symbol/ops/loss/fc_softmax_output_param.h"
#include "symbol/ops/loss/loss_param.h"
#include "symbol/ops/loss/normalization.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

constexpr int kMixed = BatchCall::kMixed;

// Returns `shape` without `axis`.
Shape Without(const Shape& shape, int axis) {
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + axis);
  return Shape(dims);
}

// Returns the layout that the label has, in terms of data's axes. A label of data's shape holds
// probabilities. Other labels are one number for each position of data, in the order of the
// positions, whatever their shape.
BatchLayout SoftmaxLabel(const BatchCall& c, const SoftmaxOutputParam& param) {
  using enum SoftmaxOutputArrays::Input;
  const Shape& data = c.input(kData);
  if (c.input(kLabel) == data) return c.layouts[kLabel];
  if (param.multi_output) {
    BatchLayout label = c.View(kLabel, Without(data, 1));
    if (label.axis > 0) ++label.axis;
    return label;
  }
  if (param.preserve_shape) return c.View(kLabel, Without(data, data.rank() - 1));
  if (c.input(kLabel).num_elements() == data[0]) return c.View(kLabel, Shape({data[0]}));
  return c.layouts[kLabel];
}

COOPER_BATCH_RULE(SoftmaxOutput, [](const BatchCall& c) {
  using enum SoftmaxOutputArrays::Input;
  const auto& param = c.param<SoftmaxOutputParam>();
  const BatchLayout& data = c.layouts[kData];
  if (!data.has_samples()) return BatchLayout();
  const int classes = param.multi_output ? 1 : c.rank(kData) - 1;
  const bool by_rows = !param.multi_output && !param.preserve_shape;
  if (data.axis == classes || (by_rows && data.axis > 0)) return BatchLayout();
  if (c.layouts[kLabel].kind == BatchLayout::Kind::kNone) return data;
  return SoftmaxLabel(c, param) == data ? data : BatchLayout();
});

// The output has data's layout; the labels are as many numbers, in the same order.
const BatchRuleRegistrar kRegressions({"LinearRegressionOutput", "LogisticRegressionOutput",
                                       "MAERegressionOutput"},
                                      [](const BatchCall& c) {
                                        using enum LossArrays::Input;
                                        const BatchLayout& data = c.layouts[kData];
                                        if (!data.has_samples()) return BatchLayout();
                                        if (c.layouts[kLabel].kind == BatchLayout::Kind::kNone)
                                          return data;
                                        return c.View(kLabel, c.input(kData)) == data
                                                   ? data
                                                   : BatchLayout();
                                      });

COOPER_BATCH_RULE(SVMOutput, [](const BatchCall& c) {
  const int classes = c.rank(LossArrays::kData) - 1;
  return c.Map([&](int, int axis) { return axis == classes ? kMixed : axis; });
});

// data (length, batch, classes), other inputs (batch, ...).
COOPER_BATCH_RULE(CTCLoss, [](const BatchCall& c) {
  if (c.output != 0) return BatchLayout();
  return c.Map([](int input, int axis) {
    const int batch = input == 0 ? 1 : 0;
    return axis == batch ? 0 : kMixed;
  });
});

// The output is the sum over the rows of data.
COOPER_BATCH_RULE(softmax_cross_entropy, [](const BatchCall& c) {
  const BatchLayout rows = c.FirstAxis();
  return rows.has_samples() ? BatchLayout::Of(BatchLayout::Kind::kSum) : rows;
});

// Inputs: data, weight, bias (unless no_bias), label.
COOPER_BATCH_RULE(_fc_softmax_label_probability, [](const BatchCall& c) {
  const int label = static_cast<int>(c.inputs.size()) - 1;
  return c.Map([&](int input, int axis) {
    return axis == 0 && (input == 0 || input == label) ? 0 : kMixed;
  });
});

// Normalization "valid" divides by the valid labels of each context, not by its batch size.
const LossRuleRegistrar kSoftmaxDivides({"SoftmaxOutput"}, [](const BatchCall& c) {
  const auto& param = c.param<SoftmaxOutputParam>();
  if (param.normalization == Normalization::kValid) return false;
  // With multi_output the gradient is also divided by the number of positions.
  if (param.multi_output && c.layouts[0].axis > 1) return true;
  return param.normalization == Normalization::kBatch;
});
const LossRuleRegistrar kFcSoftmaxDivides({"_fc_softmax_label_probability"},
                                          [](const BatchCall& c) {
                                            return c.param<FcSoftmaxOutputParam>().normalization ==
                                                   Normalization::kBatch;
                                          });
// The gradient is divided by the number of labels behind the first axis.
const LossRuleRegistrar kRegressionsDivide({"LinearRegressionOutput", "LogisticRegressionOutput",
                                            "MAERegressionOutput"},
                                           [](const BatchCall& c) {
                                             const BatchLayout& label =
                                                 c.layouts[LossArrays::kLabel];
                                             return label.has_samples() && label.axis > 0;
                                           });

}  // namespace
}  // namespace cooper
