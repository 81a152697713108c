// GPU kernels of linalg_inverse, det and slogdet, and of their gradients.

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/cublas_state.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/index_check.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/workspace_parts.h"
#include "executor/kernels/linalg/dense_solver.h"
#include "executor/kernels/linalg/squares.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cusolver.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// The LU factors of a batch, and room for inverses and for a number per matrix.
struct LuParts {
  void* lu;
  void* inverse;
  void* factors;
  FirstBad* first_bad;
  FactorScratch scratch;
  LuParts(const ArrayView& a, int64_t scratch_bytes, bool inverts, WorkspaceParts& parts)
      : lu(parts.Take<char>(a.size_bytes())),
        inverse(parts.Take<char>(inverts ? a.size_bytes() : 0)),
        factors(parts.Take<char>(Squares(a).count * SizeOf(a.dtype))),
        first_bad(parts.Take<FirstBad>(1)),
        scratch(Squares(a), scratch_bytes, /*lu=*/true, parts) {}
};

template <int kInput, bool kInverts>
absl::StatusOr<Prepared> PrepareLu(const PrepareContext& c) {
  const ArrayView& a = c.inputs[kInput];
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<FactorState> state,
                          MakeFactorState(c, a.dtype, Squares(a), &Cusolver::LuBytes));
  WorkspaceParts parts;
  LuParts(a, state->scratch_bytes, kInverts, parts);
  return Prepared{.state = std::move(state), .workspace_bytes = parts.bytes()};
}

// Computes out = or += matrices.
template <typename T>
__global__ void StoreMatrices(int64_t size, const T* matrices, T* out, bool add) {
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    StoreTo(out + i, matrices[i], add);
  }
}

template <typename T>
absl::Status Inverse(const KernelContext& c) {
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  const Squares s(a);
  WorkspaceParts parts(c.workspace);
  const LuParts p(a, FactorStateOf(c).scratch_bytes, /*inverts=*/true, parts);
  const T* const lu = static_cast<T*>(p.lu);
  T* const inverse = static_cast<T*>(p.inverse);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  COOPER_RETURN_IF_ERROR(CheckRegular(c, "_linalg_inverse", s, lu, p.scratch, p.first_bad));
  COOPER_RETURN_IF_ERROR(InvertLu(c, s, /*transpose=*/false, lu, inverse, p.scratch));
  return LaunchElements(c, s.size(), StoreMatrices<T>, s.size(), inverse, c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

absl::StatusOr<Prepared> PrepareInverseBackward(const PrepareContext& c) {
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  prepared.workspace_bytes = c.outputs[0].size_bytes();
  return prepared;
}

// Computes grad A = -B^T * grad B * B^T, where B is the output.
absl::Status InverseBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const ArrayView& out = c.outputs[0];
  const Squares s(out);
  const void* const b = c.inputs[kAOrOutput].data;
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(StreamOf(c), out.dtype, s.gemm(), true, false, s.n,
                                                 s.n, s.n, 1, b, s.n, c.inputs[kOgrad].data, s.n,
                                                 false, c.workspace, s.n));
  return CublasOf(c).GemmBatched(StreamOf(c), out.dtype, s.gemm(), false, true, s.n, s.n, s.n, -1,
                                 c.workspace, s.n, b, s.n, c.reqs[0] == WriteReq::kAdd, out.data,
                                 s.n);
}

// Computes determinants from LU factors with one warp per matrix: each lane multiplies a part of
// the diagonal.
template <typename T>
struct LuDiagonals {
  int64_t n;
  const T* lu;
  const int* pivots;
  const int* info;

  // Returns whether the matrix could be factored; otherwise its determinant is 0.
  __device__ bool IsRegular(int64_t matrix) const { return n == 0 || info[matrix] == 0; }

  // Calls fn with each pivot of this lane, negated if its row was exchanged.
  template <typename Fn>
  __device__ void ForEachPivot(int64_t matrix, int lane, Fn&& fn) const {
    for (int64_t i = lane; i < n; i += kWarp) {
      const T pivot = lu[matrix * n * n + i * (n + 1)];
      fn(pivots[matrix * n + i] == i + 1 ? pivot : -pivot);
    }
  }

