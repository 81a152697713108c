// Kernels of cumsum and its gradient.

#include <algorithm>
#include <cstdint>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/kernels/reduce/axis_view.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

// Adds each row of `inner` elements of a block to the next one, and `sums` to the first row; `sums`
// becomes the last row. With from_last, adds each row to the previous one instead.
template <typename C>
void SumRows(int64_t rows, int64_t inner, bool from_last, C* block, C* sums) {
  for (int64_t i = 0; i < rows; ++i) {
    C* const row = block + (from_last ? rows - 1 - i : i) * inner;
    for (int64_t j = 0; j < inner; ++j) row[j] = sums[j] = WrapAdd(sums[j], row[j]);
  }
}

// The lines that SumLines processes at a time: each sum waits for the one before it, so several
// lines take as long as one.
constexpr int64_t kLines = 4;

// Computes the running sums of n elements of each of kLines lines, which are kElementBlock / kLines
// apart in `block`, from `sums` on; `sums` becomes the last ones.
template <typename C>
void SumLines(int64_t n, bool from_last, C* block, C* sums) {
  constexpr int64_t kApart = kElementBlock / kLines;
  C s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  for (int64_t i = 0; i < n; ++i) {
    C* const at = block + (from_last ? n - 1 - i : i);
    at[0] = s0 = WrapAdd(s0, at[0]);
    at[kApart] = s1 = WrapAdd(s1, at[kApart]);
    at[2 * kApart] = s2 = WrapAdd(s2, at[2 * kApart]);
    at[3 * kApart] = s3 = WrapAdd(s3, at[3 * kApart]);
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

// Computes running sums along the last axis, in the same order as RunningSum.
template <typename C>
void RunningSumOfLines(const AxisView& view, const ArrayView& input, const ArrayView& output,
                       WriteReq req, bool from_last) {
  constexpr int64_t kWidth = kElementBlock / kLines;
  const int64_t groups = (view.outer + kLines - 1) / kLines;
  ParallelForPlain(groups, RowGrain(view.length * kLines), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * kLines, lines = std::min(kLines, view.outer - first);
      C block[kElementBlock] = {}, sums[kLines] = {};
      for (int64_t done = 0; done < view.length; done += kWidth) {
        const int64_t n = std::min(kWidth, view.length - done);
        const int64_t column = from_last ? view.length - done - n : done;
        const auto at = [&](int64_t line) { return (first + line) * view.length + column; };
        for (int64_t k = 0; k < lines; ++k) {
          LoadBlock(ElementAt(input.data, input.dtype, at(k)), input.dtype, n, block + k * kWidth);
        }
        SumLines(n, from_last, block, sums);
        for (int64_t k = 0; k < lines; ++k) {
          StoreBlock(block + k * kWidth, n, req, ElementAt(output.data, output.dtype, at(k)),
                     output.dtype);
        }
      }
    }
  });
}

// Computes running sums along the axis in the output's compute type, from the first element on or,
// for the gradient, from the last. The elements are viewed as (outer, length, inner). `inner` is
// split into parts of at most kElementBlock, and a block has as many contiguous whole rows of a
// part as fit.
template <typename C>
void RunningSum(const AxisView& view, const ArrayView& input, const ArrayView& output, WriteReq req,
                bool from_last) {
  if (view.length == 0 || view.lines() == 0) return;
  if (view.inner == 1) return RunningSumOfLines<C>(view, input, output, req, from_last);
  const int64_t width = std::min(view.inner, kElementBlock);
  const int64_t parts = (view.inner + width - 1) / width;
  const int64_t most_rows = parts == 1 ? kElementBlock / width : 1;
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % parts * width;
      const int64_t inner = std::min(width, view.inner - column);
      const int64_t base = i / parts * view.length * view.inner + column;
      C block[kElementBlock], sums[kElementBlock] = {};
      for (int64_t done = 0; done < view.length;) {
        const int64_t rows = std::min(most_rows, view.length - done);
        const int64_t row = from_last ? view.length - done - rows : done;
        const int64_t at = base + row * view.inner;
        LoadBlock(ElementAt(input.data, input.dtype, at), input.dtype, rows * inner, block);
        SumRows(rows, inner, from_last, block, sums);
        StoreBlock(block, rows * inner, req, ElementAt(output.data, output.dtype, at),
                   output.dtype);
        done += rows;
      }
    }
  };
  ParallelForPlain(view.outer * parts, RowGrain(view.length * width), run);
}

// Runs cumsum or its gradient. The axis is relative to `shape`, the shape of the forward input.
absl::Status RunCumsum(const KernelContext& c, const Shape& shape, bool from_last) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(shape, c.param<CumsumParam>().axis));
  DispatchComputeType(c.outputs[0].dtype, /*exact_integers=*/true, [&](auto zero) {
    RunningSum<decltype(zero)>(view, c.inputs[kData], c.outputs[0], c.reqs[0], from_last);
  });
  return absl::OkStatus();
}

absl::Status CumsumCpu(const KernelContext& c) {
  return RunCumsum(c, c.inputs[kData].shape, false);
}

absl::Status CumsumBackwardCpu(const KernelContext& c) {
  return RunCumsum(c, c.outputs[0].shape, true);
}

COOPER_REGISTER_KERNEL(_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumCpu);
COOPER_REGISTER_KERNEL(_backward_np_cumsum, DeviceType::kCpu, kAnyDType, CumsumBackwardCpu);

}  // namespace
}  // namespace cooper
