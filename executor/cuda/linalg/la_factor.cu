// GPU kernels of linalg_potrf, potri and sumlogdiag, and of their gradients.

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/cuda/block_limit.h"
#include "executor/cuda/elements.h"
#include "executor/cuda/index/index_check.h"
#include "executor/cuda/launch.h"
#include "executor/cuda/linalg/cublas_state.h"
#include "executor/cuda/linalg/triangle_lines.h"
#include "executor/kernel.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/status_macros.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

constexpr int kThreads = 256;  // of a block, which has one matrix
constexpr int64_t kMaxBlocks = 65536;

template <typename... P, typename... A>
absl::Status LaunchMatrices(const KernelContext& c, int64_t batch, void (*kernel)(P...),
                            A&&... arguments) {
  if (batch == 0) return absl::OkStatus();
  return Launch(c, dim3(BlocksFor(batch, kMaxBlocks)), dim3(kThreads), kernel,
                std::forward<A>(arguments)...);
}

// The lower triangle of a lower triangular L with L * L^T = A in `l`, column by column; the number
// of a matrix that has none is reported.
template <typename T>
__global__ void Cholesky(int64_t batch, int64_t n, const T* a, T* l, FirstBad* first_bad) {
  const int t = static_cast<int>(threadIdx.x);
  for (int64_t matrix = blockIdx.x; matrix < batch; matrix += gridDim.x) {
    const T* from = a + matrix * n * n;
    T* to = l + matrix * n * n;
    for (int64_t column = 0; column < n; ++column) {
      // Rows from the diagonal on, before they are divided by the root of the pivot.
      for (int64_t row = column + t; row < n; row += kThreads) {
        T value = from[row * n + column];
        for (int64_t k = 0; k < column; ++k) value -= to[row * n + k] * to[column * n + k];
        to[row * n + column] = value;
      }
      __syncthreads();
      const T pivot = to[column * n + column];
      if (!(pivot > 0) && t == 0) ReportBad(first_bad, matrix);
      __syncthreads();  // until all have read it
      for (int64_t row = column + t; row < n; row += kThreads) {
        to[row * n + column] = row == column ? sqrt(pivot) : to[row * n + column] / sqrt(pivot);
      }
      __syncthreads();
    }
  }
}

// out = scale times the lower triangles of `matrices`, or added to it; with `upper_zero` zeros
// above, else the mirrored triangle.
template <typename T>
__global__ void StoreLower(int64_t count, int64_t n, T scale, const T* matrices, bool upper_zero,
                           T* out, bool add) {
  for (int64_t item = FirstElement(); item < count; item += ElementStep()) {
    const int64_t i = item / n % n, j = item % n, first = item - i * n - j;
    T value = 0;
    if (j <= i) value = matrices[item];
    if (j > i && !upper_zero) value = matrices[first + j * n + i];
    StoreTo(out + item, scale * value, add);
  }
}

// out = head + head^T.
template <typename T>
__global__ void AddTransposed(int64_t count, int64_t n, const T* head, T* out) {
  for (int64_t item = FirstElement(); item < count; item += ElementStep()) {
    const int64_t i = item / n % n, j = item % n, first = item - i * n - j;
    out[item] = head[item] + head[first + j * n + i];
  }
}

template <typename T>
__global__ void WriteIdentities(int64_t count, int64_t n, T* out) {
  for (int64_t item = FirstElement(); item < count; item += ElementStep()) {
    out[item] = item / n % n == item % n ? T{1} : T{0};
  }
}

// Square matrices of a kernel, in `type`, of which the workspace holds some batches.
struct Squares {
  int64_t batch, n, count;

  explicit Squares(const ArrayView& array)
      : batch(MatrixBatch(array)), n(MatrixRows(array)), count(array.size()) {}
  GemmBatch gemm() const { return {batch, n * n, n * n, n * n}; }
  // Lower triangular ones.
  TriangleLines lines(bool transpose, bool rightside) const {
    return {.lower = true,
            .transpose = transpose,
            .rightside = rightside,
            .batch = batch,
            .rows = n,
            .columns = n};
  }
};

