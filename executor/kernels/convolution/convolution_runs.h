#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_

// Runs of the kernels of convolutions and similar operators (executor/kernels/launch/run_kernel.h),
// for tests. Inputs are small integers, whose sums are exact in any order.

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

// One row of a table of tests: an operator with the shape of its data.
struct ConvolutionCase {
  std::string name;
  std::string op;
  Shape data;
  AttrMap attrs;
};

// Returns an array of the CPU with integers in [-magnitude, magnitude]. Equal seeds give equal
// numbers in every dtype that can represent them.
NDArray Integers(const Shape& shape, DType dtype, uint64_t seed, double magnitude = 4);

// The shapes of a node's inputs and of its output.
struct NodeShapes {
  std::vector<Shape> inputs;
  Shape output;
};
NodeShapes ShapesOf(const ConvolutionCase& test);

// Return a run of the operator, or of its gradient with the same data and weight, with `req` for
// every output. Equal arguments give equal arrays.
KernelRun ForwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);
KernelRun BackwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
