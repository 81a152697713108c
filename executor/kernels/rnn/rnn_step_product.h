#ifndef COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_PRODUCT_H_
#define COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_PRODUCT_H_

// Computes the product of a recurrent step, which has few rows, inside the kernel of the cell
// (rnn_step.h, rnn_gradient_step.h). Steps depend on each other, so the latency of one step
// matters, not how much of the GPU it occupies. For .cu files.
//
// A block computes a tile of 8 rows by 8 units of the state, with all their gates. A warp computes
// four columns (the gates of one unit, or four units of one gate) for all rows of the tile. Its
// lanes share the depth: neighbouring lanes read neighbouring vectors, whole cache lines. Nothing
// is staged in shared memory. Each lane issues all loads of two vectors, which are independent,
// before it computes: most steps wait for memory once or twice.
//
// The order of the sums depends on the shape and on alignment alone.

#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/rnn/rnn_dims.h"
#include "executor/program/kernel.h"

namespace cooper {

// The extents of a tile in rows and units.
inline constexpr int kTileRows = 8, kTileUnits = 8;
// The warps of a block and the lanes of a warp.
inline constexpr int kTileWarps = 8, kWarpLanes = 32;

// The product out (rows, gates, units) = a b^T, with a (rows, depth) and contiguous b (gates *
// units, depth). Steps for which FusesSteps holds have extents and offsets that fit an int. Device
// memory, not owned.
template <typename T>
struct StepProduct {
  // The state or gradients of the batch, and the weight.
  const T *a, *b;
  int a_row;  // elements from one row of `a` to the next
  // The rows of the batch, the features of the state, and the number of products in each sum.
  int rows, units, depth;
};

// Returns whether the kernel of a cell computes the step's product itself, instead of cuBLAS.
//
// For the products of a layer of 64 or 200 units and a batch of 32, a launch of cuBLAS takes 6 to
// 11 us on an H200, and the cell 3.3 us: mostly latency, of which one kernel has less. cuBLAS is
// used for large products, because its blocks reuse each factor more often: tiles here read each
// weight once for 8 rows. By an estimate for that GPU, a product of 2^26 multiplications (a batch
// of 32, 650 units, lstm: 2^25.7) takes 4 us here, bound by loads from L1 and L2 (18 us in cuBLAS),
// and twice that at the limit. Rows are rounded up to whole tiles.
inline bool FusesSteps(const RNNDims& dims) {
  constexpr int64_t kMaxRows = 64, kMaxProducts = int64_t{1} << 27;
  const int64_t rows = (dims.batch + kTileRows - 1) / kTileRows * kTileRows;
  if (dims.batch == 0 || dims.batch > kMaxRows) return false;
  return dims.hidden * dims.hidden <= kMaxProducts / (rows * dims.recurrent);
}

// The (row, unit) whose sums a thread receives. Each of the block's first 64 threads has one.
struct TileElement {
  // `rows` and `units` are those of the StepProduct.
  __device__ TileElement(int rows, int units)
      : row(static_cast<int>(blockIdx.y * kTileRows + threadIdx.x / kTileUnits)),
        unit(static_cast<int>(blockIdx.x * kTileUnits + threadIdx.x % kTileUnits)),
        exists(threadIdx.x < kTileRows * kTileUnits && row < rows && unit < units) {}
  // The indices in the whole product.
  int row, unit;
  // Whether the thread receives sums at all.
  bool exists;
};

// kVector elements that one instruction loads. The alignment lets the compiler load all of them at
// once: 16 bytes for four floats.
template <typename T, int kVector>
struct alignas(sizeof(T) * kVector) AlignedVector {
  T at[kVector];
};

// Stores in v[0] the sum over the warp's lanes of their v[lane], where `lane` is the caller's.
// Lanes exchange half of the sums, then a quarter, and so on: 31 exchanges for 32 sums. All lanes
// of the warp must call it. The other elements of v are overwritten.
template <int kWidth = kWarpLanes / 2, typename T>
__device__ void SumOfLane(T (&v)[kWarpLanes], int lane) {
  const bool upper = (lane & kWidth) != 0;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    const T kept = upper ? v[i + kWidth] : v[i];
    const T given = upper ? v[i] : v[i + kWidth];
    v[i] = kept + __shfl_xor_sync(0xffffffffu, given, kWidth);
  }
  if constexpr (kWidth > 1) SumOfLane<kWidth / 2>(v, lane);
}

