// Kernels of NumPy's own functions of two elements for GPUs.

#include "executor/kernels/loops/element_map_kernel.h"
#include "executor/kernels/numpy/binary_kernels.h"
#include "executor/kernels/numpy/numpy_functions.h"
#include "executor/kernels/reduce/cuda_reduce.h"
#include "executor/kernels/reducers/element_reduce_kernel.h"
#include "executor/program/kernel.h"

namespace cooper {

// Used by the tests of comparison.cu.
template const ElementMap& ElementMapOf<TestNan>();
template const ElementMap& ElementMapOf<TestInfinite>();
template const ElementMap& ElementMapOf<TestPositiveInfinite>();
template const ElementMap& ElementMapOf<TestNegativeInfinite>();
template const ElementMap& ElementMapOf<TestFinite>();

namespace {

[[maybe_unused]] const bool kRegistered =
    NumpyBinaryKernels<CudaReduce>::Register(DeviceType::kGpu);

}  // namespace
}  // namespace cooper
