// Kernels of operators that change images before a network, for CPUs. Colours are computed in
// float. uint8 is limited to [0, 255] and truncated, as in MXNet; _image_resize rounds.

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
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/random/random_draws.h"
#include "executor/kernels/resample/image_movement.h"
#include "executor/kernels/resample/resized_axis.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/image_augmentation_param.h"

namespace cooper {
namespace {

using Movement = ImageMovement<CpuMover>;

// The weights of the channels in grey.
constexpr float kGrey[] = {0.299F, 0.587F, 0.114F};

template <typename T>
T Saturated(float value) {
  if constexpr (std::is_same_v<T, uint8_t>) value = std::clamp(value, 0.0F, 255.0F);
  return ConvertElement<T>(value);
}

// Calls fn(const float* colours of a pixel, float* new ones) for each pixel of `in`, which may be
// `out`. An image has 1 or 3 channels.
template <typename T, typename Fn>
void ForEachPixel(const Shape& shape, const T* in, T* out, Fn fn) {
  const int64_t channels = shape[2];
  ParallelForPlain(shape[0] * shape[1], RowGrain(channels), [&](int64_t begin, int64_t end) {
    float from[3], to[3];
    for (int64_t i = begin * channels; i < end * channels; i += channels) {
      for (int64_t k = 0; k < channels; ++k) from[k] = ConvertElement<float>(in[i + k]);
      fn(from, to);
      for (int64_t k = 0; k < channels; ++k) out[i + k] = Saturated<T>(to[k]);
    }
  });
}

// The changes of colours. Each reads `in` and writes `out`.

template <typename T>
void ChangeBrightness(float factor, const Shape& shape, const T* in, T* out) {
  ForEachPixel(shape, in, out, [&](const float* from, float* to) {
    for (int64_t k = 0; k < shape[2]; ++k) to[k] = from[k] * factor;
  });
}

template <typename T>
void ChangeContrast(float factor, const Shape& shape, const T* in, T* out) {
  const int64_t pixels = shape[0] * shape[1], channels = shape[2];
  double sum = 0;
  for (int64_t i = 0; i < pixels * channels; ++i) {
    sum += ConvertElement<float>(in[i]) * (channels == 1 ? 1 : kGrey[i % 3]);
  }
  const float shift = (1 - factor) * static_cast<float>(sum / static_cast<double>(pixels));
  ForEachPixel(shape, in, out, [&](const float* from, float* to) {
    for (int64_t k = 0; k < channels; ++k) to[k] = from[k] * factor + shift;
  });
}

// As in MXNet the grey is that of the last channel alone.
template <typename T>
void ChangeSaturation(float factor, const Shape& shape, const T* in, T* out) {
  ForEachPixel(shape, in, out, [&](const float* from, float* to) {
    if (shape[2] == 1) {
      to[0] = from[0];
      return;
    }
    const float grey = from[2] * kGrey[2] * (1 - factor);
    for (int k = 0; k < 3; ++k) to[k] = grey + from[k] * factor;
  });
}

// Hue, in sixths of a turn, lightness and saturation of a colour with channels from 0 to 1.
struct HueLightnessSaturation {
  float hue = 0, lightness, saturation = 0;

  explicit HueLightnessSaturation(const std::array<float, 3>& rgb) {
    const auto [least, greatest] = std::minmax_element(rgb.begin(), rgb.end());
    const float range = *greatest - *least;
    lightness = (*greatest + *least) / 2;
    if (range <= std::numeric_limits<float>::epsilon()) return;
    saturation = range / (lightness < 0.5F ? *greatest + *least : 2 - *greatest - *least);
    // The first of equal channels is the greatest.
    const int k = rgb[0] == *greatest ? 0 : rgb[1] == *greatest ? 1 : 2;
    hue = 2 * static_cast<float>(k) + (rgb[(k + 1) % 3] - rgb[(k + 2) % 3]) / range;
  }