template <int kBatches>
absl::StatusOr<Prepared> PrepareBatches(const PrepareContext& c) {
  COOPER_ASSIGN_OR_RETURN(Prepared prepared, PrepareCublas(c));
  prepared.workspace_bytes = kBatches * c.outputs[0].size_bytes() + kFirstBadBytes;
  return prepared;
}

template <typename T>
absl::Status Store(const KernelContext& c, const Squares& s, double scale, const T* matrices,
                   bool upper_zero) {
  return LaunchElements(c, s.count, StoreLower<T>, s.count, s.n, scale, matrices, upper_zero,
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status Potrf(const KernelContext& c) {
  const Squares s(c.inputs[0]);
  auto* const first_bad = static_cast<FirstBad*>(c.workspace);
  T* const l = reinterpret_cast<T*>(first_bad + 1);
  COOPER_RETURN_IF_ERROR(ResetFirstBad(c, first_bad));
  COOPER_RETURN_IF_ERROR(
      LaunchMatrices(c, s.batch, Cholesky<T>, s.batch, s.n, c.inputs[0].as<T>(), l, first_bad));
  COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> bad, ReadFirstBad(c, first_bad));
  if (bad.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("_linalg_potrf: matrix ", *bad, " of input 'A' is not positive definite"));
  }
  return Store(c, s, 1, l, /*upper_zero=*/true);
}

// grad A = 1/2 * L^-T * S * L^-1, where S is L^T * grad L with its lower triangle mirrored.
template <typename T>
absl::Status PotrfBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const Squares s(c.inputs[kOgrad]);
  const ArrayView& l = c.inputs[kAOrOutput];
  T* const product = static_cast<T*>(c.workspace);
  T* const mirrored = product + s.count;
  // L itself first: what lies above its diagonal is not asked for.
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.count, StoreLower<T>, s.count, s.n, 1, l.as<T>(),
                                        /*upper_zero=*/true, mirrored, /*add=*/false));
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(StreamOf(c), l.dtype, s.gemm(), true, false, s.n,
                                                 s.n, s.n, 1, mirrored, s.n, c.inputs[kOgrad].data,
                                                 s.n, false, product, s.n));
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.count, StoreLower<T>, s.count, s.n, 1, product,
                                        /*upper_zero=*/false, mirrored, /*add=*/false));
  COOPER_RETURN_IF_ERROR(LaunchSolve<T>(c, s.lines(true, false), l.as<T>(), mirrored, mirrored));
  COOPER_RETURN_IF_ERROR(LaunchSolve<T>(c, s.lines(false, true), l.as<T>(), mirrored, mirrored));
  // It is symmetric.
  return Store(c, s, 0.5, mirrored, /*upper_zero=*/false);
}

template <typename T>
absl::Status Potri(const KernelContext& c) {
  const Squares s(c.inputs[0]);
  T* const inverse = static_cast<T*>(c.workspace);
  COOPER_RETURN_IF_ERROR(LaunchElements(c, s.count, WriteIdentities<T>, s.count, s.n, inverse));
  COOPER_RETURN_IF_ERROR(
      LaunchSolve<T>(c, s.lines(false, false), c.inputs[0].as<T>(), inverse, inverse));
  return CublasOf(c).GemmBatched(StreamOf(c), c.inputs[0].dtype, s.gemm(), true, false, s.n, s.n,
                                 s.n, 1, inverse, s.n, inverse, s.n, c.reqs[0] == WriteReq::kAdd,
                                 c.outputs[0].data, s.n);
}

