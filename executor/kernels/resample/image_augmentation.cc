// Kernels of operators that change colours, or flip images at random, before a network, for CPUs.
// Colours are computed in float. uint8 is limited to [0, 255] and truncated, as in MXNet.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/kernels/resample/image_movement.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/image_augmentation_param.h"

namespace cooper {
namespace {

using Movement = ImageMovement<CpuMover>;

// The weights of the channels in grey.
constexpr float kGrey[] = {0.299F, 0.587F, 0.114F};

// Converts a colour. For uint8 NaN gives 0.
template <typename T>
T Saturated(float value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    const float positive = value > 0 ? value : 0;
    return static_cast<uint8_t>(static_cast<int32_t>(positive < 255 ? positive : 255));
  } else {
    return ConvertElement<T>(value);
  }
}

// Runs fn as ParallelFor does. Nearly all images are uint8 or float32: for other dtypes fn is
// compiled once instead of for each CPU level.
template <typename T, typename Fn>
void ForEachRange(int64_t n, int64_t grain, const Fn& fn) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, float>) {
    ParallelFor(n, grain, fn);
  } else {
    ParallelForPlain(n, grain, fn);
  }
}

// The functions below change colours: they read `in` and write `out`, which may be `in`. An image
// has 1 or 3 channels. Loops go by blocks, and each element is computed in the same way in all.

// Computes x * factor + shifts[k] for each x of channel k. A single channel has equal shifts.
template <typename T>
void ScaleAndShift(float factor, const std::array<float, 3>& shifts, const Shape& shape,
                   const T* in, T* out) {
  constexpr int64_t kBlock = 192;  // whole pixels, and whole vectors of any dtype
  const int64_t size = shape.num_elements();
  ForEachRange<T>((size + kBlock - 1) / kBlock, RowGrain(kBlock), [=](int64_t begin, int64_t end) {
    // Local variables, because bytes that are written may be those of captured ones.
    const float scale = factor;
    float shift[kBlock];
    for (int64_t i = 0; i < kBlock; ++i) shift[i] = shifts[i % 3];
    for (int64_t first = begin * kBlock; first < std::min(end * kBlock, size); first += kBlock) {
      const int64_t count = std::min(kBlock, size - first);
      const T* const from = in + first;
      T* const to = out + first;
      COOPER_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < count; ++i) {
        to[i] = Saturated<T>(ConvertElement<float>(from[i]) * scale + shift[i]);
      }
    }
  });
}

// Calls fn(float& red, float& green, float& blue), which changes them, for each pixel of three
// channels. It is compiled into loops over planes, so it should be free of branches.
template <typename T, typename Fn>
void ForEachColour(const Shape& shape, const T* in, T* out, Fn fn) {
  constexpr int64_t kBlock = 64;
  const int64_t pixels = shape[0] * shape[1];
  ForEachRange<T>((pixels + kBlock - 1) / kBlock, RowGrain(3 * kBlock),
                  [&](int64_t begin, int64_t end) {
                    float red[kBlock] = {}, green[kBlock] = {}, blue[kBlock] = {};
                    for (int64_t first = begin * kBlock; first < std::min(end * kBlock, pixels);
                         first += kBlock) {
                      const int64_t count = std::min(kBlock, pixels - first);
                      const T* const from = in + 3 * first;
                      T* const to = out + 3 * first;
                      for (int64_t i = 0; i < count; ++i) {
                        red[i] = ConvertElement<float>(from[3 * i]);
                        green[i] = ConvertElement<float>(from[3 * i + 1]);
                        blue[i] = ConvertElement<float>(from[3 * i + 2]);
                      }
                      COOPER_INDEPENDENT_ITERATIONS
                      for (int64_t i = 0; i < kBlock; ++i) fn(red[i], green[i], blue[i]);
                      for (int64_t i = 0; i < count; ++i) {
                        to[3 * i] = Saturated<T>(red[i]);
                        to[3 * i + 1] = Saturated<T>(green[i]);
                        to[3 * i + 2] = Saturated<T>(blue[i]);
                      }
                    }
                  });
}

template <typename T>
void ChangeBrightness(float factor, const Shape& shape, const T* in, T* out) {
  ScaleAndShift(factor, {}, shape, in, out);
}

