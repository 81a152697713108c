// NumPy's random arrays. MXNet: src/operator/numpy/random/np_uniform_op.cc, np_normal_op.cc.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/numpy/random_param.h"
#include "symbol/ops/rules/broadcast_shape.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

template <typename Names>
OpSchema::Names InputNames(const OpCall& call) {
  OpSchema::Names names;
  const int count = call.param<NumpyRandomParam<Names>>().num_inputs();
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("input", i + 1));
  return names;
}

// Shape rule: the output has the shape `size`, to which the inputs are broadcast, or with kPrepend
// `size` before their shape.
template <typename Names, bool kPrepend>
absl::Status RandomShape(ShapeContext& c) {
  const auto& param = c.param<NumpyRandomParam<Names>>();
  if (param.num_inputs() == 0) {
    COOPER_RETURN_IF_ERROR(Names::Distribution::Of(*param.first, *param.second).Check());
  }
  PartialShape shape = PartialShape(Shape());
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.input(i).rank_known()) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(shape, BroadcastTogether(shape, "input1", c.input(i), "input2"));
  }
  if (!param.size.has_value()) return c.SetOutput(0, shape, "the inputs broadcast together");
  std::vector<int64_t> extents = *param.size;
  if (kPrepend) {
    extents.insert(extents.end(), shape.dims().begin(), shape.dims().end());
    return c.SetOutput(0, PartialShape(extents), "size, then the inputs' shape");
  }
  COOPER_ASSIGN_OR_RETURN(const PartialShape fits,
                          BroadcastTogether(PartialShape(extents), "size", shape, "input1"));
  if (fits != PartialShape(extents)) {
    return absl::InvalidArgumentError(absl::StrCat("the inputs' shape ", shape.ToString(),
                                                   " cannot be broadcast to size ",
                                                   PartialShape(extents).ToString()));
  }
  return c.SetOutput(0, fits, "size");
}

template <typename Names>
absl::Status RandomType(TypeContext& c) {
  const DType dtype = c.param<NumpyRandomParam<Names>>().dtype;
  if (!IsFloating(dtype)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", DTypeName(dtype), ", expected a floating one"));
  }
  return c.SetOutput(0, dtype);
}

template <typename Names, bool kPrepend>
OpBuilder RandomOp(const char* name, const char* doc) {
  OpBuilder builder(name);
  std::move(builder)
      .Describe(doc)
      .Param<NumpyRandomParam<Names>>()
      .Inputs(InputNames<Names>)
      .Shape(RandomShape<Names, kPrepend>)
      .Type(RandomType<Names>)
      .Random();
  return builder;
}

const OpRegistrar kUniform = RandomOp<UniformNames, false>(
    "_npi_uniform", "Random numbers of shape size, uniform in [low, high).");
const OpRegistrar kUniformN = RandomOp<UniformNames, true>(
    "_npi_uniform_n",
    "Random numbers, uniform in [low, high), size for each element of the inputs.");
const OpRegistrar kNormal =
    RandomOp<NormalNames, false>("_npi_normal", "Normal random numbers of shape size.");
const OpRegistrar kNormalN = RandomOp<NormalNames, true>(
    "_npi_normal_n", "Normal random numbers, size for each element of the inputs.");

COOPER_OP_EXAMPLE(_npi_uniform, {{"low", "0"}, {"high", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_uniform_n, {{"low", "None"}, {"high", "1"}, {"size", "(2,)"}}, {{3}});
COOPER_OP_EXAMPLE(_npi_normal, {{"loc", "0"}, {"scale", "1"}, {"size", "(2, 3)"}}, {});
COOPER_OP_EXAMPLE(_npi_normal_n, {{"loc", "None"}, {"scale", "1"}, {"size", "(2,)"}}, {{3}});

}  // namespace
}  // namespace cooper
