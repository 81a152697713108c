#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PASSES_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PASSES_H_

// The three passes of a convolution on a GPU, each of which computes one of image, weight and map
// from the other two: by cuDNN where it has a plan, otherwise by im2col and cuBLAS
// (convolution_product_cuda.h). For .cu files; the kernels of convolution.cu prepare passes by
// PreparePass and run them by ConvolutionPasses. Arrays are channels-first.

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/convolution_gaps.h"
#include "executor/kernels/convolution/convolution_geometry.h"
#include "executor/kernels/convolution/convolution_product_cuda.h"
#include "executor/kernels/convolution/cudnn_convolution.h"
#include "executor/kernels/convolution/cudnn_pass.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/program/kernel.h"
#include "glog/logging.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cublas.h"
#include "ndarray/cuda/cuda_status.h"

namespace cooper {

// The kernel state of a convolution, created when the node is bound, which reports a missing
// library. Immutable after that. The library is not owned. One state serves all passes of a node:
// Convolution has one, its gradient up to two.
struct ConvolutionState : KernelState {
  Cublas* cublas = nullptr;
  ConvolutionProduct product;  // of the whole node
  CudnnPass cudnn[3];          // by ConvolutionPass; an absent pass is composed

  // Returns the plan of a pass; an absent one if the pass is composed or not requested.
  const CudnnPass& cudnn_for(ConvolutionPass pass) const { return cudnn[static_cast<int>(pass)]; }
};

// Returns the number of elements of the result of `pass`: of the map, of the image or of the
// weight, over all samples and groups.
inline int64_t ResultElements(const ConvolutionProduct& p, ConvolutionPass pass) {
  switch (pass) {
    case ConvolutionPass::kForward:
      return p.batch * p.groups * p.map_step();
    case ConvolutionPass::kDataGradient:
      return p.batch * p.groups * p.image_step();
    default:
      return p.groups * p.weight_step();
  }
}

// Prepares a pass with request `req`: by cuDNN if it has a plan and `cudnn_off` is false. Returns
// the bytes of workspace that the pass needs, which is 0 with kNull or an empty batch. The passes
// of a node run one after the other, so its workspace is the largest of theirs. `choice` selects
// among cuDNN's plans. The device of `context` must be the current one.
//
// Errors: for 16-bit floats without a plan, the reason, or kUnimplemented if cuDNN is missing or
// not in use. The composed pass does not support them because it would round each product before
// the sum.
inline absl::StatusOr<int64_t> PreparePass(ConvolutionState& state, ConvolutionPass pass,
                                           const Context& context, DType dtype, WriteReq req,
                                           bool cudnn_off, const CudnnChoice& choice) {
  if (req == WriteReq::kNull || state.product.batch == 0) return 0;
  // cuDNN plans the convolution without gaps (convolution_gaps.h); SpreadOverGaps adds them.
  const bool has_gaps = pass == ConvolutionPass::kDataGradient && HasGaps(state.product.g);
  const ConvolutionProduct product = has_gaps ? WithoutGaps(state.product) : state.product;
  absl::StatusOr<CudnnPass> planned =
      cudnn_off ? absl::FailedPreconditionError("cudnn_off is set")
                : CudnnPass::Create(context.device_id, pass, dtype, product, choice);
  if (planned.ok()) {
    // cuDNN overwrites its result. A result that is added to an array or spread over gaps is
    // computed in the workspace first, after cuDNN's own.
    const int64_t result = has_gaps || req == WriteReq::kAdd ? ResultElements(product, pass) : 0;
    const int64_t bytes = planned->workspace_bytes() + result * SizeOf(dtype);
    state.cudnn[static_cast<int>(pass)] = *std::move(planned);
    return bytes;
  }
  if (SizeOf(dtype) == 2) {
    const absl::Status& why = planned.status();
    return absl::Status(
        absl::IsFailedPrecondition(why) ? absl::StatusCode::kUnimplemented : why.code(),
        absl::StrCat("no gpu kernel for ", DTypeName(dtype), " without cuDNN: ", why.message()));
  }
  // A composed pass is correct but may be slower, so the reason is only logged.
  VLOG(1) << "a convolution without cuDNN: " << planned.status();
  return ConvolutionWorkspaceBytes(state.product, SizeOf(dtype));
}

// Adds `values` to `sums`, element by element, in the compute type of T.
template <typename T>
__global__ void AddEach(int64_t count, const T* values, T* sums) {
  for (int64_t i = FirstElement(); i < count; i += ElementStep()) {
    StoreTo(sums + i, ConvertElement<ComputeType<T>>(values[i]), /*add=*/true);
  }
}

// Queues the passes of a convolution on a GPU. T is the element type of all arrays. References its
// arguments, which must outlive it. The current device must be that of the context. The state must
// have been prepared for each pass that is run, with a request of the same kind.
template <typename T>
class ConvolutionPasses {
 public:
  ConvolutionPasses(const KernelContext& c, const ConvolutionState& state) : c_(c), state_(state) {}