// Returns the sum of the pixels in grey. uint8 is summed exactly.
template <typename T>
double SumOfGrey(const Shape& shape, const T* in) {
  using Sum = std::conditional_t<std::is_same_v<T, uint8_t>, uint32_t, double>;
  constexpr int64_t kLanes = 48;             // whole pixels and vectors
  constexpr int64_t kChunk = kLanes << 16U;  // few enough for sums of bytes in uint32
  const int64_t size = shape.num_elements();
  double sum = 0;
  for (int64_t first = 0; first < size; first += kChunk) {
    Sum lanes[kLanes] = {};
    RunAtCpuLevel([&lanes, from = in + first, count = std::min(kChunk, size - first)] {
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes) {
        for (int64_t k = 0; k < kLanes; ++k) lanes[k] += ConvertElement<Sum>(from[i + k]);
      }
      for (int64_t k = 0; i + k < count; ++k) lanes[k] += ConvertElement<Sum>(from[i + k]);
    });
    for (int64_t k = 0; k < kLanes; ++k) {
      sum += static_cast<double>(lanes[k]) * (shape[2] == 1 ? 1 : kGrey[k % 3]);
    }
  }
  return sum;
}

template <typename T>
void ChangeContrast(float factor, const Shape& shape, const T* in, T* out) {
  const double mean = SumOfGrey(shape, in) / static_cast<double>(shape[0] * shape[1]);
  const float shift = (1 - factor) * static_cast<float>(mean);
  ScaleAndShift(factor, {shift, shift, shift}, shape, in, out);
}

// As in MXNet the grey is that of the last channel alone.
template <typename T>
void ChangeSaturation(float factor, const Shape& shape, const T* in, T* out) {
  if (shape[2] == 1) return ScaleAndShift(1, {}, shape, in, out);
  ForEachColour(shape, in, out, [factor](float& red, float& green, float& blue) {
    const float grey = blue * kGrey[2] * (1 - factor);
    red = grey + red * factor;
    green = grey + green * factor;
    blue = grey + blue * factor;
  });
}

// Adds `turn`, in sixths of a turn from 0 to 6, to the hue of a colour with channels from 0 to 1.
void TurnHue(float turn, float& red, float& green, float& blue) {
  const float greatest = std::max(std::max(red, green), blue);
  const float least = std::min(std::min(red, green), blue);
  const float range = greatest - least, sum = greatest + least;
  const float lightness = sum / 2;
  const bool grey = range <= std::numeric_limits<float>::epsilon();
  const float share = range / (lightness < 0.5F ? sum : 2 - sum);
  const float saturation = grey ? 0 : share;
  // The first of equal channels is the greatest.
  const bool is_red = red == greatest, is_green = green == greatest;
  const float difference = is_red ? green - blue : is_green ? blue - red : red - green;
  const float main = is_red ? 0.0F : is_green ? 2.0F : 4.0F;
  const float coloured = main + difference / range;
  const float hue = (grey ? 0 : coloured) + turn;
  const float product = saturation * lightness;
  const float high = lightness + (lightness <= 0.5F ? product : saturation - product);
  const float low = 2 * lightness - high;
  const auto channel = [=](float own) {
    // The distance from the channel's own hue on the circle.
    const float line = std::fabs(hue - own);
    const float wrapped = line >= 6 ? line - 6 : line;
    const float distance = std::min(wrapped, 6 - wrapped);
    return low + (high - low) * std::min(std::max(2 - distance, 0.0F), 1.0F);
  };
  red = channel(0);
  green = channel(2);
  blue = channel(4);
}

template <typename T>
void ChangeHue(float turns, const Shape& shape, const T* in, T* out) {
  if (shape[2] == 1) return ScaleAndShift(1, {}, shape, in, out);
  const float turn = 6 * (turns - std::floor(turns));
  ForEachColour(shape, in, out, [turn](float& red, float& green, float& blue) {
    red /= 255;
    green /= 255;
    blue /= 255;
    TurnHue(turn, red, green, blue);
    red *= 255;
    green *= 255;
    blue *= 255;
  });
}

template <typename T>
void ChangeLighting(const std::array<double, 3>& alpha, const Shape& shape, const T* in, T* out) {
  // The principal components times the roots of their variances.
  constexpr double kComponents[3][3] = {{55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
                                        {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
                                        {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203}};
  std::array<float, 3> shifts = {};
  for (int k = 0; k < 3 && shape[2] == 3; ++k) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) sum += kComponents[k][j] * alpha[j];
    shifts[k] = static_cast<float>(sum);
  }
  ScaleAndShift(1, shifts, shape, in, out);
}

// Under kAdd the image is computed in the workspace and then added.
absl::StatusOr<Prepared> PrepareImage(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

// Runs change(shape, in, out), which is called with elements of a type.
template <typename Change>
absl::Status RunChange(const KernelContext& c, Change change) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  ArrayView target = c.outputs[0];
  if (c.reqs[0] == WriteReq::kAdd) target.data = c.workspace;
  DispatchDType(target.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    change(target.shape, static_cast<const T*>(c.inputs[0].as<T>()), target.as<T>());
  });
  if (c.reqs[0] == WriteReq::kWrite) return absl::OkStatus();
  return CopyElements(target, WriteReq::kAdd, c.outputs[0]);
}

