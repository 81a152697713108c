// Kernel of _contrib_bipartite_matching. Images are independent of each other.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/matching_extents.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/detection/bipartite_matching_param.h"

namespace cooper {
namespace {

using enum BipartiteMatchingArrays::Output;

// The workspace: the pairs of each image in order, and the matches of rows and columns.
struct Scratch {
  ScratchCursor cursor;
  int32_t *order, *row_match, *column_match;

  Scratch(void* base, const MatchingExtents& e)
      : cursor(base),
        order(cursor.Take<int32_t>(e.images * e.pairs())),
        row_match(cursor.Take<int32_t>(e.images * e.rows)),
        column_match(cursor.Take<int32_t>(e.images * e.columns)) {}
};

template <typename T>
void MatchImage(const BipartiteMatchingParam& param, const MatchingExtents& e, const T* scores,
                int32_t* order, int32_t* row_match, int32_t* column_match) {
  std::fill_n(row_match, e.rows, -1);
  std::fill_n(column_match, e.columns, -1);
  int64_t count = 0;
  for (int64_t i = 0; i < e.pairs(); ++i) {
    if (IsMatch(scores[i], static_cast<T>(param.threshold), param.is_ascend)) {
      order[count++] = static_cast<int32_t>(i);
    }
  }
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    if (scores[a] == scores[b]) return a < b;
    return param.is_ascend ? scores[a] < scores[b] : scores[a] > scores[b];
  });
  int64_t matches = 0;
  for (int64_t i = 0; i < count && matches < e.most; ++i) {
    const auto row = static_cast<int32_t>(order[i] / e.columns);
    const auto column = static_cast<int32_t>(order[i] % e.columns);
    if (row_match[row] >= 0 || column_match[column] >= 0) continue;
    row_match[row] = column;
    column_match[column] = row;
    ++matches;
  }
}

template <typename T>
void Write(const KernelContext& c, int output, int64_t begin, int64_t count, const int32_t* from) {
  if (c.reqs[output] == WriteReq::kNull) return;
  T* to = c.outputs[output].as<T>() + begin;
  const bool add = c.reqs[output] == WriteReq::kAdd;
  for (int64_t i = 0; i < count; ++i) Store(to + i, static_cast<T>(from[begin + i]), add);
}

template <typename T>
void Run(const KernelContext& c) {
  const auto& param = c.param<BipartiteMatchingParam>();
  const MatchingExtents e(param, c.inputs[0].shape);
  const Scratch scratch(c.workspace, e);
  ParallelForPlain(e.images, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      MatchImage(param, e, c.inputs[0].as<const T>() + n * e.pairs(), scratch.order + n * e.pairs(),
                 scratch.row_match + n * e.rows, scratch.column_match + n * e.columns);
      Write<T>(c, kRowMatch, n * e.rows, e.rows, scratch.row_match);
      Write<T>(c, kColumnMatch, n * e.columns, e.columns, scratch.column_match);
    }
  });
}

absl::Status BipartiteMatchingCpu(const KernelContext& c) {
  return DispatchFloat32Or64(c.inputs[0].dtype,
                             [&](auto type) { Run<typename decltype(type)::type>(c); });
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const MatchingExtents e(c.param<BipartiteMatchingParam>(), c.inputs[0].shape);
  COOPER_RETURN_IF_ERROR(e.Check());
  return Prepared{.workspace_bytes = Scratch(nullptr, e).cursor.bytes()};
}

COOPER_REGISTER_KERNEL(_contrib_bipartite_matching, DeviceType::kCpu, kFloat32Or64,
                       BipartiteMatchingCpu, Prepare);

}  // namespace
}  // namespace cooper
