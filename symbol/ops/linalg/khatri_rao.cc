// The column-wise Kronecker product. MXNet: src/operator/contrib/krprod.cc.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_schema.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

struct KhatriRaoParam {
  int num_args = 0;

  static void Declare(ParamDeclaration<KhatriRaoParam>& d) {
    d.Field("num_args", &KhatriRaoParam::num_args).Required().Min(1).Doc("number of inputs");
  }
};

// Shape rule: inputs (n_i, columns), output (product of the n_i, columns).
absl::Status KhatriRaoShape(ShapeContext& c) {
  PartialShape common = {kUnknownDim, kUnknownDim};
  int64_t rows = 1;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < c.num_inputs(); ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, common, "(n, columns of the other inputs)"));
      common[1] = c.input(i)[1];
    }
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, common, "(rows, columns)"));
    common[1] = c.output(0)[1];
  }
  for (int i = 0; i < c.num_inputs() && rows != kUnknownDim; ++i) {
    rows = c.input(i).dim_known(0) ? ExtentProduct(rows, c.input(i)[0]) : kUnknownDim;
  }
  return c.SetOutput(0, {rows, common[1]}, "(product of the inputs' rows, columns)");
}

COOPER_REGISTER_OP(khatri_rao)
    .Describe("Column j is the Kronecker product of the inputs' columns j.")
    .Param<KhatriRaoParam>()
    .VariadicInputs("num_args")
    .Shape(KhatriRaoShape)
    .Type(SameType);

}  // namespace
}  // namespace cooper
