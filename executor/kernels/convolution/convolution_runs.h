#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_

// Runs of the kernels of convolutions and similar operators (executor/kernels/launch/run_kernel.h),
// for tests. Inputs are small integers, whose sums are exact in any order, so that tests can
// compare cuDNN, composed products and the CPU bit by bit.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/kernels/launch/run_kernel.h"
#include "executor/program/kernel.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/param_schema.h"

namespace cooper {

// One row of a table of tests: an operator with the shape of its data.
//
//   {"Strided", "Convolution", {2, 3, 9, 9}, "kernel=(3,3) stride=(2,2) num_filter=8"}
struct ConvolutionCase {
  std::string name;  // names the case in messages of failures
  std::string op;
  Shape data;         // the shapes of the other arrays are inferred from it
  std::string attrs;  // the operator's parameters: NAME=VALUE, separated by spaces
};

// Returns the parameters of the case.
AttrMap AttrsOf(const ConvolutionCase& test);

// Returns the case, dtype and request in words, for messages of failures.
std::string Describe(const ConvolutionCase& test, DType dtype, WriteReq req);

// Returns an array of the CPU with integers in [-magnitude, magnitude], where `magnitude` is a
// whole number. Equal seeds give equal numbers in every dtype that can represent them.
NDArray Integers(const Shape& shape, DType dtype, uint64_t seed, double magnitude = 4);

// The shapes of a node's inputs, data first, and of its output.
struct NodeShapes {
  std::vector<Shape> inputs;
  Shape output;
};
// Infers the shapes of the node. Crashes if the case is not valid.
NodeShapes ShapesOf(const ConvolutionCase& test);

// Return a run of the operator, or of its gradient with the same data and weight, with `req` for
// every output. Equal arguments give equal arrays. The arrays of outputs have contents too, to
// which kAdd adds. The inputs of the gradient are the output's gradient and, for operators with a
// weight, the data and the weight.
KernelRun ForwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);
KernelRun BackwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude = 4);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CONVOLUTION_RUNS_H_
