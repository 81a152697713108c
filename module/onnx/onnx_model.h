#ifndef COOPER_MODULE_ONNX_ONNX_MODEL_H_
#define COOPER_MODULE_ONNX_ONNX_MODEL_H_

// A model in the terms of ONNX (https://onnx.ai): a graph of operators of one opset, its weights,
// and its inputs and outputs. MakeOnnxModel (export_onnx.h) makes one of a network; WriteOnnxModel
// (onnx_file.h) writes it. Only what the exporter needs of ONNX is here.

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// A tensor with elements. The array is shared, not copied: a model of large weights costs no memory
// of their size.
struct OnnxTensor {
  std::string name;
  NDArray array;  // on a CPU
};

// The value of an attribute. The kind of the attribute follows from the alternative.
using OnnxAttrValue =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<std::string>>;
using OnnxAttrs = std::vector<std::pair<std::string, OnnxAttrValue>>;

// A call of an operator of the default domain. An empty input is an optional one that is absent; an
// empty output is not computed.
struct OnnxNode {
  std::string op_type;
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  OnnxAttrs attrs;
};

// One extent of a value: a number, or the text of a symbolic one ("batch", "batch*length"). An
// empty text and the extent -1 is an unknown extent.
struct OnnxDim {
  std::string symbol;
  int64_t extent = -1;
};

// The name, dtype and shape of a value.
struct OnnxValueInfo {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<OnnxDim> dims;
};

// A whole model. Nodes come after the nodes that they read. inner_values are shapes of values
// between nodes, for readers that do not infer shapes. graph_name may be any text. A plain value:
// nothing checks it until WriteOnnxModel.
struct OnnxModel {
  int opset = 17;
  std::string graph_name;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValueInfo> inputs;
  std::vector<OnnxValueInfo> outputs;
  std::vector<OnnxValueInfo> inner_values;
};

// ONNX's number of a dtype (TensorProto.DataType).
int32_t OnnxDataType(DType dtype);

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_ONNX_MODEL_H_
