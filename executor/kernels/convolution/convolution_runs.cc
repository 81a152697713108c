#include "executor/kernels/convolution/convolution_runs.h"

#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/op.h"

namespace cooper {

AttrMap AttrsOf(const ConvolutionCase& test) {
  AttrMap attrs;
  for (const absl::string_view attr : absl::StrSplit(test.attrs, ' ')) {
    const std::pair<std::string, std::string> name_and_value =
        absl::StrSplit(attr, absl::MaxSplits('=', 1));
    attrs.insert(name_and_value);
  }
  return attrs;
}

std::string Describe(const ConvolutionCase& test, DType dtype, WriteReq req) {
  return absl::StrCat(test.name, " of ", DTypeName(dtype), ", request ", static_cast<int>(req));
}

NDArray Integers(const Shape& shape, DType dtype, uint64_t seed, double magnitude) {
  const NDArray array = RandomArray(shape, DType::kFloat64, magnitude, seed);
  auto* data = static_cast<double*>(array.raw_data());
  for (int64_t i = 0; i < shape.num_elements(); ++i) data[i] = std::round(data[i]);
  return *array.AsType(dtype);
}

NodeShapes ShapesOf(const ConvolutionCase& test) {
  OpArgs args{.inputs = {Symbol::Variable("data")}, .attrs = AttrsOf(test)};
  const Symbol symbol = *Symbol::Create(test.op, args);
  const InferredShapes shapes = *InferShape(symbol, {{"data", PartialShape(test.data)}});
  NodeShapes result;
  for (const PartialShape& shape : shapes.args) result.inputs.push_back(shape.ToShape());
  result.output = shapes.outputs[0].ToShape();
  return result;
}

KernelRun ForwardRun(const ConvolutionCase& test, DType dtype, WriteReq req, double magnitude) {
  const NodeShapes shapes = ShapesOf(test);
  KernelRun run{.kernel = test.op, .call = *MakeOpCall(test.op, AttrsOf(test), 1)};
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
  KernelRun run{.kernel = gradient, .call = *MakeOpCall(gradient, AttrsOf(test), 1)};
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
