#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_

// Runs of the kernels of convolutions and the like (executor/kernels/launch/run_kernel.h), for
// tests: over small integers, whose sums are exact in any order.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/op.h"

namespace cooper {

struct ConvolutionCase {
  std::string name;
  std::string op;
  Shape data;
  AttrMap attrs;
};

// On the CPU, of at most `magnitude` either way; the same ones in every dtype that has them.
NDArray Integers(const Shape& shape, DType dtype, uint64_t seed, double magnitude = 4);

// Shapes of the node's inputs and of its output.
struct NodeShapes {
  std::vector<Shape> inputs;
  Shape output;
};
NodeShapes ShapesOf(const ConvolutionCase& test);

// Of the operator, and of its gradient with the same data and weight, with `req` for every output.
// Of equal arguments the arrays are equal.
KernelRun ForwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);
KernelRun BackwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
