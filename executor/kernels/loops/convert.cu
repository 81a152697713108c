#include <cstdint>

#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/convert_cuda.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/loops/strided_loop.h"
#include "ndarray/base/dtype.h"

namespace cooper {
namespace {

// Converts through C: int64_t between integers; float if it can represent both dtypes, or if double
// would round twice (an int64_t beyond 2^53 to double, then to float); otherwise double.
template <typename C>
__global__ void ConvertElements(int64_t n, const void* input, DType input_dtype, void* output,
                                DType output_dtype, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(output, output_dtype, i, LoadElement<C>(input, input_dtype, i), add);
  }
}

__global__ void AddToElements(int64_t n, double value, void* output, DType dtype) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    StoreElement(output, dtype, i, value, /*add=*/true);
  }
}

// Returns whether float can represent every value of `dtype`.
bool IsUpToFloat(DType dtype) { return IsFloating(dtype) && dtype != DType::kFloat64; }

template <typename C>
absl::Status ConvertThrough(const KernelContext& c, const ArrayView& input, const ArrayView& output,
                            WriteReq req) {
  return LaunchElements(c, output.size(), ConvertElements<C>, output.size(), input.data,
                        input.dtype, output.data, output.dtype, req == WriteReq::kAdd);
}

}  // namespace

absl::Status ConvertArrayGpu(const KernelContext& c, const ArrayView& input,
                             const ArrayView& output, WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  if (input.dtype == output.dtype) return CudaMover::CopyAll(c, input, req, output);
  const bool rounds_twice = input.dtype == DType::kInt64;
  if (IsUpToFloat(output.dtype) && (IsUpToFloat(input.dtype) || rounds_twice)) {
    return ConvertThrough<float>(c, input, output, req);
  }
  if (IsFloating(input.dtype) || IsFloating(output.dtype)) {
    return ConvertThrough<double>(c, input, output, req);
  }
  return ConvertThrough<int64_t>(c, input, output, req);
}

absl::Status FillArrayGpu(const KernelContext& c, double value, const ArrayView& output,
                          WriteReq req) {
  if (req == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  if (req == WriteReq::kAdd) {
    return LaunchElements(c, output.size(), AddToElements, output.size(), value, output.data,
                          output.dtype);
  }
  if (value == 0) return CudaMover::Zero(c, req, output);
  StridedLoop loop;
  loop.Add(output.size(), 0, 1);
  return CudaMover::Fill(c, loop, value, output, 0);
}

}  // namespace cooper
