// Operators that select elements by their positions.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/index/one_hot_param.h"
#include "symbol/ops/index/ordering_param.h"
#include "symbol/ops/index/take_param.h"
#include "symbol/ops/nn/embedding_param.h"

namespace cooper {
namespace {

// Returns input `i` as int64. Both conversions drop fractions.
std::string Positions(NodeExport& c, int i) { return c.Cast(c.input(i), c.type(i), DType::kInt64); }

// Returns positions within [0, extent) by the mode.
absl::StatusOr<std::string> InRange(NodeExport& c, const std::string& positions,
                                    const Extent& extent, IndexMode mode) {
  if (mode == IndexMode::kRaise) return positions;
  COOPER_ASSIGN_OR_RETURN(const std::string count, c.ShapeValue({extent}));
  if (mode == IndexMode::kWrap) return c.Emit("Mod", {positions, count});
  if (extent.is_number()) {
    return c.Emit("Clip",
                  {positions, c.graph().Scalar(0, DType::kInt64),
                   c.graph().Scalar(static_cast<double>(extent.number() - 1), DType::kInt64)});
  }
  const std::string last = c.Emit("Sub", {count, c.Ints({1})});
  return c.Emit("Max", {c.Emit("Min", {positions, last}), c.Ints({0})});
}

absl::Status ExportEmbedding(NodeExport& c) {
  using enum EmbeddingArrays::Input;
  COOPER_ASSIGN_OR_RETURN(const std::string rows,
                          InRange(c, Positions(c, kData), c.shape(kWeight)[0], IndexMode::kClip));
  c.Return(c.Emit("Gather", {c.input(kWeight), rows}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(Embedding, "Cast, Clip, Gather", ExportEmbedding);

absl::Status ExportTake(NodeExport& c) {
  using enum TakeArrays::Input;
  const auto& param = c.param<TakeParam>();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis, c.rank(kData)));
  COOPER_ASSIGN_OR_RETURN(const std::string positions,
                          InRange(c, Positions(c, kIndex), c.shape(kData)[axis], param.mode));
  c.Return(c.Emit("Gather", {c.input(kData), positions}, {{"axis", int64_t{axis}}}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(take, "Cast, Clip or Mod, Gather", ExportTake);

absl::Status ExportPick(NodeExport& c) {
  using enum TakeArrays::Input;
  const auto& param = c.param<PickParam>();
  COOPER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(param.axis.value_or(-1), c.rank(kData)));
  COOPER_ASSIGN_OR_RETURN(std::string positions,
                          InRange(c, Positions(c, kIndex), c.shape(kData)[axis], param.mode));
  if (c.rank(kIndex) < c.rank(kData)) positions = c.Unsqueeze(positions, {axis});
  std::string out =
      c.Emit("GatherElements", {c.input(kData), positions}, {{"axis", int64_t{axis}}});
  if (!param.keepdims && c.rank(kData) > 1) out = c.Squeeze(out, {axis});
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(pick, "Cast, Clip or Mod, GatherElements", ExportPick);

absl::Status ExportBatchTake(NodeExport& c) {
  using enum TakeArrays::Input;
  const Extent& classes = c.shape(kData).back();
  if (!classes.is_number()) return c.Refuse("the last extent of its input must be a number");
  const std::string rows = c.Emit("Reshape", {c.input(kData), c.Ints({-1, classes.number()})});
  const std::string column = c.Emit("Reshape", {Positions(c, kIndex), c.Ints({-1, 1})});
  COOPER_ASSIGN_OR_RETURN(const std::string positions,
                          InRange(c, column, classes, IndexMode::kClip));
  const std::string out = c.Emit("GatherElements", {rows, positions}, {{"axis", int64_t{1}}});
  COOPER_ASSIGN_OR_RETURN(std::string picked, c.Reshape(out, {}, c.out_shape()));
  c.Return(std::move(picked));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(batch_take, "Clip, GatherElements", ExportBatchTake);

absl::Status ExportGatherNd(NodeExport& c) {
  // The coordinates are on the first axis of indices, in ONNX on the last.
  std::vector<int64_t> axes;
  for (int i = 1; i < c.rank(1); ++i) axes.push_back(i);
  axes.push_back(0);
  c.Return(c.Emit("GatherND", {c.input(0), c.Transpose(Positions(c, 1), axes)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(gather_nd, "Cast, Transpose, GatherND", ExportGatherNd);

// ONNX's OneHot takes a negative index from the end, cooper takes none.
absl::Status ExportOneHot(NodeExport& c) {
  const auto& param = c.param<OneHotParam>();
  COOPER_ASSIGN_OR_RETURN(const std::string classes, c.Range(Extent{.offset = param.depth}));
  const std::string positions = c.Unsqueeze(Positions(c, OneHotArrays::kIndices), {-1});
  const std::string hit = c.Emit("Equal", {positions, classes});
  c.Return(c.Emit("Where", {hit, c.Scalar(param.on_value), c.Scalar(param.off_value)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(one_hot, "Cast, Equal, Where", ExportOneHot);

// Returns the first `count` elements (0: all) of the ordered axis and their positions.
absl::StatusOr<std::vector<std::string>> Order(NodeExport& c, std::optional<int> axis,
                                               int64_t count, bool is_ascend) {
  std::string data = c.input(OrderArrays::kData);
  int along = 0;
  if (axis.has_value()) {
    COOPER_ASSIGN_OR_RETURN(along, NormalizeAxis(*axis, c.rank(OrderArrays::kData)));
  } else {
    data = c.Emit("Reshape", {data, c.Ints({-1})});
  }
  std::string k = c.Ints({count});
  if (count < 1) {
    COOPER_ASSIGN_OR_RETURN(k, c.ShapeValue({c.out_shape()[along]}));
  }
  return c.EmitMany("TopK", {data, k}, 2,
                    {{"axis", int64_t{along}}, {"largest", int64_t{is_ascend ? 0 : 1}}});
}

absl::Status ExportTopK(NodeExport& c) {
  const auto& param = c.param<TopKParam>();
  if (param.ret_typ == TopKParam::kMask) return c.Refuse("ret_typ is mask");
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> ordered,
                          Order(c, param.axis, param.k, param.is_ascend));
  if (param.ret_typ == TopKParam::kIndices) {
    c.Return(c.Cast(ordered[1], DType::kInt64, c.out_type()));
    return absl::OkStatus();
  }
  c.Return(ordered[0]);
  if (param.ret_typ == TopKParam::kBoth) {
    c.Return(1, c.Cast(ordered[1], DType::kInt64, c.out_type(1)));
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(topk, "TopK; ret_typ mask is refused", ExportTopK);

absl::Status ExportSort(NodeExport& c) {
  const auto& param = c.param<SortParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> ordered,
                          Order(c, param.axis, 0, param.is_ascend));
  c.Return(ordered[0]);
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(sort, "TopK", ExportSort);

absl::Status ExportArgsort(NodeExport& c) {
  const auto& param = c.param<ArgsortParam>();
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> ordered,
                          Order(c, param.axis, 0, param.is_ascend));
  c.Return(c.Cast(ordered[1], DType::kInt64, c.out_type()));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(argsort, "TopK, Cast", ExportArgsort);

}  // namespace
}  // namespace cooper
