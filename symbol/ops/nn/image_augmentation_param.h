#ifndef COOPER_SYMBOL_OPS_NN_IMAGE_AUGMENTATION_PARAM_H_
#define COOPER_SYMBOL_OPS_NN_IMAGE_AUGMENTATION_PARAM_H_

// Parameters of the operators that change images before a network: crops, flips, resizing, and
// changes of colours. The schemas are in image_augmentation.cc. Images are (height, width,
// channels); _image_crop and _image_resize also take batches of them. MXNet: src/operator/image.

#include <cstdint>
#include <vector>

#include "symbol/schema/param_schema.h"

namespace cooper {

// The part of `width` and `height` pixels whose left upper corner is (x, y). Shape inference fails
// with kInvalidArgument if it exceeds the image. The gradient writes ograd into zeros.
struct ImageCropParam {
  int64_t x = 0, y = 0;
  int64_t width = 0, height = 0;

  static void Declare(ParamDeclaration<ImageCropParam>& d) {
    d.Field("x", &ImageCropParam::x).Required().Min(0).Doc("first column");
    d.Field("y", &ImageCropParam::y).Required().Min(0).Doc("first row");
    d.Field("width", &ImageCropParam::width).Required().Min(1).Doc("number of columns");
    d.Field("height", &ImageCropParam::height).Required().Min(1).Doc("number of rows");
  }
};

// The new size is (width, height), or one number for both. With keep_ratio one number is the size
// of the shorter side. Edges of the images coincide; bilinear interpolation takes the four
// neighbours also where it shrinks an image, and integers are rounded.
struct ImageResizeParam {
  enum Interpolation : int { kNearest = 0, kBilinear = 1 };

  std::vector<int64_t> size;
  bool keep_ratio = false;
  int interp = kBilinear;

  static void Declare(ParamDeclaration<ImageResizeParam>& d) {
    d.Field("size", &ImageResizeParam::size).Doc("(width, height), or one number");
    d.Field("keep_ratio", &ImageResizeParam::keep_ratio)
        .Doc("whether one number is the size of the shorter side");
    d.Field("interp", &ImageResizeParam::interp)
        .Min(kNearest)
        .Max(kBilinear)
        .Doc("0: the nearest pixel, 1: bilinear");
  }
};

// A factor that is uniform in [min_factor, max_factor): of brightness (x * factor), contrast (x *
// factor + (1 - factor) * the mean grey), saturation (x * factor + (1 - factor) * grey, for which
// MXNet takes 0.114 times the last channel), or hue (turns the hue by the factor, 1 being a full
// turn).
struct ImageFactorParam {
  double min_factor = 0, max_factor = 0;

  static void Declare(ParamDeclaration<ImageFactorParam>& d) {
    d.Field("min_factor", &ImageFactorParam::min_factor).Required().Min(0).Doc("least factor");
    d.Field("max_factor", &ImageFactorParam::max_factor).Required().Min(0).Doc("greatest factor");
  }
};

// Changes brightness, contrast, saturation and hue in a random order. Factors are uniform in [1 -
// x, 1 + x), for hue in [-x, x). A change of 0 is left out. Order and factors come from the node's
// random stream.
struct ImageJitterParam {
  double brightness = 0, contrast = 0, saturation = 0, hue = 0;

  static void Declare(ParamDeclaration<ImageJitterParam>& d) {
    d.Field("brightness", &ImageJitterParam::brightness).Required().Doc("change of brightness");
    d.Field("contrast", &ImageJitterParam::contrast).Required().Doc("change of contrast");
    d.Field("saturation", &ImageJitterParam::saturation).Required().Doc("change of saturation");
    d.Field("hue", &ImageJitterParam::hue).Required().Doc("change of hue");
  }
};

// Adds multiples of the principal components of ImageNet's colours (AlexNet).
struct ImageLightingParam {
  std::vector<double> alpha;

  static void Declare(ParamDeclaration<ImageLightingParam>& d) {
    d.Field("alpha", &ImageLightingParam::alpha).Required().Doc("the three factors");
  }
};
// The same with three factors that are drawn for each image, normal with mean 0.
struct ImageRandomLightingParam {
  double alpha_std = 0.05;

  static void Declare(ParamDeclaration<ImageRandomLightingParam>& d) {
    d.Field("alpha_std", &ImageRandomLightingParam::alpha_std)
        .Doc("standard deviation of the factors, which are normal");
  }
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NN_IMAGE_AUGMENTATION_PARAM_H_
