// Kernels of _contrib_interleaved_matmul_*.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/attention/interleaved_attention_kernels.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/product_grain.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

struct CpuAttention {
  static absl::Status Multiply(const KernelContext&, bool transpose_a, bool transpose_b,
                               double alpha, const HeadMatrices& a, const HeadMatrices& b,
                               WriteReq req, const HeadMatrices& result) {
    if (req == WriteReq::kNull) return absl::OkStatus();
    return DispatchFloat32Or64(result.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const int64_t k = transpose_a ? a.rows : a.columns;
      const T beta = req == WriteReq::kAdd ? T{1} : T{0};
      const int64_t grain = ProductGrain(result.count, result.rows * result.columns * k);
      ParallelForPlain(result.count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          Gemm(transpose_a, transpose_b, result.rows, result.columns, k, static_cast<T>(alpha),
               static_cast<const T*>(a.data) + i * a.step, a.stride,
               static_cast<const T*>(b.data) + i * b.step, b.stride, beta,
               static_cast<T*>(result.data) + i * result.step, result.stride);
        }
      });
    });
  }

  static absl::Status Clear(const KernelContext&, const HeadMatrices& m) {
    return DispatchFloat32Or64(m.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      // Row by row across all matrices, in the order of memory.
      ParallelForPlain(m.rows, RowGrain(m.count * m.columns), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          for (int64_t i = 0; i < m.count; ++i) {
            std::fill_n(static_cast<T*>(m.data) + row * m.stride + i * m.step, m.columns, T{0});
          }
        }
      });
    });
  }
};

COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_selfatt_qk, DeviceType::kCpu, kFloat32Or64,
                       QkKernel<CpuAttention, kSelfQk>);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_selfatt_qk, DeviceType::kCpu, kFloat32Or64,
                       QkBackwardKernel<CpuAttention, kSelfQk>);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_selfatt_valatt, DeviceType::kCpu, kFloat32Or64,
                       AttendKernel<CpuAttention, kSelfAttention>);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_selfatt_valatt, DeviceType::kCpu, kFloat32Or64,
                       AttendBackwardKernel<CpuAttention, kSelfAttention>);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_encdec_qk, DeviceType::kCpu, kFloat32Or64,
                       QkKernel<CpuAttention, kEncoderDecoderQk>);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_encdec_qk, DeviceType::kCpu, kFloat32Or64,
                       QkBackwardKernel<CpuAttention, kEncoderDecoderQk>);
COOPER_REGISTER_KERNEL(_contrib_interleaved_matmul_encdec_valatt, DeviceType::kCpu, kFloat32Or64,
                       AttendKernel<CpuAttention, kEncoderDecoder>);
COOPER_REGISTER_KERNEL(_backward_interleaved_matmul_encdec_valatt, DeviceType::kCpu, kFloat32Or64,
                       AttendBackwardKernel<CpuAttention, kEncoderDecoder>);

}  // namespace
}  // namespace cooper
