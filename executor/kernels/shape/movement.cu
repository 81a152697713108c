// GPU kernels of the operators that are one strided copy each.

#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/shape/depth_to_space_kernels.h"
#include "executor/kernels/shape/diag_kernels.h"
#include "executor/kernels/shape/reshape_kernels.h"
#include "executor/kernels/shape/slice_kernels.h"
#include "executor/kernels/shape/tile_kernels.h"
#include "executor/kernels/shape/transpose_kernels.h"
#include "executor/program/kernel.h"

namespace cooper {
namespace {

COOPER_REGISTER_KERNEL(depth_to_space, DeviceType::kGpu, kAnyDType, DepthToSpaceKernel<CudaMover>);
COOPER_REGISTER_KERNEL(space_to_depth, DeviceType::kGpu, kAnyDType, SpaceToDepthKernel<CudaMover>);

COOPER_REGISTER_KERNEL(diag, DeviceType::kGpu, kAnyDType, DiagKernel<CudaMover>);
COOPER_REGISTER_KERNEL(_backward_diag, DeviceType::kGpu, kAnyDType, DiagBackwardKernel<CudaMover>);

COOPER_REGISTER_KERNEL(Reshape, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);
COOPER_REGISTER_KERNEL(reshape_like, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);
COOPER_REGISTER_KERNEL(Flatten, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);
COOPER_REGISTER_KERNEL(expand_dims, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);
COOPER_REGISTER_KERNEL(squeeze, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);
COOPER_REGISTER_KERNEL(_backward_reshape, DeviceType::kGpu, kAnyDType, CopyKernel<CudaMover>);

COOPER_REGISTER_KERNEL(slice, DeviceType::kGpu, kAnyDType, PartKernel<CudaMover, SliceParam>);
COOPER_REGISTER_KERNEL(_backward_slice, DeviceType::kGpu, kAnyDType,
                       PartBackwardKernel<CudaMover, SliceParam>);
COOPER_REGISTER_KERNEL(slice_axis, DeviceType::kGpu, kAnyDType,
                       PartKernel<CudaMover, SliceAxisParam>);
COOPER_REGISTER_KERNEL(_backward_slice_axis, DeviceType::kGpu, kAnyDType,
                       PartBackwardKernel<CudaMover, SliceAxisParam>);
COOPER_REGISTER_KERNEL(slice_like, DeviceType::kGpu, kAnyDType, SliceLikeKernel<CudaMover>);
COOPER_REGISTER_KERNEL(_backward_slice_like, DeviceType::kGpu, kAnyDType,
                       SliceLikeBackwardKernel<CudaMover>);
COOPER_REGISTER_KERNEL(Crop, DeviceType::kGpu, kAnyDType, PartKernel<CudaMover, CropParam>);
COOPER_REGISTER_KERNEL(_backward_Crop, DeviceType::kGpu, kAnyDType,
                       PartBackwardKernel<CudaMover, CropParam>);
COOPER_REGISTER_KERNEL(_slice_assign, DeviceType::kGpu, kAnyDType, SliceAssignKernel<CudaMover>,
                       PrepareAssign);
COOPER_REGISTER_KERNEL(_slice_assign_scalar, DeviceType::kGpu, kAnyDType,
                       SliceAssignScalarKernel<CudaMover>, PrepareAssign);

COOPER_REGISTER_KERNEL(tile, DeviceType::kGpu, kAnyDType, TileKernel<CudaMover, TileParam>);
COOPER_REGISTER_KERNEL(repeat, DeviceType::kGpu, kAnyDType, TileKernel<CudaMover, RepeatParam>);
COOPER_REGISTER_KERNEL(reverse, DeviceType::kGpu, kAnyDType, ReverseKernel<CudaMover>);

COOPER_REGISTER_KERNEL(transpose, DeviceType::kGpu, kAnyDType,
                       PermuteKernel<CudaMover, TransposeParam>);
COOPER_REGISTER_KERNEL(SwapAxis, DeviceType::kGpu, kAnyDType,
                       PermuteKernel<CudaMover, SwapAxisParam>);

}  // namespace
}  // namespace cooper
