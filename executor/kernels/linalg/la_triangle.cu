// GPU kernels of linalg_extractdiag, makediag, extracttrian and maketrian, which only move
// elements.

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "absl/status/status.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/la_param.h"

namespace cooper {
namespace {

// Returns the last extent: the side of a matrix, or the length of a packed vector.
int64_t Side(const ArrayView& array) { return array.shape[array.shape.rank() - 1]; }

int64_t Batch(const ArrayView& matrices) {
  return matrices.shape.Product(0, matrices.shape.rank() - 2);
}

// The matrices and the packed vectors of an operator; kMake tells which are the output.
template <bool kMake>
struct Arrays {
  const ArrayView& matrices;
  const ArrayView& packed;
  explicit Arrays(const KernelContext& c)
      : matrices(kMake ? c.outputs[0] : c.inputs[0]), packed(kMake ? c.inputs[0] : c.outputs[0]) {}
};

template <bool kMake>
absl::Status DiagGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Arrays<kMake> arrays(c);
  const ArrayView& matrices = arrays.matrices;
  if (kMake) COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], matrices));
  if (arrays.packed.size() == 0) return absl::OkStatus();
  const int64_t side = Side(matrices), length = Side(arrays.packed);
  const int64_t k = c.param<LaDiagParam>().offset;
  const char* const first = ElementAt(matrices, k >= 0 ? k : -k * side);
  StridedLoop loop;
  if (kMake) {
    loop.Add(Batch(matrices), length, side * side);
    loop.Add(length, 1, side + 1);
    return CudaMover::Copy(c, loop, matrices.dtype, c.reqs[0], arrays.packed.data,
                           const_cast<char*>(first));
  }
  loop.Add(Batch(matrices), side * side, length);
  loop.Add(length, side + 1, 1);
  return CudaMover::Copy(c, loop, matrices.dtype, c.reqs[0], first, arrays.packed.data);
}

// Maps the elements of packed triangles to their matrices. Row r of a packed triangle holds r + 1
// elements, which are a row of a lower triangle or a column of an upper one.
struct Triangle {
  int64_t side, offset, length;
  bool upper;

  __device__ int64_t At(int64_t i) const {
    const int64_t matrix = i / length;
    const int64_t p = i % length;
    auto row = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(p) + 1) - 1) / 2);
    while (row * (row + 1) / 2 > p) --row;  // the root may be rounded up
    while ((row + 1) * (row + 2) / 2 <= p) ++row;
    const int64_t column = p - row * (row + 1) / 2;
    const int64_t at = row + offset;
    return matrix * side * side + (upper ? column * side + at : at * side + column);
  }
};

template <typename C>
__global__ void CopyTriangles(int64_t n, const Triangle triangle, bool make, DType dtype,
                              const void* from, void* to, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    const int64_t at = triangle.At(i);
    StoreElement(to, dtype, make ? at : i, LoadElement<C>(from, dtype, make ? i : at), add);
  }
}

template <bool kMake>
absl::Status TrianGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const Arrays<kMake> arrays(c);
  if (kMake) COOPER_RETURN_IF_ERROR(CudaMover::Zero(c, c.reqs[0], arrays.matrices));
  const ArrayView& packed = arrays.packed;
  if (packed.size() == 0) return absl::OkStatus();
  const auto& param = c.param<LaTrianParam>();
  const Triangle triangle{Side(arrays.matrices), std::abs(param.offset), Side(packed),
                          param.is_upper()};
  return DispatchCompute(packed.dtype, /*exact_integers=*/true, [&](auto zero) {
    return LaunchElements(c, packed.size(), CopyTriangles<decltype(zero)>, packed.size(), triangle,
                          kMake, packed.dtype, c.inputs[0].data, c.outputs[0].data,
                          c.reqs[0] == WriteReq::kAdd);
  });
}

COOPER_REGISTER_KERNEL(_linalg_extractdiag, DeviceType::kGpu, kAnyDType, DiagGpu<false>);
COOPER_REGISTER_KERNEL(_linalg_makediag, DeviceType::kGpu, kAnyDType, DiagGpu<true>);
COOPER_REGISTER_KERNEL(_linalg_extracttrian, DeviceType::kGpu, kAnyDType, TrianGpu<false>);
COOPER_REGISTER_KERNEL(_linalg_maketrian, DeviceType::kGpu, kAnyDType, TrianGpu<true>);

}  // namespace
}  // namespace cooper
