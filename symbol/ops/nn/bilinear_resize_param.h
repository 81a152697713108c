#ifndef COOPER_SYMBOL_OPS_NN_BILINEAR_RESIZE_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_BILINEAR_RESIZE_PARAM_H_

// Arrays and parameters of _contrib_BilinearResize2D, which resizes images to another height and
// width. The schema is in bilinear_resize.cc, the positions of pixels in
// executor/kernels/resample/resized_axis.h. MXNet: src/operator/contrib/bilinear_resize.cc.

#include <cstdint>
#include <optional>

#include "symbol/schema/param_schema.h"

namespace cooper {

// Inputs: data and like, (batch_size, channels, height, width). The output has the batch size and
// the channels of data. Only the shape of like is used; its dtype is free.
struct BilinearResizeArrays {
  enum Input { kData, kLike };  // like only in mode like
};
// The gradient adds ograd to the neighbours of each output pixel with their weights. like has no
// gradient.
struct BilinearResizeGradientArrays {
  enum Input { kOgrad };
};

// The source of the output's height and width.
enum class ResizeMode {
  kSize,      // scale_height and scale_width if scale_height is given, else height and width
  kOddScale,  // the scales; an odd extent e becomes (e - 1) * scale + 1
  kLike,      // the second input
  // The input's extent, minus or plus one pixel if it does not have the wanted parity.
  kToEvenDown,
  kToEvenUp,
  kToOddDown,
  kToOddUp,
};

// Output pixel o interpolates the neighbours of its position in data linearly along each axis: o *
// (h - 1) / (height - 1) with align_corners, else (o + 1/2) * h / height - 1/2, limited to [0, h -
// 1]. Sizes that become less than 1 fail with kInvalidArgument in shape inference.
struct BilinearResizeParam {
  int64_t height = 1;
  int64_t width = 1;
  // Factors of data's extents. The product is computed in float and loses its fraction, as in
  // MXNet. Both or none must be set in mode size, both in odd_scale.
  std::optional<double> scale_height;
  std::optional<double> scale_width;
  ResizeMode mode = ResizeMode::kSize;
  bool align_corners = true;

  static void Declare(ParamDeclaration<BilinearResizeParam>& d) {
    using P = BilinearResizeParam;
    d.Field("height", &P::height).Min(1).Doc("height of the output in mode size without scales");
    d.Field("width", &P::width).Min(1).Doc("width of the output in mode size without scales");
    d.Field("scale_height", &P::scale_height)
        .Doc("height of the output by that of data, in modes size and odd_scale");
    d.Field("scale_width", &P::scale_width)
        .Doc("width of the output by that of data, in modes size and odd_scale");
    d.Enum("mode", &P::mode,
           {{"size", ResizeMode::kSize},
            {"odd_scale", ResizeMode::kOddScale},
            {"like", ResizeMode::kLike},
            {"to_even_down", ResizeMode::kToEvenDown},
            {"to_even_up", ResizeMode::kToEvenUp},
            {"to_odd_down", ResizeMode::kToOddDown},
            {"to_odd_up", ResizeMode::kToOddUp}})
        .Doc("where the output's height and width come from");
    d.Field("align_corners", &P::align_corners)
        .Doc("whether the centres of the corner pixels stay in place, rather than their edges");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_BILINEAR_RESIZE_PARAM_H_
