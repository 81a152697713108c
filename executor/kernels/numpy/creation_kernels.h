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

// Returns element i of _npi_indices (n, dimensions...), for the n-dimensional grid: its position
// along axis i / size. strides and extents are those of the grid's axes, in elements; axes beyond
// the grid's are not read.
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

// Returns base to the power of the exponent at position i of a line. Computed in double, whatever
// the output's dtype is.
struct PowerOnLine {
  double base;
  Line exponent;
  COOPER_HOST_DEVICE double operator()(int64_t i) const { return std::pow(base, exponent(i)); }
};

// Returns weight i of a window of `points` weights, a sum of cosines of the angle x = 2 pi i /
// (points - 1):
//
//   constant - first * cos(x) + second * cos(2 x)
//
// A window of one point has the weight 1, since its angle would be 0 / 0.
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

// The kernels of one device, which write output 0 and have no inputs but the one that full_like
// takes its shape from. Values are computed in double and converted to the output's dtype.
template <typename Device>
struct NumpyCreation {
  // Writes fill_value to every element of the output; the input's elements are not read.
  static absl::Status FullLike(const KernelContext& c) {
    return Device::Fill(c, c.param<NumpyFullLikeParam>().fill_value);
  }

  // Identity and EyeOf write 1 on a diagonal and 0 elsewhere. Empty matrices return early: Eye
  // divides by the number of columns.
  static absl::Status Identity(const KernelContext& c) {
    if (c.outputs[0].size() == 0) return absl::OkStatus();
    return Device::Generate(c, Eye{c.outputs[0].shape[1], 0});
  }
  static absl::Status EyeOf(const KernelContext& c) {
    if (c.outputs[0].size() == 0) return absl::OkStatus();
    return Device::Generate(c, Eye{c.outputs[0].shape[1], c.param<NumpyEyeParam>().diagonal});
  }

  // Fails with kUnimplemented for a grid of more than GridPosition::kMaxAxes - 1 dimensions: the
  // arrays of GridPosition have a fixed size, so that kernels can take it by value.
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

  // Writes base^start, ..., base^stop. Without endpoint the exponents stop one step before `stop`;
  // with a single value the step is 0.
  static absl::Status Logspace(const KernelContext& c) {
    const auto& param = c.param<LogspaceParam>();
    const int64_t gaps = param.num - (param.endpoint ? 1 : 0);
    const double step = gaps > 0 ? (param.stop - param.start) / static_cast<double>(gaps) : 0;
    return Device::Generate(c, PowerOnLine{param.base, Line{param.start, step}});
  }

  // Writes a CosineWindow over all elements of the output. The three windows below differ in their
  // factors only, which are those of NumPy.
  static absl::Status Window(const KernelContext& c, double constant, double first, double second) {
    return Device::Generate(c, CosineWindow{constant, first, second, c.outputs[0].size()});
  }
  // The windows of von Hann, Hamming and Blackman: sums of one or two cosines.
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