  // All lanes of a warp call the following functions.
  __device__ T Determinant(int64_t matrix, int lane) const {
    T product = 1;
    ForEachPivot(matrix, lane, [&](T pivot) { product *= pivot; });
    product = ProductOfWarp(product);
    return IsRegular(matrix) ? product : T{0};
  }
  __device__ T Sign(int64_t matrix, int lane) const {
    int sign = 1;
    ForEachPivot(matrix, lane, [&](T pivot) { sign *= (pivot > 0) - (pivot < 0); });
    sign = ProductOfWarp(sign);
    return IsRegular(matrix) ? static_cast<T>(sign) : T{0};
  }
  __device__ bool HasZeroPivot(int64_t matrix, int lane) const {
    bool has = !IsRegular(matrix);
    ForEachPivot(matrix, lane, [&](T pivot) { has |= pivot == 0; });
    return __ballot_sync(0xffffffffu, has) != 0;
  }
  __device__ T LogMagnitude(int64_t matrix, int lane) const {
    T sum = 0;
    ForEachPivot(matrix, lane, [&](T pivot) { sum += log(abs(pivot)); });
    sum = SumOfWarp(sum);
    return IsRegular(matrix) ? sum : -static_cast<T>(INFINITY);
  }
};

template <typename T>
LuDiagonals<T> DiagonalsOf(const Squares& s, const LuParts& p) {
  return {s.n, static_cast<const T*>(p.lu), p.scratch.pivots, p.scratch.info};
}

template <typename T>
__global__ void StoreDeterminants(int64_t count, const LuDiagonals<T> diagonals, T* out, bool add) {
  ForEachWithWarp(count, [&](int64_t i, int lane) {
    const T determinant = diagonals.Determinant(i, lane);
    if (lane == 0) StoreTo(out + i, determinant, add);
  });
}

template <typename T>
__global__ void StoreSigns(int64_t count, const LuDiagonals<T> diagonals, T* out, bool add) {
  ForEachWithWarp(count, [&](int64_t i, int lane) {
    const T sign = diagonals.Sign(i, lane);
    if (lane == 0) StoreTo(out + i, sign, add);
  });
}

template <typename T>
__global__ void StoreLogMagnitudes(int64_t count, const LuDiagonals<T> diagonals, T* out,
                                   bool add) {
  ForEachWithWarp(count, [&](int64_t i, int lane) {
    const T log_magnitude = diagonals.LogMagnitude(i, lane);
    if (lane == 0) StoreTo(out + i, log_magnitude, add);
  });
}

// Launches one of the kernels above if its output is requested.
template <typename T>
absl::Status StoreNumbers(const KernelContext& c, const Squares& s, const LuParts& p,
                          void (*kernel)(int64_t, LuDiagonals<T>, T*, bool), int output) {
  if (c.reqs[output] == WriteReq::kNull) return absl::OkStatus();
  return LaunchWarps(c, s.count, kernel, s.count, DiagonalsOf<T>(s, p), c.outputs[output].as<T>(),
                     c.reqs[output] == WriteReq::kAdd);
}

template <typename T>
absl::Status Det(const KernelContext& c) {
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  WorkspaceParts parts(c.workspace);
  const LuParts p(a, FactorStateOf(c).scratch_bytes, /*inverts=*/false, parts);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  return StoreNumbers<T>(c, Squares(a), p, StoreDeterminants<T>, 0);
}

template <typename T>
absl::Status Slogdet(const KernelContext& c) {
  using enum LaSlogdetArrays::Output;
  const ArrayView& a = c.inputs[LaFactorArrays::kA];
  const Squares s(a);
  WorkspaceParts parts(c.workspace);
  const LuParts p(a, FactorStateOf(c).scratch_bytes, /*inverts=*/false, parts);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  COOPER_RETURN_IF_ERROR(StoreNumbers<T>(c, s, p, StoreSigns<T>, kSign));
  return StoreNumbers<T>(c, s, p, StoreLogMagnitudes<T>, kLogAbsDet);
}

