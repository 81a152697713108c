// Selects elements at indices along one axis. MXNet: src/operator/tensor/indexing_op.h, and for
// pick src/operator/tensor/broadcast_reduce_op.h.

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/take_param.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum TakeArrays::Input;

// Type rule: an index may have any dtype; the output has data's dtype.
absl::Status IndexedType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kData)));
  return c.SetInput(kData, c.output(0));
}

template <const char* kBackward>
absl::StatusOr<std::vector<NodeEntry>> IndexedGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(kBackward, {head, c.input(kIndex)});
}

absl::Status NothingToTake(const char* input, const PartialShape& data, int axis) {
  return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " of input '", input, "' ",
                                                 data.ToString(), " has no element to take"));
}

// Shape rule: a (..., n, ...), indices (...): the axes of indices replace the indexed axis.
absl::Status TakeShape(ShapeContext& c) {
  const PartialShape a = c.input(kData), indices = c.input(kIndex);
  if (!a.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.param<TakeParam>().axis, a.rank()));
  if (!indices.rank_known()) return absl::OkStatus();
  if (a[axis] == 0 && indices.num_elements() != 0) return NothingToTake("a", a, axis);
  std::vector<int64_t> out(a.dims().begin(), a.dims().begin() + axis);
  out.insert(out.end(), indices.dims().begin(), indices.dims().end());
  out.insert(out.end(), a.dims().begin() + axis + 1, a.dims().end());
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, PartialShape(out), "a with the axes of indices for axis"));
  PartialShape known_a = PartialShape::OfRank(a.rank());
  PartialShape known_indices = PartialShape::OfRank(indices.rank());
  for (int i = 0; i < c.output(0).rank(); ++i) {
    if (i < axis) {
      known_a[i] = c.output(0)[i];
    } else if (i < axis + indices.rank()) {
      known_indices[i - axis] = c.output(0)[i];
    } else {
      known_a[i - indices.rank() + 1] = c.output(0)[i];
    }
  }
  COOPER_RETURN_IF_ERROR(c.SetInput(kData, known_a, "the output's other axes"));
  return c.SetInput(kIndex, known_indices, "the output's axes from axis on");
}

constexpr char kBackwardTake[] = "_backward_take";

COOPER_REGISTER_OP(take)
    .Describe("The parts of a at indices of one axis.")
    .Alias("_npi_take")
    .Param<TakeParam>()
    .Inputs({"a", "indices"})
    .Shape(TakeShape)
    .Type(IndexedType)
    .Gradient(IndexedGradient<kBackwardTake>);

COOPER_REGISTER_OP(_backward_take)
    .Describe("ograd added up at the indices.")
    .Param<TakeParam>()
    .Inputs({"ograd", "indices"})
    .Shape(GradientShape)
    .Type(GradientType);

// Shape rule: data (..., n, ...); in index and in output the indexed axis is missing or has extent
// 1, independently.
absl::Status PickShape(ShapeContext& c) {
  const auto& param = c.param<PickParam>();
  if (!param.axis.has_value()) {
    return absl::InvalidArgumentError("axis None is not supported, expected an integer");
  }
  const PartialShape data = c.input(kData);
  if (!data.rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(*param.axis, data.rank()));
  if (data[axis] == 0 && data.num_elements() == 0) {
    PartialShape others = data;
    others[axis] = 1;
    if (others.num_elements() != 0) return NothingToTake("data", data, axis);
  }
  std::vector<int64_t> kept(data.dims().begin(), data.dims().end()), reduced = kept;
  kept[axis] = 1;
  reduced.erase(reduced.begin() + axis);
  // MXNet has no scalars: a vector becomes (1,).
  if (reduced.empty()) reduced.push_back(1);
  COOPER_RETURN_IF_ERROR(
      c.SetOutput(0, PartialShape(param.keepdims ? kept : reduced), "data without axis"));
  // As in MXNet, an index of unknown shape lacks the axis.
  const bool index_keeps = c.input(kIndex).rank() == data.rank();
  return c.SetInput(kIndex, PartialShape(index_keeps ? kept : reduced), "data without axis");
}

constexpr char kBackwardPick[] = "_backward_pick";

COOPER_REGISTER_OP(pick)
    .Describe("One element of data along axis for each index.")
    .Alias("choose_element_0index")
    .Alias("_npx_pick")
    .Param<PickParam>()
    .Inputs({"data", "index"})
    .Shape(PickShape)
    .Type(IndexedType)
    .Gradient(IndexedGradient<kBackwardPick>);

COOPER_REGISTER_OP(_backward_pick)
    .Describe("Zeros with ograd at each index.")
    .Param<PickParam>()
    .Inputs({"ograd", "index"})
    .Shape(GradientShape)
    .Type(GradientType);

// Shape rule: a (..., n), with as many rows as there are indices.
absl::Status BatchTakeShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, c.input(kIndex), "the shape of indices"));
  COOPER_RETURN_IF_ERROR(c.SetInput(kIndex, c.output(0), "the output's shape"));
  const PartialShape a = c.input(kData);
  if (!a.rank_known()) return absl::OkStatus();
  if (a.rank() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("input 'a' ", a.ToString(), " needs at least two axes"));
  }
  if (a.IsFull() && a[a.rank() - 1] == 0) return NothingToTake("a", a, a.rank() - 1);
  const int64_t rows = PartialShape(a.dims().first(a.rank() - 1)).num_elements();
  const int64_t count = c.input(kIndex).num_elements();
  if (rows == kUnknownDim || count == kUnknownDim || rows == count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("input 'indices' ", c.input(kIndex).ToString(),
                                                 " must have ", rows, " elements, for input 'a' ",
                                                 a.ToString()));
}

COOPER_REGISTER_OP(batch_take)
    .Describe("One element of each row of a.")
    .Inputs({"a", "indices"})
    .Shape(BatchTakeShape)
    .Type([](TypeContext& c) -> absl::Status {
      COOPER_RETURN_IF_ERROR(IndexedType(c));
      return c.SetInput(kIndex, DType::kInt32);
    });

COOPER_OP_EXAMPLE(batch_take, {}, {{2, 3}, {2}});

}  // namespace
}  // namespace cooper