float Between(double low, double high, ElementRandom& random) {
  return static_cast<float>(low + random.Uniform() * (high - low));
}

float DrawFactor(const KernelContext& c) {
  const auto& param = c.param<ImageFactorParam>();
  ElementRandom random(c.random, 0);
  return Between(param.min_factor, param.max_factor, random);
}

absl::Status RandomBrightnessCpu(const KernelContext& c) {
  return RunChange(c, [factor = DrawFactor(c)](const Shape& shape, auto* in, auto* out) {
    ChangeBrightness(factor, shape, in, out);
  });
}
absl::Status RandomContrastCpu(const KernelContext& c) {
  return RunChange(c, [factor = DrawFactor(c)](const Shape& shape, auto* in, auto* out) {
    ChangeContrast(factor, shape, in, out);
  });
}
absl::Status RandomSaturationCpu(const KernelContext& c) {
  return RunChange(c, [factor = DrawFactor(c)](const Shape& shape, auto* in, auto* out) {
    ChangeSaturation(factor, shape, in, out);
  });
}
absl::Status RandomHueCpu(const KernelContext& c) {
  return RunChange(c, [factor = DrawFactor(c)](const Shape& shape, auto* in, auto* out) {
    ChangeHue(factor, shape, in, out);
  });
}

absl::Status RandomColourJitterCpu(const KernelContext& c) {
  return RunChange(c, [&c](const Shape& shape, auto* in, auto* out) {
    const auto& param = c.param<ImageJitterParam>();
    ElementRandom random(c.random, 0);
    int order[4] = {0, 1, 2, 3};
    for (int i = 3; i > 0; --i) std::swap(order[i], order[DrawInteger(0, i + 1, random)]);
    std::copy_n(in, shape.num_elements(), out);
    for (int change : order) {
      const double amount =
          std::array{param.brightness, param.contrast, param.saturation, param.hue}[change];
      if (!(amount > 0)) continue;
      const float shift = Between(-amount, amount, random);
      if (change == 0) ChangeBrightness(1 + shift, shape, out, out);
      if (change == 1) ChangeContrast(1 + shift, shape, out, out);
      if (change == 2) ChangeSaturation(1 + shift, shape, out, out);
      if (change == 3) ChangeHue(shift, shape, out, out);
    }
  });
}

absl::Status AdjustLightingCpu(const KernelContext& c) {
  const auto& alpha = c.param<ImageLightingParam>().alpha;
  return RunChange(c, [&alpha](const Shape& shape, auto* in, auto* out) {
    ChangeLighting({alpha[0], alpha[1], alpha[2]}, shape, in, out);
  });
}
absl::Status RandomLightingCpu(const KernelContext& c) {
  ElementRandom random(c.random, 0);
  std::array<double, 3> alpha;
  for (double& factor : alpha)
    factor = random.Normal() * c.param<ImageRandomLightingParam>().alpha_std;
  return RunChange(c, [&alpha](const Shape& shape, auto* in, auto* out) {
    ChangeLighting(alpha, shape, in, out);
  });
}

template <int kAxis>
absl::Status RandomFlipCpu(const KernelContext& c) {
  ElementRandom random(c.random, 0);
  if (random.Uniform() < 0.5) return Movement::FlipAxis(c, kAxis);
  return CopyElements(c.inputs[0], c.reqs[0], c.outputs[0]);
}

[[maybe_unused]] const bool kRegistered = Movement::Register(DeviceType::kCpu);

constexpr DeviceType kCpu = DeviceType::kCpu;
const KernelRegistrar kKernels[] = {
    {"_image_random_flip_left_right", kCpu, kAnyDType, RandomFlipCpu<1>},
    {"_image_random_flip_top_bottom", kCpu, kAnyDType, RandomFlipCpu<0>},
    {"_image_random_brightness", kCpu, kAnyDType, RandomBrightnessCpu, PrepareImage},
    {"_image_random_contrast", kCpu, kAnyDType, RandomContrastCpu, PrepareImage},
    {"_image_random_saturation", kCpu, kAnyDType, RandomSaturationCpu, PrepareImage},
    {"_image_random_hue", kCpu, kAnyDType, RandomHueCpu, PrepareImage},
    {"_image_random_color_jitter", kCpu, kAnyDType, RandomColourJitterCpu, PrepareImage},
    {"_image_adjust_lighting", kCpu, kAnyDType, AdjustLightingCpu, PrepareImage},
    {"_image_random_lighting", kCpu, kAnyDType, RandomLightingCpu, PrepareImage},
};

}  // namespace
}  // namespace cooper
