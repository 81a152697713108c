#include "executor/kernels/convolution/cudnn_convolution.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cooper {

CudnnConvolution CudnnConvolution::Of(ConvolutionPass pass, DType dtype,
                                      const ConvolutionProduct& p) {
  const WindowGeometry& g = p.g;
  CudnnConvolution c;
  c.pass = pass;
  c.dtype = dtype;
  c.alignment = SizeOf(dtype);
  c.image = {p.batch, p.groups * g.channels};
  c.weight = {p.groups * p.filters, g.channels};
  c.map = {p.batch, p.groups * p.filters};
  // Omits the first of three axes if it is trivial: cuDNN has more plans for two axes.
  const bool flat = g.in[0] == 1 && g.out[0] == 1 && g.kernel[0] == 1 && g.pad[0] == 0;
  for (int axis = flat ? 1 : 0; axis < 3; ++axis) {
    c.image.push_back(g.in[axis]);
    c.weight.push_back(g.kernel[axis]);
    c.map.push_back(g.out[axis]);
    c.pad.push_back(g.pad[axis]);
    c.stride.push_back(g.stride[axis]);
    c.dilate.push_back(g.dilate[axis]);
  }
  return c;
}

std::string CudnnConvolution::ToString() const {
  const auto tuple = [](const std::vector<int64_t>& values) {
    return absl::StrCat("(", absl::StrJoin(values, ", "), ")");
  };
  const char* name = pass == ConvolutionPass::kForward        ? "forward"
                     : pass == ConvolutionPass::kDataGradient ? "data gradient"
                                                              : "weight gradient";
  return absl::StrCat(name, " of ", DTypeName(dtype), " image ", tuple(image), ", weight ",
                      tuple(weight), ", map ", tuple(map), ", pad ", tuple(pad), ", stride ",
                      tuple(stride), ", dilate ", tuple(dilate), ", at multiples of ", alignment,
                      " bytes");
}

}  // namespace cooper
