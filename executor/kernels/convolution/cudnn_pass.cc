#include "executor/kernels/convolution/cudnn_pass.h"

#include <algorithm>
#include <utility>

#include "executor/kernels/convolution/cudnn_switch.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The largest alignment that cuDNN makes use of. Arrays of a program have it from 1 KB on, but an
// argument may be a slice of another array.
constexpr int64_t kWideAlignment = 16;

// The alignment of cudaMalloc, which cuDNN expects of its workspace. A planned workspace has less.
constexpr uint64_t kWorkspaceAlignment = 256;

// Rounds a size or an address up to the next multiple.
uint64_t AlignedUp(uint64_t value) {
  return (value + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// Returns whether im2col and cuBLAS's products take less time. A float32 step of ResNet-50 on an
// H200 takes 4.2 ms composed and 6.6 ms by cuDNN for one image (predicted: 1.5 and 2.5 ms), and
// 76.8 and 66.0 ms for 32 images (predicted: 22.1 and 15.5 ms). Batch sizes in between were not
// measured.
bool IsFasterComposed(DType dtype, const ConvolutionProduct& p) {
  constexpr int64_t kMinBatch = 8;
  return SizeOf(dtype) > 2 && p.batch < kMinBatch;
}

bool IsWide(const CudnnArrays& arrays) {
  uintptr_t bits = 0;
  for (const void* array : {arrays.image, arrays.weight, arrays.map}) {
    bits |= reinterpret_cast<uintptr_t>(array);
  }
  return bits % kWideAlignment == 0;
}

}  // namespace

absl::StatusOr<CudnnPass> CudnnPass::Create(int device_id, ConvolutionPass pass, DType dtype,
                                            const ConvolutionProduct& p,
                                            const CudnnChoice& choice) {
  const CudnnUse use = GetCudnnUse();
  if (use == CudnnUse::kNever) return absl::FailedPreconditionError("cuDNN is switched off");
  if (use == CudnnUse::kWhereFaster && IsFasterComposed(dtype, p)) {
    return absl::FailedPreconditionError("the batch is small");
  }
  COOPER_ASSIGN_OR_RETURN(Cudnn * cudnn, Cudnn::Of(device_id));
  CudnnPass result;
  CudnnConvolution convolution = CudnnConvolution::Of(pass, dtype, p);
  COOPER_ASSIGN_OR_RETURN(result.plan_, cudnn->Plan(convolution, choice));
  result.aligned_ = result.plan_;
  // Tensor cores read 16 bytes at a time; with less alignment cuDNN has no plan as fast for windows
  // of one element. For float32 and float64 it proposes the same plans either way.
  if (SizeOf(dtype) == 2) {
    convolution.alignment = kWideAlignment;
    auto aligned = cudnn->Plan(convolution, choice);
    if (aligned.ok()) result.aligned_ = *std::move(aligned);
  }
  result.cudnn_ = cudnn;
  return result;
}

int64_t CudnnPass::workspace_bytes() const {
  const int64_t bytes = std::max(plan_.workspace_bytes, aligned_.workspace_bytes);
  // Leaves room to round the address of the workspace up.
  return bytes == 0 ? 0 : static_cast<int64_t>(AlignedUp(bytes) + kWorkspaceAlignment);
}

absl::Status CudnnPass::Run(cudaStream_t stream, const CudnnArrays& arrays, void* workspace) const {
  const CudnnPlan& plan = IsWide(arrays) ? aligned_ : plan_;
  const auto address = reinterpret_cast<uintptr_t>(workspace);
  char* const aligned = static_cast<char*>(workspace) + (AlignedUp(address) - address);
  return cudnn_->Run(stream, plan, arrays, plan.workspace_bytes == 0 ? nullptr : aligned);
}

}  // namespace cooper
