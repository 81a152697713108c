// GPU kernel of _contrib_bipartite_matching. All images are sorted at once; then one thread per
// image matches its pairs in order.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/detection/matching_extents.h"
#include "executor/kernels/index/radix_sort.h"
#include "executor/kernels/index/sort_key.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "executor/program/scratch_cursor.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/detection/bipartite_matching_param.h"

namespace cooper {
namespace {

using enum BipartiteMatchingArrays::Output;

// Writes sort keys that rank by score, the best first.
template <typename T>
__global__ void MakeScoreKeys(int64_t count, const T* scores, bool is_ascend, uint64_t* keys,
                              int32_t* values) {
  constexpr uint64_t kBits = sizeof(T) == sizeof(double) ? ~uint64_t{0} : 0xffffffff;
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const uint64_t key = SortKeyOf(scores[i]);
    keys[i] = (is_ascend ? key : ~key) & kBits;
    values[i] = static_cast<int32_t>(i);
  }
}

// Writes sort keys that group by image, with pairs that cannot match last.
template <typename T>
__global__ void MakeImageKeys(int64_t count, MatchingExtents e, const T* scores, T threshold,
                              bool is_ascend, uint64_t* keys, const int32_t* values) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    const int64_t pair = values[i];
    const bool last = !IsMatch(scores[pair], threshold, is_ascend);
    keys[i] = static_cast<uint64_t>(pair / e.pairs() * 2 + (last ? 1 : 0));
  }
}

__global__ void Fill(int64_t count, int32_t* matches) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) matches[i] = -1;
}

// Matches the pairs of each image until the first that cannot match.
__global__ void Match(int64_t images, MatchingExtents e, const uint64_t* keys,
                      const int32_t* values, int32_t* row_match, int32_t* column_match) {
  for (int64_t n = FirstElement(); n < images; n += ElementStep()) {
    int64_t matches = 0;
    for (int64_t i = n * e.pairs(); i < (n + 1) * e.pairs() && matches < e.most; ++i) {
      if (keys[i] % 2 == 1) break;
      const int64_t pair = values[i] % e.pairs();
      int32_t& row = row_match[n * e.rows + pair / e.columns];
      int32_t& column = column_match[n * e.columns + pair % e.columns];
      if (row >= 0 || column >= 0) continue;
      row = static_cast<int32_t>(pair % e.columns);
      column = static_cast<int32_t>(pair / e.columns);
      ++matches;
    }
  }
}

template <typename T>
__global__ void Write(int64_t count, const int32_t* from, T* to, bool add) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreTo(to + i, static_cast<T>(from[i]), add);
  }
}

// The workspace: the matches of rows and columns, and memory for sorting.
struct Scratch {
  ScratchCursor cursor;
  int32_t *row_match, *column_match;
  int64_t sort_offset;

  Scratch(void* base, const MatchingExtents& e)
      : cursor(base),
        row_match(cursor.Take<int32_t>(e.images * e.rows)),
        column_match(cursor.Take<int32_t>(e.images * e.columns)),
        sort_offset((cursor.bytes() + 255) / 256 * 256) {}
};

template <typename T>
absl::Status SortAndMatch(const KernelContext& c, const MatchingExtents& e,
                          const Scratch& scratch) {
  const auto& param = c.param<BipartiteMatchingParam>();
  const int64_t count = e.images * e.pairs();
  if (count == 0) return absl::OkStatus();
  const T* scores = c.inputs[0].as<const T>();
  PairSort sort(c, count, scratch.sort_offset);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, count, MakeScoreKeys<T>, count, scores, param.is_ascend,
                                        sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(8 * static_cast<int>(sizeof(T))));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, count, MakeImageKeys<T>, count, e, scores,
                                        static_cast<T>(param.threshold), param.is_ascend,
                                        sort.keys(), sort.values()));
  COOPER_RETURN_IF_ERROR(sort.Sort(BitsOf(2 * e.images)));
  return LaunchElements(c, e.images, Match, e.images, e, sort.keys(), sort.values(),
                        scratch.row_match, scratch.column_match);
}

template <typename T>
absl::Status Run(const KernelContext& c) {
  const MatchingExtents e(c.param<BipartiteMatchingParam>(), c.inputs[0].shape);
  const Scratch scratch(c.workspace, e);
  int32_t* const matches[] = {scratch.row_match, scratch.column_match};
  for (const int output : {kRowMatch, kColumnMatch}) {
    const int64_t size = c.outputs[output].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, size, Fill, size, matches[output]));
  }
  COOPER_RETURN_IF_ERROR(SortAndMatch<T>(c, e, scratch));
  for (const int output : {kRowMatch, kColumnMatch}) {
    if (c.reqs[output] == WriteReq::kNull) continue;
    const int64_t size = c.outputs[output].size();
    COOPER_RETURN_IF_ERROR(LaunchElements(c, size, Write<T>, size, matches[output],
                                          c.outputs[output].as<T>(),
                                          c.reqs[output] == WriteReq::kAdd));
  }
  return absl::OkStatus();
}

absl::Status BipartiteMatchingGpu(const KernelContext& c) {
  return c.inputs[0].dtype == DType::kFloat64 ? Run<double>(c) : Run<float>(c);
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const MatchingExtents e(c.param<BipartiteMatchingParam>(), c.inputs[0].shape);
  COOPER_RETURN_IF_ERROR(e.Check());
  COOPER_ASSIGN_OR_RETURN(const int64_t sort,
                          PairSort::WorkspaceBytes(c.context, e.images * e.pairs()));
  return Prepared{.workspace_bytes = Scratch(nullptr, e).sort_offset + sort};
}

COOPER_REGISTER_KERNEL(_contrib_bipartite_matching, DeviceType::kGpu, kFloat32Or64,
                       BipartiteMatchingGpu, Prepare);

}  // namespace
}  // namespace cooper
