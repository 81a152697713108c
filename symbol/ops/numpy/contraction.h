#ifndef COOPER_SYMBOL_OPS_NUMPY_CONTRACTION_H_
#define COOPER_SYMBOL_OPS_NUMPY_CONTRACTION_H_

// Products of arrays as sums over labels of axes, in the way of einsum: dot, matmul, tensordot and
// einsum differ only in how they label the axes. Schemas (products.cc) and kernels
// (executor/kernels/numpy/contraction_plan.h) share the labels.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/base/partial_shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// The labels of the axes of an array. Axes with one label have one extent. kNoLabel is an axis of
// extent 1 that is broadcast.
using AxisLabels = std::vector<int>;
inline constexpr int kNoLabel = -1;

// output[...] = the sum over all labels that are not in the output of the product of the operands.
struct Contraction {
  std::vector<AxisLabels> operands;
  AxisLabels output;

  // Returns the contraction that computes the gradient of operand `i` from the head gradient, which
  // is its operand 0, and the other operands in their order.
  Contraction GradientOf(size_t i) const;
};

// Parameters of _npi_tensordot: the axes of a and of b that are summed, in pairs.
struct TensordotParam {
  std::vector<int64_t> a_axes_summed;
  std::vector<int64_t> b_axes_summed;

  static void Declare(ParamDeclaration<TensordotParam>& d) {
    d.Field("a_axes_summed", &TensordotParam::a_axes_summed).Required().Doc("axes of a");
    d.Field("b_axes_summed", &TensordotParam::b_axes_summed)
        .Required()
        .Doc("axes of b, as many as of a");
  }
};

// Parameters of _npi_tensordot_int_axes: the last `axes` axes of a and the first ones of b are
// summed.
struct TensordotIntAxesParam {
  int axes = 0;

  static void Declare(ParamDeclaration<TensordotIntAxesParam>& d) {
    d.Field("axes", &TensordotIntAxesParam::axes)
        .Required()
        .Min(0)
        .Doc("number of axes of a and b that are summed");
  }
};

// Parameters of _npi_einsum, in NumPy's notation: letters, "..." and "->". `optimize` has no
// effect: operands are multiplied two at a time in their order.
struct EinsumParam {
  int num_args = 0;
  std::string subscripts;
  int optimize = 0;

  static void Declare(ParamDeclaration<EinsumParam>& d) {
    d.Field("num_args", &EinsumParam::num_args).Required().Min(1).Doc("number of inputs");
    d.Field("subscripts", &EinsumParam::subscripts)
        .Doc("letters of the axes of each input, and of the output behind ->");
    d.Field("optimize", &EinsumParam::optimize).Doc("has no effect");
  }
};

// Return the labels for inputs of these shapes, whose ranks must be known. Fail with
// kInvalidArgument if the ranks do not fit, and for wrong subscripts or axes. Extents are not
// compared, but those of 1 decide what is broadcast.
using Shapes = absl::Span<const PartialShape>;
absl::StatusOr<Contraction> DotLabels(Shapes shapes);
absl::StatusOr<Contraction> MatmulLabels(Shapes shapes);
absl::StatusOr<Contraction> TensordotLabels(const TensordotParam& param, Shapes shapes);
absl::StatusOr<Contraction> TensordotLabels(const TensordotIntAxesParam& param, Shapes shapes);
absl::StatusOr<Contraction> EinsumLabels(const EinsumParam& param, Shapes shapes);

// Returns the output's shape. Fails with kInvalidArgument, naming operands by number, if axes with
// one label have different extents.
absl::StatusOr<PartialShape> ContractedShape(const Contraction& contraction, Shapes shapes);

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_NUMPY_CONTRACTION_H_