  // Queue one pass each, which overwrites the result or, with `add`, adds to it: the forward pass
  // of a Convolution, the gradient of its data (the output of a Deconvolution), and the gradient of
  // its weight. Arrays are device pointers without overlap. With 16-bit floats the result is
  // rounded before it is added.
  //
  // Errors: those of cuDNN, cuBLAS and Launch.
  absl::Status MapFromImage(const T* image, const T* weight, T* map, bool add) const {
    return Run(
        ConvolutionPass::kForward, {image, weight, map}, &CudnnArrays::map, map, add,
        [&](const auto& composed) { return composed.MapFromImage(image, weight, map, add); });
  }
  absl::Status ImageFromMap(const T* map, const T* weight, T* image, bool add) const {
    return Run(
        ConvolutionPass::kDataGradient, {image, weight, map}, &CudnnArrays::image, image, add,
        [&](const auto& composed) { return composed.ImageFromMap(map, weight, image, add); });
  }
  absl::Status WeightFromBoth(const T* image, const T* map, T* weight, bool add) const {
    return Run(
        ConvolutionPass::kWeightGradient, {image, weight, map}, &CudnnArrays::weight, weight, add,
        [&](const auto& composed) { return composed.WeightFromBoth(image, map, weight, add); });
  }

 private:
  // Runs cuDNN's plan for `pass`, or `composed` with the products if there is none. `member` is the
  // array of the result. cuDNN overwrites its result, so with `add`, or where the image has gaps,
  // it writes to the workspace and a second launch moves the values to `result`.
  template <typename Fn>
  absl::Status Run(ConvolutionPass pass, CudnnArrays arrays, const void* CudnnArrays::*member,
                   T* result, bool add, Fn&& composed) const {
    if (state_.product.batch == 0) return RunEmptyBatch(pass, result, add);
    const CudnnPass& planned = state_.cudnn_for(pass);
    if (planned.is_planned()) {
      const bool has_gaps = pass == ConvolutionPass::kDataGradient && HasGaps(state_.product.g);
      if (!add && !has_gaps) return planned.Run(StreamOf(c_), arrays, c_.workspace);
      // After cuDNN's workspace, whose size is a multiple of every alignment.
      T* const values =
          reinterpret_cast<T*>(static_cast<char*>(c_.workspace) + planned.workspace_bytes());
      arrays.*member = values;
      COOPER_RETURN_IF_ERROR(planned.Run(StreamOf(c_), arrays, c_.workspace));
      if (has_gaps) return LaunchSpreadOverGaps(c_, state_.product, values, result, add);
      const int64_t count = ResultElements(state_.product, pass);
      return LaunchElements(c_, count, AddEach<T>, count, values, result);
    }
    if constexpr (sizeof(T) > 2) {
      return composed(ConvolutionProducts<T>(c_, *state_.cublas, state_.product));
    } else {
      return absl::InternalError("a pass of 16-bit floats was not prepared");
    }
  }

  // Handles a batch of 0: a weight gradient that is written becomes 0, other results have no
  // elements.
  absl::Status RunEmptyBatch(ConvolutionPass pass, T* result, bool add) const {
    const auto bytes = static_cast<size_t>(ResultElements(state_.product, pass)) * sizeof(T);
    if (add || bytes == 0) return absl::OkStatus();
    return CudaStatus(cudaMemsetAsync(result, 0, bytes, StreamOf(c_)), "zeroing a gradient");
  }

  const KernelContext& c_;
  const ConvolutionState& state_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_PASSES_H_