  // Returns the colour.
  std::array<float, 3> Rgb() const {
    const float high =
        lightness <= 0.5F ? lightness * (1 + saturation) : lightness + saturation * (1 - lightness);
    const float low = 2 * lightness - high;
    std::array<float, 3> rgb;
    for (int k = 0; k < 3; ++k) {
      // The distance on the circle of hues from the channel's own, which is at 2 k.
      float distance = std::fabs(hue - 2 * static_cast<float>(k));
      distance = std::fmod(distance, 6.0F);
      distance = std::min(distance, 6 - distance);
      rgb[k] = low + (high - low) * std::clamp(2 - distance, 0.0F, 1.0F);
    }
    return rgb;
  }
};

template <typename T>
void ChangeHue(float turns, const Shape& shape, const T* in, T* out) {
  ForEachPixel(shape, in, out, [&](const float* from, float* to) {
    if (shape[2] == 1) {
      to[0] = from[0];
      return;
    }
    HueLightnessSaturation colour({from[0] / 255, from[1] / 255, from[2] / 255});
    colour.hue += 6 * turns;
    const std::array<float, 3> rgb = colour.Rgb();
    for (int k = 0; k < 3; ++k) to[k] = rgb[k] * 255;
  });
}

template <typename T>
void ChangeLighting(const std::array<double, 3>& alpha, const Shape& shape, const T* in, T* out) {
  // The principal components times the roots of their variances.
  constexpr double kComponents[3][3] = {{55.46 * -0.5675, 4.794 * 0.7192, 1.148 * 0.4009},
                                        {55.46 * -0.5808, 4.794 * -0.0045, 1.148 * -0.8140},
                                        {55.46 * -0.5836, 4.794 * -0.6948, 1.148 * 0.4203}};
  float shift[3] = {};
  for (int k = 0; k < 3 && shape[2] == 3; ++k) {
    double sum = 0;
    for (int j = 0; j < 3; ++j) sum += kComponents[k][j] * alpha[j];
    shift[k] = static_cast<float>(sum);
  }
  ForEachPixel(shape, in, out, [&](const float* from, float* to) {
    for (int64_t k = 0; k < shape[2]; ++k) to[k] = from[k] + shift[k];
  });
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

// Returns an axis whose edges coincide, also if it has one pixel, for which ResizedAxis does as
// _contrib_BilinearResize2D.
ResizedAxis AxisOf(int64_t in, int64_t out) {
  ResizedAxis axis(in, out, /*align_corners=*/false);
  axis.step = static_cast<double>(in) / static_cast<double>(out);
  axis.shift = axis.step / 2 - 0.5;
  return axis;
}

// Writes row `row` of a resized image.
template <typename T>
void ResizeRow(const ResizedAxis& rows, const ResizedAxis& columns, int64_t channels, bool nearest,
               int64_t row, const T* image, bool add, T* out) {
  const auto store = [&](int64_t at, double value) {
    if (std::is_integral_v<T>) value = std::round(value);
    if (add) value += ConvertElement<double>(out[at]);
    out[at] = ConvertElement<T>(value);
  };
  const auto pixel = [&](int64_t y, int64_t x, int64_t k) {
    return ConvertElement<double>(image[(y * columns.in + x) * channels + k]);
  };
  if (nearest) {
    const auto source = [](const ResizedAxis& axis, int64_t i) {
      return std::min(static_cast<int64_t>(axis.step * static_cast<double>(i)), axis.in - 1);
    };
    for (int64_t x = 0; x < columns.out; ++x) {
      for (int64_t k = 0; k < channels; ++k) {
        store(x * channels + k, pixel(source(rows, row), source(columns, x), k));
      }
    }
    return;
  }
  const double y = rows.Position(row);
  const auto top = static_cast<int64_t>(y), bottom = std::min(top + 1, rows.in - 1);
  for (int64_t x = 0; x < columns.out; ++x) {
    const double at = columns.Position(x);
    const auto left = static_cast<int64_t>(at), right = std::min(left + 1, columns.in - 1);
    const double down = y - static_cast<double>(top), across = at - static_cast<double>(left);
    for (int64_t k = 0; k < channels; ++k) {
      const double upper = pixel(top, left, k) * (1 - across) + pixel(top, right, k) * across;
      const double lower = pixel(bottom, left, k) * (1 - across) + pixel(bottom, right, k) * across;
      store(x * channels + k, upper * (1 - down) + lower * down);
    }
  }
}

absl::Status ResizeCpu(const KernelContext& c) {
  const ArrayView& data = c.inputs[0];
  const ArrayView& output = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || output.size() == 0) return absl::OkStatus();
  if (data.size() == 0) return absl::InvalidArgumentError("an image without pixels");
  const int rank = data.shape.rank();
  const ResizedAxis rows = AxisOf(data.shape[rank - 3], output.shape[rank - 3]);
  const ResizedAxis columns = AxisOf(data.shape[rank - 2], output.shape[rank - 2]);
  const int64_t channels = data.shape[rank - 1];
  const bool nearest = c.param<ImageResizeParam>().interp == ImageResizeParam::kNearest;
  DispatchDType(data.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t images = output.shape.Product(0, rank - 3);
    const int64_t row_size = columns.out * channels;
    ParallelForPlain(images * rows.out, RowGrain(4 * row_size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* const image = data.as<T>() + i / rows.out * rows.in * columns.in * channels;
        ResizeRow(rows, columns, channels, nearest, i % rows.out, image,
                  c.reqs[0] == WriteReq::kAdd, output.as<T>() + i * row_size);
      }
    });
  });
  return absl::OkStatus();
}

[[maybe_unused]] const bool kRegistered = Movement::Register(DeviceType::kCpu);

constexpr DeviceType kCpu = DeviceType::kCpu;
const KernelRegistrar kKernels[] = {
    {"_image_resize", kCpu, kAnyDType, ResizeCpu},
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
