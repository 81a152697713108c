// FLOPs of matrix products.

#include "ndarray/base/shape.h"
#include "symbol/ops/linalg/dot_param.h"
#include "symbol/ops/linalg/la_param.h"
#include "symbol/schema/op_flops.h"

namespace cooper {
namespace {

// Returns the FLOPs of a product whose output elements are sums over an axis of the left factor.
double SumFlops(const Shape& output, const Shape& left, int summed) {
  return 2 * static_cast<double>(output.num_elements()) * static_cast<double>(left[summed]);
}

double DotFlops(const OpWork& work, const Shape& output, const Shape& lhs) {
  return SumFlops(output, lhs, work.param<DotParam>().transpose_a ? 0 : lhs.rank() - 1);
}
double BatchDotFlops(const OpWork& work, const Shape& output, const Shape& lhs) {
  return SumFlops(output, lhs, lhs.rank() - (work.param<DotParam>().transpose_a ? 2 : 1));
}

COOPER_OP_FLOPS(dot, [](const OpWork& work) {
  return DotFlops(work, work.outputs[0], work.inputs[DotArrays::kLhs]);
});
COOPER_OP_FLOPS(_backward_dot, [](const OpWork& work) {
  using Arrays = DotGradientArrays;
  return work.Wanted(0, 2) * DotFlops(work, work.inputs[Arrays::kOgrad], work.inputs[Arrays::kLhs]);
});
COOPER_OP_FLOPS(batch_dot, [](const OpWork& work) {
  return BatchDotFlops(work, work.outputs[0], work.inputs[DotArrays::kLhs]);
});
COOPER_OP_FLOPS(_backward_batch_dot, [](const OpWork& work) {
  using Arrays = DotGradientArrays;
  return work.Wanted(0, 2) *
         BatchDotFlops(work, work.inputs[Arrays::kOgrad], work.inputs[Arrays::kLhs]);
});

// Returns the FLOPs of linalg_gemm or linalg_gemm2. Their gradients are nodes of linalg_gemm2,
// which this rule counts too.
template <typename Param>
double GemmFlops(const OpWork& work) {
  const Shape& a = work.inputs[LaProductArrays::kA];
  const auto& param = work.param<Param>();
  const int rows = param.axis < 0 ? param.axis + a.rank() : param.axis;
  return SumFlops(work.outputs[0], a, param.transpose_a ? rows : a.rank() - 1);
}

COOPER_OP_FLOPS(_linalg_gemm, GemmFlops<LaGemmParam>);
COOPER_OP_FLOPS(_linalg_gemm2, GemmFlops<LaGemm2Param>);
COOPER_OP_FLOPS(_linalg_syrk, [](const OpWork& work) {
  const Shape& output = work.outputs[0];
  return 2 * work.input_size(0) * static_cast<double>(output[output.rank() - 1]);
});

// A triangle has half the elements of a square.
double TriangularFlops(const Shape& a, const Shape& b) {
  return static_cast<double>(b.num_elements()) * static_cast<double>(a[a.rank() - 1]);
}
double TriangularForward(const OpWork& work) {
  return TriangularFlops(work.inputs[LaProductArrays::kA], work.inputs[LaProductArrays::kB]);
}
double TriangularBackward(const OpWork& work) {
  using Arrays = LaTriangularGradientArrays;
  return work.Wanted(0, 2) * TriangularFlops(work.inputs[Arrays::kA], work.inputs[Arrays::kOgrad]);
}

COOPER_OP_FLOPS(_linalg_trmm, TriangularForward);
COOPER_OP_FLOPS(_linalg_trsm, TriangularForward);
COOPER_OP_FLOPS(_backward_linalg_trmm, TriangularBackward);
COOPER_OP_FLOPS(_backward_linalg_trsm, TriangularBackward);

// LU factors take 2/3 n^3 FLOPs, a solution 2 n^2 for each right side. The gradient of A is a
// product of n^2 sums over the right sides.
double SolveFlops(const Shape& a, const Shape& b) {
  const auto n = static_cast<double>(a[a.rank() - 1]);
  return 2 * n *
         (static_cast<double>(a.num_elements()) / 3 + static_cast<double>(b.num_elements()));
}
COOPER_OP_FLOPS(_linalg_solve, [](const OpWork& work) {
  return SolveFlops(work.inputs[LaProductArrays::kA], work.inputs[LaProductArrays::kB]);
});
COOPER_OP_FLOPS(_backward_linalg_solve, [](const OpWork& work) {
  using Arrays = LaTriangularGradientArrays;
  const Shape &a = work.inputs[Arrays::kA], &head = work.inputs[Arrays::kOgrad];
  return SolveFlops(a, head) + work.Wanted(Arrays::kAGrad, 1) * SumFlops(head, a, a.rank() - 1);
});

}  // namespace
}  // namespace cooper
