// Sorts elements and finds the greatest ones. MXNet: src/operator/tensor/ordering_op-inl.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/ordering_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Axis = std::optional<int>;

// Returns the shape of `data` with k elements along axis; `k` < 1 means all. Without an axis data
// is flattened.
absl::StatusOr<PartialShape> LeadingShape(const PartialShape& data, const Axis& axis, int64_t k) {
  PartialShape out = axis.has_value() ? data : PartialShape{data.num_elements()};
  int at = 0;
  if (axis.has_value()) {
    COOPER_ASSIGN_OR_RETURN(at, NormalizeAxis(*axis, data.rank()));
  }
  if (k < 1) return out;
  if (out.dim_known(at) && k > out[at]) {
    return absl::InvalidArgumentError(absl::StrCat("k ", k, " exceeds the ", out[at],
                                                   " elements of input 'data' ", data.ToString(),
                                                   " to choose from"));
  }
  out[at] = k;
  return out;
}

// Gives all outputs the shape of the k leading elements of data.
absl::Status OrderedShape(ShapeContext& c, const Axis& axis, int64_t k) {
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(PartialShape out, LeadingShape(c.input(0), axis, k));
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, out, "data with k elements along axis"));
  }
  return absl::OkStatus();
}

absl::Status TopKShape(ShapeContext& c) {
  const auto& param = c.param<TopKParam>();
  if (param.ret_typ != TopKParam::kMask) return OrderedShape(c, param.axis, param.k);
  COOPER_RETURN_IF_ERROR(SameShape(c));
  if (!c.input(0).rank_known()) return absl::OkStatus();
  return LeadingShape(c.input(0), param.axis, param.k).status();
}

// Type rule: values have data's dtype.
absl::Status ValueType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(0)));
  return c.SetInput(0, c.output(0));
}

absl::Status TopKType(TypeContext& c) {
  const auto& param = c.param<TopKParam>();
  switch (param.ret_typ) {
    case TopKParam::kIndices:
      return c.SetOutput(0, param.dtype);
    case TopKParam::kMask:
      return ValueType(c);
    case TopKParam::kValue:  // its indices are for the gradient alone
      COOPER_RETURN_IF_ERROR(c.SetOutput(1, DType::kInt32));
      return ValueType(c);
    case TopKParam::kBoth:
      COOPER_RETURN_IF_ERROR(c.SetOutput(1, param.dtype));
      return ValueType(c);
  }
  return absl::OkStatus();
}

bool HasValues(const OpCall& call) {
  const auto ret_typ = call.param<TopKParam>().ret_typ;
  return ret_typ == TopKParam::kValue || ret_typ == TopKParam::kBoth;
}

// Gradient rule: the gradient of the values is scattered to data at the indices, output 1.
template <const char* kBackward>
absl::StatusOr<std::vector<NodeEntry>> ValueGradient(GradientContext& c) {
  if (c.num_outputs() < 2 || !c.has_head(0)) return std::vector<NodeEntry>(1);
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head, c.output(1)});
}

constexpr char kBackwardTopK[] = "_backward_topk";

// Returns whether `dtype` represents every integer up to n | 1 exactly. Tests n | 1 alone: the
// integers that a float rounds first are odd.
bool HasIntegersUpTo(DType dtype, int64_t n) {
  return DispatchDType(dtype, [n](auto tag) {
    using T = typename decltype(tag)::type;
    return ConvertElement<int64_t>(ConvertElement<T>(n | 1)) == (n | 1);
  });
}

// Shape rule: the gradient is scattered at the indices, so the indices must be exact.
absl::Status TopKGradientShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(GradientShape(c));
  const auto& param = c.param<TopKParam>();
  const PartialShape& data = c.output(0);
  if (param.ret_typ != TopKParam::kBoth || !data.IsFull()) return absl::OkStatus();
  int64_t count = data.num_elements();
  if (param.axis.has_value()) {
    COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(*param.axis, data.rank()));
    count = data[axis];
  }
  if (count == 0 || HasIntegersUpTo(param.dtype, count - 1)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("dtype of the indices is ", DTypeName(param.dtype),
                   ", expected one that has all integers below ", count, ", the elements of ",
                   "input 'data' ", data.ToString(), " to choose from: the gradient goes to them"));
}

COOPER_REGISTER_OP(topk)
    .Describe("The k largest or smallest elements along axis, in order.")
    .Alias("_npx_topk")
    .Param<TopKParam>()
    .Inputs({"data"})
    .Outputs([](const OpCall& call) {
      return HasValues(call) ? OpSchema::Names{"output0", "output1"} : OpSchema::Names{"output"};
    })
    .VisibleOutputs([](const OpCall& call) {
      return call.param<TopKParam>().ret_typ == TopKParam::kBoth ? 2 : 1;
    })
    .Shape(TopKShape)
    .Type(TopKType)
    .Gradient(ValueGradient<kBackwardTopK>);

COOPER_REGISTER_OP(_backward_topk)
    .Describe("Zeros with ograd where the values came from.")
    .Param<TopKParam>()
    .Inputs({"ograd", "indices"})
    .Shape(TopKGradientShape)
    .Type(GradientType);

constexpr char kBackwardSort[] = "_backward_sort";

COOPER_REGISTER_OP(sort)
    .Describe("data in order along axis.")
    .Alias("_npi_sort")
    .Param<SortParam>()
    .Inputs({"data"})
    .Outputs({"output0", "output1"})
    .VisibleOutputs([](const OpCall&) { return 1; })
    .Shape([](ShapeContext& c) { return OrderedShape(c, c.param<SortParam>().axis, 0); })
    .Type([](TypeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(c.SetOutput(1, DType::kInt32));
      return ValueType(c);
    })
    .Gradient(ValueGradient<kBackwardSort>);

COOPER_REGISTER_OP(_backward_sort)
    .Describe("ograd where the values came from.")
    .Param<SortParam>()
    .Inputs({"ograd", "indices"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(argsort)
    .Describe("The indices that would sort data along axis.")
    .Alias("_npi_argsort")
    .Param<ArgsortParam>()
    .Inputs({"data"})
    .Shape([](ShapeContext& c) { return OrderedShape(c, c.param<ArgsortParam>().axis, 0); })
    .Type([](TypeContext& c) { return c.SetOutput(0, c.param<ArgsortParam>().dtype); });

}  // namespace
}  // namespace cooper
