// Kernels of topk, sort, argsort and the gradients of the first two. Equal elements keep their
// order, so that the results for different k agree.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/index/indexed_axis.h"
#include "executor/kernels/index/key_order.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/index/ordering_param.h"

namespace cooper {
namespace {

using enum OrderArrays::Input;

// The largest number of threads that sort rows; each needs scratch of twice the indices of a row.
constexpr int64_t kMaxParts = 16;

// Calls fn(row, offset of its first element, indices) for all rows, where `indices` are the first k
// of the row's sorted order.
template <typename T, typename Fn>
void ForOrders(const KernelContext& c, const IndexedExtents& e, int64_t k, bool ascend,
               const Fn& fn) {
  const int64_t parts = std::min(e.rows(), kMaxParts);
  ParallelForPlain(parts, RowGrain(e.n, 4096), [&](int64_t begin, int64_t end) {
    int64_t* order = static_cast<int64_t*>(c.workspace) + begin * 2 * e.n;
    for (int64_t row = e.rows() * begin / parts; row < e.rows() * end / parts; ++row) {
      const int64_t first = row / e.inner * e.n * e.inner + row % e.inner;
      const T* in = c.inputs[kData].as<T>() + first;
      if constexpr (kHasOrderKey<T>) {
        if (e.n <= std::numeric_limits<uint32_t>::max()) {
          OrderByKeys(in, e.inner, e.n, k, ascend, order);
          fn(row, in, order);
          continue;
        }
      }
      for (int64_t i = 0; i < e.n; ++i) order[i] = i;
      auto before = [&](int64_t i, int64_t j) {
        const T a = in[i * e.inner], b = in[j * e.inner];
        if (ascend ? Less(a, b) : Less(b, a)) return true;
        if (ascend ? Less(b, a) : Less(a, b)) return false;
        return i < j;
      };
      if (k == e.n) {
        std::sort(order, order + e.n, before);
      } else {
        std::partial_sort(order, order + k, order + e.n, before);
      }
      fn(row, in, order);
    }
  });
}

template <typename T>
void Put(T* out, T value, WriteReq req) {
  using C = ComputeType<T>;
  if (req == WriteReq::kWrite) *out = value;
  if (req == WriteReq::kAdd) {
    *out = ConvertElement<T>(WrapAdd(static_cast<C>(*out), static_cast<C>(value)));
  }
}

// Writes values and indices to the outputs with these numbers; -1 for none.
void WriteOrder(const KernelContext& c, const IndexedExtents& e, int64_t k, bool ascend, int values,
                int indices) {
  auto wanted = [&](int i) { return i >= 0 && c.reqs[i] != WriteReq::kNull; };
  if ((!wanted(values) && !wanted(indices)) || e.rows() == 0) return;
  DispatchDType(c.inputs[kData].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForOrders<T>(c, e, k, ascend, [&](int64_t row, const T* in, const int64_t* order) {
      const int64_t first = row / e.inner * k * e.inner + row % e.inner;
      if (wanted(values)) {
        T* out = c.outputs[values].as<T>() + first;
        for (int64_t i = 0; i < k; ++i) {
          Put(out + i * e.inner, in[order[i] * e.inner], c.reqs[values]);
        }
      }
      if (wanted(indices)) {
        DispatchDType(c.outputs[indices].dtype, [&](auto index_tag) {
          using I = typename decltype(index_tag)::type;
          I* out = c.outputs[indices].as<I>() + first;
          for (int64_t i = 0; i < k; ++i) {
            Put(out + i * e.inner, ConvertElement<I>(order[i]), c.reqs[indices]);
          }
        });
      }
    });
  });
}

void WriteMask(const KernelContext& c, const IndexedExtents& e, int64_t k, bool ascend) {
  if (c.reqs[0] == WriteReq::kNull) return;
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  DispatchDType(c.inputs[kData].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForOrders<T>(c, e, k, ascend, [&](int64_t, const T* in, const int64_t* order) {
      T* out = c.outputs[0].as<T>() + (in - c.inputs[kData].as<T>());
      for (int64_t i = 0; i < k; ++i) {
        Put(out + order[i] * e.inner, ConvertElement<T>(1), c.reqs[0]);
      }
    });
  });
}

template <typename Param>
absl::StatusOr<Prepared> PrepareOrder(const PrepareContext& c) {
  const IndexedExtents e(c.inputs[kData].shape, c.param<Param>().axis);
  return Prepared{.workspace_bytes =
                      std::min(e.rows(), kMaxParts) * 2 * e.n * int64_t{sizeof(int64_t)}};
}

absl::Status TopKCpu(const KernelContext& c) {
  const auto& param = c.param<TopKParam>();
  const IndexedExtents e(c.inputs[kData].shape, param.axis);
  const int64_t k = param.k < 1 ? e.n : param.k;
  switch (param.ret_typ) {
    case TopKParam::kMask:
      WriteMask(c, e, k, param.is_ascend);
      break;
    case TopKParam::kIndices:
      WriteOrder(c, e, k, param.is_ascend, -1, 0);
      break;
    case TopKParam::kValue:
    case TopKParam::kBoth:
      WriteOrder(c, e, k, param.is_ascend, 0, 1);
      break;
  }
  return absl::OkStatus();
}

absl::Status SortCpu(const KernelContext& c) {
  const auto& param = c.param<SortParam>();
  const IndexedExtents e(c.inputs[kData].shape, param.axis);
  WriteOrder(c, e, e.n, param.is_ascend, 0, 1);
  return absl::OkStatus();
}

absl::Status ArgsortCpu(const KernelContext& c) {
  const auto& param = c.param<ArgsortParam>();
  const IndexedExtents e(c.inputs[kData].shape, param.axis);
  WriteOrder(c, e, e.n, param.is_ascend, -1, 0);
  return absl::OkStatus();
}

template <typename Param>
absl::Status OrderBackwardCpu(const KernelContext& c) {
  using enum OrderGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  const IndexedExtents e(c.outputs[0].shape, c.param<Param>().axis);
  if (e.rows() == 0) return absl::OkStatus();
  const int64_t k = c.inputs[kOgrad].size() / e.rows();
  const IndexReader indices(c.inputs[kIndices]);
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = c.inputs[kOgrad].as<T>();
    T* out = c.outputs[0].as<T>();
    for (int64_t i = 0; i < c.inputs[kOgrad].size(); ++i) {
      const int64_t outer = i / (k * e.inner), at = indices[i];
      // Hidden indices are int32 and may have overflowed.
      if (at < 0 || at >= e.n) continue;
      Put(out + (outer * e.n + at) * e.inner + i % e.inner, in[i], WriteReq::kAdd);
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(topk, DeviceType::kCpu, kAnyDType, TopKCpu, PrepareOrder<TopKParam>);
COOPER_REGISTER_KERNEL(_backward_topk, DeviceType::kCpu, kAnyDType, OrderBackwardCpu<TopKParam>);
COOPER_REGISTER_KERNEL(sort, DeviceType::kCpu, kAnyDType, SortCpu, PrepareOrder<SortParam>);
COOPER_REGISTER_KERNEL(_backward_sort, DeviceType::kCpu, kAnyDType, OrderBackwardCpu<SortParam>);
COOPER_REGISTER_KERNEL(argsort, DeviceType::kCpu, kAnyDType, ArgsortCpu,
                       PrepareOrder<ArgsortParam>);

}  // namespace
}  // namespace cooper