// Sets sums[gate] to the product's element (row, gate, unit) of the thread's TileElement, if that
// exists. All threads of a block of LaunchTiles must call it once. Loads kVector elements at once:
// depth and a_row are multiples of kVector, and both factors are aligned to it. Calls meanwhile()
// once, after the first loads have been issued, for other loads that would otherwise delay those of
// the product.
template <int kGates, int kVector, typename T, typename Fn>
__device__ void TileProduct(const StepProduct<T>& p, T (&sums)[kGates], Fn&& meanwhile) {
  using P = AlignedVector<T, kVector>;
  constexpr int kUnits = kGates == 1 ? 4 : 1;  // units of a warp
  constexpr int kColumns = kUnits * kGates;
  constexpr int kSplits = kTileWarps * kUnits / kTileUnits;  // warps that share a unit's depth
  constexpr int kUnroll = kVector == 1 && sizeof(T) == 4 ? 4 : 2;
  constexpr int kStride = kSplits * kWarpLanes;
  const int lane = static_cast<int>(threadIdx.x) % kWarpLanes;
  const int warp = static_cast<int>(threadIdx.x) / kWarpLanes;

  // Threads beyond the last row or unit recompute the last one; the result is not used.
  const P *a[kTileRows], *b[kColumns];
#pragma unroll
  for (int r = 0; r < kTileRows; ++r) {
    const int row = static_cast<int>(blockIdx.y) * kTileRows + r;
    a[r] = reinterpret_cast<const P*>(p.a + (row < p.rows ? row : p.rows - 1) * p.a_row);
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int unit =
        static_cast<int>(blockIdx.x) * kTileUnits + warp / kSplits * kUnits + c / kGates;
    const int column = c % kGates * p.units + (unit < p.units ? unit : p.units - 1);
    b[c] = reinterpret_cast<const P*>(p.b + column * p.depth);
  }

  T sum[kWarpLanes] = {};  // (kTileRows, kColumns); the rest is unused with three gates
  const int vectors = p.depth / kVector;
  int at = warp % kSplits * kWarpLanes + lane;
  P x[kUnroll][kTileRows], y[kUnroll][kColumns];
  const auto load = [&] {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (at + u * kStride >= vectors) continue;
#pragma unroll
      for (int c = 0; c < kColumns; ++c) y[u][c] = b[c][at + u * kStride];
#pragma unroll
      for (int r = 0; r < kTileRows; ++r) x[u][r] = a[r][at + u * kStride];
    }
  };
  const auto multiply = [&] {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      if (at + u * kStride >= vectors) continue;
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
#pragma unroll
        for (int r = 0; r < kTileRows; ++r) {
#pragma unroll
          for (int c = 0; c < kColumns; ++c) {
            sum[r * kColumns + c] += x[u][r].at[i] * y[u][c].at[i];
          }
        }
      }
    }
  };
  load();
  meanwhile();
  multiply();
  for (at += kUnroll * kStride; at < vectors; at += kUnroll * kStride) {
    load();
    multiply();
  }

  __shared__ T partial[kTileWarps][kWarpLanes + 1];
  SumOfLane(sum, lane);
  partial[warp][lane] = sum[0];
  __syncthreads();
  if (threadIdx.x >= kTileRows * kTileUnits) return;
  const int row = static_cast<int>(threadIdx.x) / kTileUnits;
  const int unit = static_cast<int>(threadIdx.x) % kTileUnits;
  for (int gate = 0; gate < kGates; ++gate) {
    sums[gate] = T{0};
    for (int split = 0; split < kSplits; ++split) {
      sums[gate] +=
          partial[unit / kUnits * kSplits + split][row * kColumns + unit % kUnits * kGates + gate];
    }
  }
}

// Returns fn(kVector), a status, with kVector as an std::integral_constant: four floats (16 bytes)
// if alignment allows it, else one element. Doubles are always loaded one at a time.
template <typename T, typename Fn>
absl::Status DispatchVector(const StepProduct<T>& p, Fn&& fn) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kBytes = sizeof(float);
    if (WordBytes(kBytes, {p.a, p.b}, {p.a_row * kBytes, p.depth * kBytes}) == kMaxWordBytes) {
      return fn(std::integral_constant<int, 4>());
    }
  }
  return fn(std::integral_constant<int, 1>());
}

// Launches a kernel with a block for each tile of the product, which must not be empty. `arguments`
// are all arguments of the kernel. Errors: those of Launch.
template <typename T, typename... P, typename... A>
absl::Status LaunchTiles(const KernelContext& c, const StepProduct<T>& p, void (*kernel)(P...),
                         A&&... arguments) {
  const dim3 grid((p.units + kTileUnits - 1) / kTileUnits, (p.rows + kTileRows - 1) / kTileRows);
  return Launch(c, grid, dim3(kTileWarps * kWarpLanes), kernel, std::forward<A>(arguments)...);
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RNN_RNN_STEP_PRODUCT_H_
