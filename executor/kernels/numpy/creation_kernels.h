#ifndef COOPER_EXECUTOR_KERNELS_NUMPY_CREATION_KERNELS_H_
#define COOPER_EXECUTOR_KERNELS_NUMPY_CREATION_KERNELS_H_

// Kernels of NumPy operators that create arrays, over the devices of
// executor/kernels/elemwise/init_kernels.h, for creation.cc and .cu.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/elemwise/init_kernels.h"
#include "executor/program/kernel.h"
#include "ndarray/base/host_device.h"
#include "ndarray/base/shape.h"
#include "symbol/ops/numpy/creation_param.h"

namespace cooper {

// Returns the position along its axis of an element of _npi_indices.
struct GridPosition {
  static constexpr int kMaxAxes = 32;

  int64_t size = 0;  // elements of one grid
  int64_t strides[kMaxAxes] = {};
  int64_t extents[kMaxAxes] = {};
  COOPER_HOST_DEVICE int64_t operator()(int64_t i) const {
    const int64_t axis = i / size;
    return (i - axis * size) / strides[axis] % extents[axis];
  }
};

// Returns base to the power of an exponent on a line.
struct PowerOnLine {
  double base;
  Line exponent;
  COOPER_HOST_DEVICE double operator()(int64_t i) const { return std::pow(base, exponent(i)); }
};

// Returns the weights of a window: a sum of cosines.
struct CosineWindow {
  double constant, first, second;
  int64_t points;
  COOPER_HOST_DEVICE double operator()(int64_t i) const {
    if (points == 1) return 1;
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points - 1);
    return constant - first * std::cos(angle) + second * std::cos(2 * angle);
  }
};

template <typename Device>
struct NumpyCreation {
  static absl::Status FullLike(const KernelContext& c) {
    return Device::Fill(c, c.param<NumpyFullLikeParam>().fill_value);
  }

  static absl::Status Identity(const KernelContext& c) {
    if (c.outputs[0].size() == 0) return absl::OkStatus();
    return Device::Generate(c, Eye{c.outputs[0].shape[1], 0});
  }
  static absl::Status EyeOf(const KernelContext& c) {
    if (c.outputs[0].size() == 0) return absl::OkStatus();
    return Device::Generate(c, Eye{c.outputs[0].shape[1], c.param<NumpyEyeParam>().diagonal});
  }

  static absl::Status Indices(const KernelContext& c) {
    const Shape& shape = c.outputs[0].shape;
    if (shape.num_elements() == 0) return absl::OkStatus();
    if (shape.rank() > GridPosition::kMaxAxes) {
      return absl::UnimplementedError(
          absl::StrCat(shape.rank() - 1, " dimensions, at most ", GridPosition::kMaxAxes - 1));
    }
    GridPosition position = {.size = shape.Product(1, shape.rank())};
    for (int axis = 1; axis < shape.rank(); ++axis) {
      position.strides[axis - 1] = shape.Product(axis + 1, shape.rank());
      position.extents[axis - 1] = shape[axis];
    }
    return Device::Generate(c, position);
  }

  static absl::Status Logspace(const KernelContext& c) {
    const auto& param = c.param<LogspaceParam>();
    const int64_t gaps = param.num - (param.endpoint ? 1 : 0);
    const double step = gaps > 0 ? (param.stop - param.start) / static_cast<double>(gaps) : 0;
    return Device::Generate(c, PowerOnLine{param.base, Line{param.start, step}});
  }

  static absl::Status Window(const KernelContext& c, double constant, double first, double second) {
    return Device::Generate(c, CosineWindow{constant, first, second, c.outputs[0].size()});
  }
  static absl::Status Hanning(const KernelContext& c) { return Window(c, 0.5, 0.5, 0); }
  static absl::Status Hamming(const KernelContext& c) { return Window(c, 0.54, 0.46, 0); }
  static absl::Status Blackman(const KernelContext& c) { return Window(c, 0.42, 0.5, 0.08); }

  // Registers the kernels. Call it from a static initializer, once for each device.
  static bool Register(DeviceType device) {
    [[maybe_unused]] const KernelRegistrar kernels[] = {
        {"_npi_full_like", device, kAnyDType, FullLike},
        {"_npi_identity", device, kAnyDType, Identity},
        {"_npi_eye", device, kAnyDType, EyeOf},
        {"_npi_indices", device, kAnyDType, Indices},
        {"_npi_logspace", device, kAnyDType, Logspace},
        {"_npi_hanning", device, kAnyDType, Hanning},
        {"_npi_hamming", device, kAnyDType, Hamming},
        {"_npi_blackman", device, kAnyDType, Blackman},
    };
    return true;
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NUMPY_CREATION_KERNELS_H_
