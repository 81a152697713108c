#ifndef COOPER_EXECUTOR_KERNELS_RESAMPLE_IMAGE_MOVEMENT_H_
#define COOPER_EXECUTOR_KERNELS_RESAMPLE_IMAGE_MOVEMENT_H_

// Kernels of _image_crop, its gradient and the flips of images, templates over the mover of a
// device: CpuMover (executor/kernels/loops/strided_copy.h) or CudaMover.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/loops/strided_loop.h"
#include "executor/program/kernel.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/image_augmentation_param.h"

namespace cooper {

template <typename Mover>
struct ImageMovement {
  // The loop over a crop, and the offset of its first element in the whole images.
  struct CropLoop {
    StridedLoop loop;
    int64_t begin = 0;
  };
  // The loop reads the whole images and writes the crop; with `into` it does the opposite.
  static CropLoop LoopOf(const ImageCropParam& param, const Shape& whole, const Shape& part,
                         bool into) {
    CropLoop crop;
    const int rank = whole.rank();
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t stride = StrideOf(whole, axis), part_stride = StrideOf(part, axis);
      crop.loop.Add(part[axis], into ? part_stride : stride, into ? stride : part_stride);
    }
    crop.begin = param.y * StrideOf(whole, rank - 3) + param.x * StrideOf(whole, rank - 2);
    return crop;
  }

  static absl::Status Crop(const KernelContext& c) {
    const ArrayView& whole = c.inputs[0];
    const ArrayView& part = c.outputs[0];
    if (c.reqs[0] == WriteReq::kNull || part.size() == 0) return absl::OkStatus();
    const auto crop = LoopOf(c.param<ImageCropParam>(), whole.shape, part.shape, /*into=*/false);
    return Mover::Copy(c, crop.loop, part.dtype, c.reqs[0], ElementAt(whole, crop.begin),
                       part.data);
  }

  static absl::Status CropGradient(const KernelContext& c) {
    const ArrayView& part = c.inputs[0];
    const ArrayView& whole = c.outputs[0];
    if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
    COOPER_RETURN_IF_ERROR(Mover::Zero(c, c.reqs[0], whole));
    if (part.size() == 0) return absl::OkStatus();
    const auto crop = LoopOf(c.param<ImageCropParam>(), whole.shape, part.shape, /*into=*/true);
    return Mover::Copy(c, crop.loop, whole.dtype, c.reqs[0], part.data,
                       ElementAt(whole, crop.begin));
  }

  // Reverses an axis of an image: 0 is that of rows, 1 that of columns.
  static absl::Status FlipAxis(const KernelContext& c, int flipped) {
    const ArrayView& image = c.inputs[0];
    if (c.reqs[0] == WriteReq::kNull || image.size() == 0) return absl::OkStatus();
    StridedLoop loop;
    for (int axis = 0; axis < image.shape.rank(); ++axis) {
      const int64_t stride = StrideOf(image.shape, axis);
      loop.Add(image.shape[axis], axis == flipped ? -stride : stride, stride);
    }
    const int64_t last = (image.shape[flipped] - 1) * StrideOf(image.shape, flipped);
    return Mover::Copy(c, loop, image.dtype, c.reqs[0], ElementAt(image, last), c.outputs[0].data);
  }
  template <int kAxis>
  static absl::Status Flip(const KernelContext& c) {
    return FlipAxis(c, kAxis);
  }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_image_crop", device, kAnyDType, Crop},
        {"_backward_image_crop", device, kAnyDType, CropGradient},
        {"_image_flip_left_right", device, kAnyDType, Flip<1>},
        {"_image_flip_top_bottom", device, kAnyDType, Flip<0>},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_RESAMPLE_IMAGE_MOVEMENT_H_