// grad L = -tril(B * (grad B + grad B^T) * L^-T), B the output.
template <typename T>
absl::Status PotriBackward(const KernelContext& c) {
  using enum LaPotriGradientArrays::Input;
  const Squares s(c.inputs[kOgrad]);
  T* const sum = static_cast<T*>(c.workspace);
  T* const product = sum + s.count;
  COOPER_RETURN_IF_ERROR(
      LaunchElements(c, s.count, AddTransposed<T>, s.count, s.n, c.inputs[kOgrad].as<T>(), sum));
  COOPER_RETURN_IF_ERROR(CublasOf(c).GemmBatched(StreamOf(c), c.inputs[kA].dtype, s.gemm(), false,
                                                 false, s.n, s.n, s.n, 1, c.inputs[kOutput].data,
                                                 s.n, sum, s.n, false, product, s.n));
  COOPER_RETURN_IF_ERROR(
      LaunchSolve<T>(c, s.lines(true, true), c.inputs[kA].as<T>(), product, product));
  return Store(c, s, -1, product, /*upper_zero=*/true);
}

// One thread sums one diagonal.
template <typename T>
__global__ void SumLogDiag(int64_t batch, int64_t n, const T* a, T* out, bool add) {
  for (int64_t i = FirstElement(); i < batch; i += ElementStep()) {
    T sum = 0;
    for (int64_t k = 0; k < n; ++k) sum += log(a[i * n * n + k * (n + 1)]);
    StoreTo(out + i, sum, add);
  }
}

template <typename T>
__global__ void SumLogDiagGradient(int64_t count, int64_t n, const T* ograd, const T* a, T* out,
                                   bool add) {
  for (int64_t item = FirstElement(); item < count; item += ElementStep()) {
    const bool diagonal = item / n % n == item % n;
    StoreTo(out + item, diagonal ? ograd[item / (n * n)] / a[item] : T{0}, add);
  }
}

template <typename T>
absl::Status SumLogDiagForward(const KernelContext& c) {
  const Squares s(c.inputs[0]);
  return LaunchElements(c, s.batch, SumLogDiag<T>, s.batch, s.n, c.inputs[0].as<T>(),
                        c.outputs[0].as<T>(), c.reqs[0] == WriteReq::kAdd);
}

template <typename T>
absl::Status SumLogDiagBackward(const KernelContext& c) {
  using enum LaFactorGradientArrays::Input;
  const Squares s(c.inputs[kAOrOutput]);
  return LaunchElements(c, s.count, SumLogDiagGradient<T>, s.count, s.n, c.inputs[kOgrad].as<T>(),
                        c.inputs[kAOrOutput].as<T>(), c.outputs[0].as<T>(),
                        c.reqs[0] == WriteReq::kAdd);
}

using RunFn = absl::Status (*)(const KernelContext&);

template <RunFn kFloat, RunFn kDouble>
absl::Status Run(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return c.outputs[0].dtype == DType::kFloat64 ? kDouble(c) : kFloat(c);
}

constexpr DeviceType kGpu = DeviceType::kGpu;

const KernelRegistrar kKernels[] = {
    {"_linalg_potrf", kGpu, kFloat32Or64, Run<Potrf<float>, Potrf<double>>, PrepareBatches<1>},
    {"_backward_linalg_potrf", kGpu, kFloat32Or64, Run<PotrfBackward<float>, PotrfBackward<double>>,
     PrepareBatches<2>},
    {"_linalg_potri", kGpu, kFloat32Or64, Run<Potri<float>, Potri<double>>, PrepareBatches<1>},
    {"_backward_linalg_potri", kGpu, kFloat32Or64, Run<PotriBackward<float>, PotriBackward<double>>,
     PrepareBatches<2>},
    {"_linalg_sumlogdiag", kGpu, kFloat32Or64,
     Run<SumLogDiagForward<float>, SumLogDiagForward<double>>},
    {"_backward_linalg_sumlogdiag", kGpu, kFloat32Or64,
     Run<SumLogDiagBackward<float>, SumLogDiagBackward<double>>},
};

}  // namespace
}  // namespace cooper
