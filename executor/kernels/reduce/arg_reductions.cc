// Kernels of argmax, argmin and argmax_channel.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/element_block.h"
#include "executor/kernels/loops/is_nan.h"
#include "executor/kernels/reduce/axis_view.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/reduce/reduce_param.h"
#include "symbol/ops/rules/one_input.h"

namespace cooper {
namespace {

using enum OneInputArrays::Input;

// The number of elements that are compared together.
constexpr int64_t kBlock = 256;

// Returns whether x is greater than `best`, which is not NaN, or x is NaN.
struct Greatest {
  template <typename C>
  static bool Better(C x, C best) {
    return !(x <= best);
  }
};

struct Least {
  template <typename C>
  static bool Better(C x, C best) {
    return !(x >= best);
  }
};

// Returns n elements from element `first` on, converted to C in `room` if their dtype differs.
template <typename C>
const C* Elements(const ArrayView& data, int64_t first, int64_t n, C* room) {
  if (data.dtype == DTypeOf<C>()) return data.as<C>() + first;
  LoadBlock(ElementAt(data.data, data.dtype, first), data.dtype, n, room);
  return room;
}

// Returns the position of the best of n contiguous elements, or of the first NaN. Most blocks have
// no element that is better than the best so far; a first pass without positions finds that out.
template <typename Order, typename C>
int64_t BestOfLine(const ArrayView& data, int64_t first, int64_t n) {
  C room[kBlock];
  C best = *Elements(data, first, 1, room);
  int64_t position = 0;
  for (int64_t begin = 0; begin < n && !IsNan(best); begin += kBlock) {
    const int64_t count = std::min(kBlock, n - begin);
    const C* x = Elements(data, first + begin, count, room);
    int better = 0;
    for (int64_t k = 0; k < count; ++k) better |= Order::Better(x[k], best) ? 1 : 0;
    if (better == 0) continue;
    for (int64_t k = 0; k < count && !IsNan(best); ++k) {
      if (!Order::Better(x[k], best)) continue;
      best = x[k];
      position = begin + k;
    }
  }
  return position;
}

// Finds the positions for `count` <= kBlock adjacent lines of n elements, `stride` apart.
template <typename Order, typename C>
void BestOfColumns(const ArrayView& data, int64_t first, int64_t n, int64_t stride, int64_t count,
                   int64_t* positions) {
  C room[kBlock], best[kBlock];
  std::copy_n(Elements(data, first, count, room), count, best);
  std::fill_n(positions, count, 0);
  // Contiguous rows are converted together.
  const int64_t together = count == stride ? kBlock / count : 1;
  for (int64_t begin = 1; begin < n; begin += together) {
    const int64_t rows = std::min(together, n - begin);
    const C* x = Elements(data, first + begin * stride, rows * count, room);
    for (int64_t k = begin; k < begin + rows; ++k, x += count) {
      for (int64_t j = 0; j < count; ++j) {
        const bool better = Order::Better(x[j], best[j]) && !IsNan(best[j]);
        best[j] = better ? x[j] : best[j];
        positions[j] = better ? k : positions[j];
      }
    }
  }
}

template <typename Order, typename C>
void Search(const AxisView& view, const ArrayView& data, const ArrayView& output, WriteReq req) {
  // Searches `count` adjacent lines from `line` on.
  const auto search = [&](int64_t line, int64_t count) {
    int64_t positions[kBlock];
    if (view.inner == 1) {
      for (int64_t i = 0; i < count; ++i) {
        positions[i] = BestOfLine<Order, C>(data, view.First(line + i), view.length);
      }
    } else {
      BestOfColumns<Order, C>(data, view.First(line), view.length, view.inner, count, positions);
    }
    StoreBlock(positions, count, req, ElementAt(output.data, output.dtype, line), output.dtype);
  };
  ParallelFor(view.lines(), RowGrain(view.length), [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end;) {
      const int64_t rest = view.inner == 1 ? end - line : view.inner - line % view.inner;
      const int64_t count = std::min({kBlock, end - line, rest});
      search(line, count);
      line += count;
    }
  });
}

template <typename Order>
absl::Status RunSearch(const KernelContext& c, std::optional<int64_t> axis) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const ArrayView& data = c.inputs[kData];
  COOPER_ASSIGN_OR_RETURN(const AxisView view, AxisView::Along(data.shape, axis));
  COOPER_RETURN_IF_ERROR(view.CheckSearchable());
  DispatchComputeType(data.dtype, /*exact_integers=*/true, [&](auto zero) {
    Search<Order, decltype(zero)>(view, data, c.outputs[0], c.reqs[0]);
  });
  return absl::OkStatus();
}

template <typename Order>
absl::Status SearchCpu(const KernelContext& c) {
  return RunSearch<Order>(c, c.param<ArgReduceParam>().axis);
}

absl::Status ArgmaxChannelCpu(const KernelContext& c) {
  return RunSearch<Greatest>(c, ChannelAxis(c.inputs[kData].shape));
}

COOPER_REGISTER_KERNEL(argmax, DeviceType::kCpu, kAnyDType, SearchCpu<Greatest>);
COOPER_REGISTER_KERNEL(argmin, DeviceType::kCpu, kAnyDType, SearchCpu<Least>);
COOPER_REGISTER_KERNEL(argmax_channel, DeviceType::kCpu, kAnyDType, ArgmaxChannelCpu);

}  // namespace
}  // namespace cooper
