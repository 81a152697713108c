// Kernels of L2Normalization and its gradient.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/reducers/lane_sum.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/norm_param.h"

namespace cooper {
namespace {

// The extents of data viewed as (outer, n, inner). A norm is computed over n, for each set; norms
// are stored as (outer, inner).
struct Extents {
  int64_t outer, n, inner;
};

// The number of adjacent sets that are processed together.
constexpr int64_t kBlock = 128;

// Calls fn(set, first element, count) for blocks of adjacent sets, whose elements are `inner`
// apart. A block has one set if inner is 1.
template <typename Fn>
void ForEachBlock(const Extents& e, const Fn& fn) {
  ParallelFor(e.outer * e.inner, RowGrain(e.n), [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end;) {
      const int64_t within = set % e.inner;
      const int64_t count = std::min({kBlock, e.inner - within, end - set});
      fn(set, set / e.inner * e.n * e.inner + within, count);
      set += count;
    }
  });
}

// Computes sums[i], the sum over j of term(j * inner + i), for i below `count`.
template <typename C, typename Term>
void SumBlock(const Extents& e, int64_t count, const Term& term, C* sums) {
  if (e.inner == 1) {
    sums[0] = LaneSum<C>(e.n, term);
    return;
  }
  std::fill_n(sums, count, C{});
  for (int64_t j = 0; j < e.n; ++j) {
    for (int64_t i = 0; i < count; ++i) sums[i] += term(j * e.inner + i);
  }
}

// Writes or adds value(j * inner + i, i) to out[j * inner + i], for i below `count`.
template <typename T, typename Value>
void StoreBlock(const Extents& e, int64_t count, T* out, bool add, const Value& value) {
  if (e.inner == 1) {
    for (int64_t j = 0; j < e.n; ++j) Store(out + j, value(j, 0), add);
    return;
  }
  for (int64_t j = 0; j < e.n; ++j) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t k = j * e.inner + i;
      Store(out + k, value(k, i), add);
    }
  }
}

Extents ExtentsOf(const L2NormalizationParam& param, const Shape& shape) {
  const int rank = shape.rank();
  switch (param.mode) {
    case L2NormalizationParam::kInstance:
      return {shape[0], shape.Product(1, rank), 1};
    case L2NormalizationParam::kChannel:
      return {shape[0], shape[1], shape.Product(2, rank)};
    case L2NormalizationParam::kSpatial:
      return {shape[0] * shape[1], shape.Product(2, rank), 1};
  }
  return {shape[0], shape.Product(1, rank), 1};
}

template <typename T>
void L2Forward(const KernelContext& c) {
  using enum L2NormalizationArrays::Input;
  using enum L2NormalizationArrays::Output;
  using C = ComputeType<T>;
  const auto& param = c.param<L2NormalizationParam>();
  const Extents e = ExtentsOf(param, c.inputs[kData].shape);
  const C eps = static_cast<C>(param.eps);
  const T* const data = c.inputs[kData].as<T>();
  T* const out = c.outputs[0].as<T>();
  T* const norms = c.outputs[kNorm].as<T>();
  const WriteReq req = c.reqs[0], norm_req = c.reqs[kNorm];
  ForEachBlock(e, [=](int64_t set, int64_t first, int64_t count) {
    const T* const x = data + first;
    C norm[kBlock];
    SumBlock(
        e, count, [=](int64_t k) { return Load(x[k]) * Load(x[k]); }, norm);
    for (int64_t i = 0; i < count; ++i) norm[i] = std::sqrt(norm[i] + eps);
    if (norm_req != WriteReq::kNull) {
      for (int64_t i = 0; i < count; ++i) {
        Store(norms + set + i, norm[i], norm_req == WriteReq::kAdd);
      }
    }
    if (req == WriteReq::kNull) return;
    StoreBlock(e, count, out + first, req == WriteReq::kAdd,
               [x, &norm](int64_t k, int64_t i) { return Load(x[k]) / norm[i]; });
  });
}

// Computes (g - y * sum(g * y)) / norm.
template <typename T>
void L2Backward(const KernelContext& c) {
  using enum L2NormalizationGradientArrays::Input;
  using C = ComputeType<T>;
  const Extents e = ExtentsOf(c.param<L2NormalizationParam>(), c.outputs[0].shape);
  const T* const ograds = c.inputs[kOgrad].as<T>();
  const T* const outputs = c.inputs[kOutput].as<T>();
  const T* const norms = c.inputs[kNorm].as<T>();
  T* const grad = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ForEachBlock(e, [=](int64_t set, int64_t first, int64_t count) {
    const T* const ograd = ograds + first;
    const T* const output = outputs + first;
    C dot[kBlock], norm[kBlock];
    SumBlock(
        e, count, [=](int64_t k) { return Load(ograd[k]) * Load(output[k]); }, dot);
    for (int64_t i = 0; i < count; ++i) norm[i] = Load(norms[set + i]);
    StoreBlock(e, count, grad + first, add, [=, &dot, &norm](int64_t k, int64_t i) {
      return (Load(ograd[k]) - Load(output[k]) * dot[i]) / norm[i];
    });
  });
}

absl::Status L2Cpu(const KernelContext& c) {
  using enum L2NormalizationArrays::Input;
  return DispatchFloat(c.inputs[kData].dtype,
                       [&](auto type) { L2Forward<typename decltype(type)::type>(c); });
}
absl::Status L2BackwardCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype,
                       [&](auto type) { L2Backward<typename decltype(type)::type>(c); });
}
COOPER_REGISTER_KERNEL(L2Normalization, DeviceType::kCpu, kFloats, L2Cpu);
COOPER_REGISTER_KERNEL(_backward_L2Normalization, DeviceType::kCpu, kFloats, L2BackwardCpu);

}  // namespace
}  // namespace cooper
