// im2col and col2im: convert the windows of an image to the columns of a matrix, and back. Each is
// the other's gradient. MXNet: src/operator/nn/im2col.cc.
//
// image (batch_size, channels, spatial...), columns (batch_size, channels * kernel elements, window
// positions).

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/im2col_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

absl::Status CheckParam(const Im2colParam& param) {
  if (param.kernel.empty() || param.kernel.size() > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel has ", param.kernel.size(), " values, expected 1, 2 or 3"));
  }
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("kernel", param.kernel, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("stride", param.stride, param.kernel, 1));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("dilate", param.dilate, param.kernel, 1));
  return CheckWindowTuple("pad", param.pad, param.kernel, 0);
}

// Returns the number of window positions over spatial extents, or kUnknownDim.
absl::StatusOr<int64_t> Positions(const Im2colParam& param, absl::Span<const int64_t> extents) {
  int64_t positions = 1;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] == kUnknownDim) return kUnknownDim;
    const int axis = static_cast<int>(i);
    const int64_t padded = ExtentSum(extents[i], 2 * WindowValue(param.pad, axis, 0));
    const int64_t reach = DilatedExtent(param.kernel[i], WindowValue(param.dilate, axis, 1));
    if (reach > padded) {
      return absl::InvalidArgumentError(absl::StrCat("the kernel reaches over ", reach,
                                                     " elements of spatial axis ", i,
                                                     ", which has ", padded, " with its padding"));
    }
    positions = ExtentProduct(positions, (padded - reach) / WindowValue(param.stride, axis, 1) + 1);
  }
  return positions;
}

int64_t KernelElements(const Im2colParam& param) {
  int64_t n = 1;
  for (int64_t extent : param.kernel) n = ExtentProduct(n, extent);
  return n;
}

absl::Status Im2colShape(ShapeContext& c) {
  const auto& param = c.param<Im2colParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  const PartialShape& image = c.input(0);
  if (!image.rank_known()) return absl::OkStatus();
  const int spatial = static_cast<int>(param.kernel.size());
  COOPER_RETURN_IF_ERROR(
      c.SetInput(0, PartialShape::OfRank(spatial + 2), "(batch_size, channels, spatial...)"));
  COOPER_ASSIGN_OR_RETURN(int64_t positions, Positions(param, image.dims().subspan(2)));
  return c.SetOutput(0, {image[0], ExtentProduct(image[1], KernelElements(param)), positions});
}

absl::Status Col2imShape(ShapeContext& c) {
  const auto& param = c.param<Col2imParam>();
  COOPER_RETURN_IF_ERROR(CheckParam(param));
  COOPER_RETURN_IF_ERROR(CheckWindowTuple("output_size", param.output_size, param.kernel, 1));
  if (!c.input(0).rank_known()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(int64_t positions, Positions(param, param.output_size));
  COOPER_RETURN_IF_ERROR(c.SetInput(0, {kUnknownDim, kUnknownDim, positions},
                                    "(batch_size, channels * kernel elements, positions)"));
  const PartialShape& columns = c.input(0);
  const int64_t elements = KernelElements(param);
  if (columns.dim_known(1) && columns[1] % elements != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the ", elements,
                                                   " kernel elements do not divide axis 1 of "
                                                   "input 'data' ",
                                                   columns.ToString()));
  }
  PartialShape image = PartialShape::OfRank(static_cast<int>(param.kernel.size()) + 2);
  image[0] = columns[0];
  if (columns.dim_known(1)) image[1] = columns[1] / elements;
  for (size_t i = 0; i < param.output_size.size(); ++i) {
    image[static_cast<int>(i) + 2] = param.output_size[i];
  }
  return c.SetOutput(0, image);
}

absl::StatusOr<std::vector<NodeEntry>> Gradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  return c.Backward(absl::StrCat("_backward_", c.call().op->name()), {head});
}

template <typename Param>
OpBuilder Backward(const char* name) {
  return OpBuilder(name)
      .Describe("Gradient with respect to data.")
      .Param<Param>()
      .Inputs({"ograd"})
      .Outputs({"data"})
      .Shape(GradientShape)
      .Type(GradientType);
}

const OpRegistrar kRegistrars[] = {
    OpBuilder("im2col")
        .Describe("The elements under each position of a window as a column.")
        .Param<Im2colParam>()
        .Inputs({"data"})
        .Shape(Im2colShape)
        .Type(SameType)
        .Gradient(Gradient),
    Backward<Im2colParam>("_backward_im2col"),
    OpBuilder("col2im")
        .Describe("Columns added up where im2col would take them from.")
        .Param<Col2imParam>()
        .Inputs({"data"})
        .Shape(Col2imShape)
        .Type(SameType)
        .Gradient(Gradient),
    Backward<Col2imParam>("_backward_col2im"),
};

COOPER_OP_EXAMPLE(col2im, {{"kernel", "(2, 2)"}, {"output_size", "(3, 4)"}}, {{2, 12, 6}});

}  // namespace
}  // namespace cooper
