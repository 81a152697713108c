// Norms and checks of several arrays. MXNet: src/operator/contrib/multi_sum_sq.cc, multi_lars.cc,
// all_finite.cc and reset_arrays.cc.

#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/multi_param.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename P>
OpSchema::Names ArrayNames(const OpCall& call) {
  OpSchema::Names names;
  for (int i = 0; i < call.param<P>().num_arrays; ++i) names.push_back(absl::StrCat("array_", i));
  return names;
}

template <typename P>
std::vector<int> AllArrays(const OpCall& call) {
  std::vector<int> all(call.param<P>().num_arrays);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

absl::Status OneElement(ShapeContext& c) { return c.SetOutput(0, Shape({1})); }

absl::Status OnePerArray(ShapeContext& c) {
  return c.SetOutput(0, Shape({c.num_inputs()}), "(num_arrays,)");
}

absl::Status Float32Output(TypeContext& c) {
  TypeContext::Type type;
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (c.input(i).has_value()) type = c.input(i);
  }
  for (int i = 0; i < c.num_inputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, type));
  return c.SetOutput(0, DType::kFloat32);
}

absl::Status NoRule(ShapeContext&) { return absl::OkStatus(); }

COOPER_REGISTER_OP(multi_sum_sq)
    .Describe("The sum of the squares of each array.")
    .Param<NumArraysParam>()
    .Inputs(ArrayNames<NumArraysParam>)
    .Shape(OnePerArray)
    .Type(Float32Output);

COOPER_REGISTER_OP(multi_lars)
    .Describe(
        "Rates for weights and gradients with those sums of squares: lr * eta * |weight| / "
        "(rescale_grad * |grad| + wd * |weight| + eps), or lr where a norm is 0.")
    .Param<MultiLarsParam>()
    .Inputs({"lrs", "weights_sum_sq", "grads_sum_sq", "wds"})
    .Shape(SameShape)
    .Type(SameType)
    .InPlace({{MultiLarsArrays::kLrs, 0},
              {MultiLarsArrays::kWeightSums, 0},
              {MultiLarsArrays::kGradSums, 0},
              {MultiLarsArrays::kWds, 0}});

COOPER_REGISTER_OP(all_finite)
    .Describe("1 if no element is infinite or NaN, else 0.")
    .Param<AllFiniteParam>()
    .Inputs({"data"})
    .Shape(OneElement)
    .Type(Float32Output);

COOPER_REGISTER_OP(multi_all_finite)
    .Describe("1 if no element of any array is infinite or NaN, else 0.")
    .Param<MultiAllFiniteParam>()
    .Inputs(ArrayNames<MultiAllFiniteParam>)
    .Shape(OneElement)
    .Type(Float32Output);

COOPER_REGISTER_OP(reset_arrays)
    .Describe("Makes all elements of the arrays 0.")
    .Param<NumArraysParam>()
    .Inputs(ArrayNames<NumArraysParam>)
    .AuxInputs(AllArrays<NumArraysParam>)
    .Outputs(OpSchema::Names())
    .Shape(NoRule)
    .Type(SameType);

COOPER_OP_EXAMPLE(multi_all_finite, {{"num_arrays", "2"}}, {{2, 3}, {4}});

}  // namespace
}  // namespace cooper
