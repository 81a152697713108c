// Operators that resize images.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/bilinear_resize_param.h"
#include "symbol/ops/nn/upsampling_param.h"

namespace cooper {
namespace {

// Returns image `i` with the height and width of the output.
absl::StatusOr<std::string> Resize(NodeExport& c, int i, OnnxAttrs attrs) {
  SymbolicShape shape = c.out_shape();
  shape[1] = c.shape(i)[1];
  COOPER_ASSIGN_OR_RETURN(const std::string size, c.ShapeValue(shape));
  return c.Emit("Resize", {c.input(i), "", "", size}, std::move(attrs));
}

absl::Status ExportBilinearResize(NodeExport& c) {
  const bool align = c.param<BilinearResizeParam>().align_corners;
  COOPER_ASSIGN_OR_RETURN(std::string out,
                          Resize(c, BilinearResizeArrays::kData,
                                 {{"mode", std::string("linear")},
                                  {"coordinate_transformation_mode",
                                   std::string(align ? "align_corners" : "half_pixel")}}));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_contrib_BilinearResize2D, "Resize", ExportBilinearResize);

// A depthwise Deconvolution.
absl::Status BilinearUpSampling(NodeExport& c, const UpSamplingParam& param) {
  using enum BilinearUpSamplingArrays::Input;
  const Extent& channels = c.shape(kData)[1];
  if (!channels.is_number()) return c.Refuse("the channels must be a number");
  const int64_t pad = param.scale / 2;  // half of scale - 1, rounded up
  c.Return(c.Emit("ConvTranspose", {c.input(kData), c.input(kWeight)},
                  {{"kernel_shape", std::vector<int64_t>(2, param.kernel())},
                   {"strides", std::vector<int64_t>(2, param.scale)},
                   {"pads", std::vector<int64_t>(4, pad)},
                   {"group", channels.number()}}));
  return absl::OkStatus();
}

absl::Status ExportUpSampling(NodeExport& c) {
  const auto& param = c.param<UpSamplingParam>();
  if (param.sample_type == UpSamplingParam::kBilinear) return BilinearUpSampling(c, param);
  std::vector<std::string> images;
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_ASSIGN_OR_RETURN(images.emplace_back(),
                            Resize(c, i,
                                   {{"mode", std::string("nearest")},
                                    {"coordinate_transformation_mode", std::string("asymmetric")},
                                    {"nearest_mode", std::string("floor")}}));
  }
  if (images.size() == 1) {
    c.Return(images[0]);
  } else if (param.multi_input_mode == UpSamplingParam::kConcat) {
    c.Return(c.Emit("Concat", std::move(images), {{"axis", int64_t{1}}}));
  } else {
    c.Return(c.Emit("Sum", std::move(images)));
  }
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(UpSampling, "Resize, ConvTranspose", ExportUpSampling);

}  // namespace
}  // namespace cooper
