#include "executor/kernels/convolution/convolution_runs.h"

#include <cmath>

#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

NDArray Integers(const Shape& shape, DType dtype, uint64_t seed, double magnitude) {
  const NDArray array = RandomArray(shape, DType::kFloat64, magnitude, seed);
  auto* data = static_cast<double*>(array.raw_data());
  for (int64_t i = 0; i < shape.num_elements(); ++i) data[i] = std::round(data[i]);
  return *array.AsType(dtype);
}

NodeShapes ShapesOf(const ConvolutionCase& test) {
  OpArgs args{.inputs = {Symbol::Variable("data")}, .attrs = test.attrs};
  const Symbol symbol = *Symbol::Create(test.op, args);
  const InferredShapes shapes = *InferShape(symbol, {{"data", PartialShape(test.data)}});
  NodeShapes result;
  for (const PartialShape& shape : shapes.args) result.inputs.push_back(shape.ToShape());
  result.output = shapes.outputs[0].ToShape();
  return result;
}

KernelRun ForwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude) {
  const NodeShapes shapes = ShapesOf(test);
  KernelRun run{.kernel = test.op, .call = *MakeOpCall(test.op, test.attrs, 1)};
  for (const Shape& shape : shapes.inputs) {
    run.inputs.push_back(Integers(shape, dtype, run.inputs.size(), magnitude));
  }
  run.outputs = {Integers(shapes.output, dtype, 10, magnitude)};
  run.reqs = {req};
  return run;
}

KernelRun BackwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude) {
  const NodeShapes shapes = ShapesOf(test);
  const std::string gradient = "_backward_" + test.op;
  KernelRun run{.kernel = gradient, .call = *MakeOpCall(gradient, test.attrs, 1)};
  // The gradient of the output; operators with a weight also take the data and the weight.
  run.inputs = {Integers(shapes.output, dtype, 20, magnitude)};
  for (size_t i = 0; shapes.inputs.size() > 1 && i < 2; ++i) {
    run.inputs.push_back(Integers(shapes.inputs[i], dtype, i, magnitude));
  }
  for (const Shape& shape : shapes.inputs) {
    run.outputs.push_back(Integers(shape, dtype, 30 + run.outputs.size(), magnitude));
  }
  run.reqs.assign(run.outputs.size(), req);
  return run;
}

}  // namespace cooper