// Computes factors = ograd times the determinant or, with kLog, ograd alone, which avoids a
// determinant that underflows to 0. The factor of a singular matrix is 0.
template <typename T, bool kLog>
__global__ void WriteGradientFactors(int64_t count, const LuDiagonals<T> diagonals, const T* ograd,
                                     T* factors) {
  ForEachWithWarp(count, [&](int64_t i, int lane) {
    T factor = 1;
    if (kLog) {
      if (diagonals.HasZeroPivot(i, lane)) factor = 0;
    } else {
      factor = diagonals.Determinant(i, lane);
    }
    if (lane == 0) factors[i] = factor == 0 ? T{0} : ograd[i] * factor;
  });
}

// Computes out = or += each matrix times its factor. A factor of 0 gives 0 even for infinities.
template <typename T>
__global__ void StoreScaledMatrices(int64_t size, int64_t matrix_size, const T* matrices,
                                    const T* factors, T* out, bool add) {
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    const T factor = factors[i / matrix_size];
    StoreTo(out + i, factor == 0 ? T{0} : matrices[i] * factor, add);
  }
}

// Computes grad A = A^-T times a factor per matrix.
template <typename T, bool kLog>
absl::Status DetBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const ArrayView& a = c.inputs[kAOrOutput];
  const Squares s(a);
  WorkspaceParts parts(c.workspace);
  const LuParts p(a, FactorStateOf(c).scratch_bytes, /*inverts=*/true, parts);
  T* const inverse = static_cast<T*>(p.inverse);
  T* const factors = static_cast<T*>(p.factors);
  COOPER_RETURN_IF_ERROR(FactorLu(c, a, static_cast<T*>(p.lu), p.scratch));
  COOPER_RETURN_IF_ERROR(
      InvertLu(c, s, /*transpose=*/true, static_cast<const T*>(p.lu), inverse, p.scratch));
  COOPER_RETURN_IF_ERROR(LaunchWarps(c, s.count, WriteGradientFactors<T, kLog>, s.count,
                                     DiagonalsOf<T>(s, p), c.inputs[kOgrad].as<T>(), factors));
  return LaunchElements(c, s.size(), StoreScaledMatrices<T>, s.size(), s.n * s.n, inverse, factors,
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

constexpr DeviceType kGpu = DeviceType::kGpu;
constexpr int kA = LaFactorArrays::kA;
constexpr int kGradientsA = LaFactorGradientArrays::kAOrOutput;

const KernelRegistrar kKernels[] = {
    {"_linalg_inverse", kGpu, kFloat32Or64, RunFloat32Or64<Inverse<float>, Inverse<double>>,
     PrepareLu<kA, /*kInverts=*/true>},
    {"_backward_linalg_inverse", kGpu, kFloat32Or64,
     RunFloat32Or64<InverseBackward, InverseBackward>, PrepareInverseBackward},
    {"_linalg_det", kGpu, kFloat32Or64, RunFloat32Or64<Det<float>, Det<double>>,
     PrepareLu<kA, /*kInverts=*/false>},
    {"_backward_linalg_det", kGpu, kFloat32Or64,
     RunFloat32Or64<DetBackward<float, false>, DetBackward<double, false>>,
     PrepareLu<kGradientsA, /*kInverts=*/true>},
    {"_linalg_slogdet", kGpu, kFloat32Or64, RunFloat32Or64<Slogdet<float>, Slogdet<double>>,
     PrepareLu<kA, /*kInverts=*/false>},
    {"_backward_linalg_slogdet", kGpu, kFloat32Or64,
     RunFloat32Or64<DetBackward<float, true>, DetBackward<double, true>>,
     PrepareLu<kGradientsA, /*kInverts=*/true>},
};

}  // namespace
}  // namespace cooper
