#include "module/onnx/onnx_file.h"

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "module/onnx/wire_message.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Numbers of fields and values of enumerations in onnx.proto, by message.
namespace model_proto {
constexpr int kIrVersion = 1, kProducerName = 2, kGraph = 7, kOpsetImport = 8;
}
namespace opset_proto {
constexpr int kDomain = 1, kVersion = 2;
}
namespace graph_proto {
constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12, kValueInfo = 13;
}
namespace node_proto {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOpType = 4, kAttribute = 5;
}
namespace attribute_proto {
constexpr int kName = 1, kF = 2, kI = 3, kS = 4, kInts = 8, kStrings = 9, kType = 20;
constexpr int kTypeFloat = 1, kTypeInt = 2, kTypeString = 3, kTypeInts = 7, kTypeStrings = 8;
}  // namespace attribute_proto
namespace tensor_proto {
constexpr int kDims = 1, kDataType = 2, kName = 8, kRawData = 9;
}
namespace value_info_proto {
constexpr int kName = 1, kType = 2;
}
namespace type_proto {
constexpr int kTensorType = 1;               // of TypeProto
constexpr int kElemType = 1, kShape = 2;     // of TypeProto.Tensor
constexpr int kDim = 1;                      // of TensorShapeProto
constexpr int kDimValue = 1, kDimParam = 2;  // of TensorShapeProto.Dimension
}  // namespace type_proto

// The version of the file format: 8 came with opset 17; readers of opset 13 know 7.
constexpr int IrVersion(int opset) { return opset >= 15 ? 8 : 7; }

WireMessage MessageOf(const std::string& name, const OnnxAttrValue& value) {
  namespace field = attribute_proto;
  WireMessage message;
  message.AddBytes(field::kName, name);
  int type = 0;
  if (const auto* i = std::get_if<int64_t>(&value)) {
    message.AddInt(field::kI, *i);
    type = field::kTypeInt;
  } else if (const auto* f = std::get_if<float>(&value)) {
    message.AddFloat(field::kF, *f);
    type = field::kTypeFloat;
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    message.AddBytes(field::kS, *s);
    type = field::kTypeString;
  } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
    // Not packed: the specification has proto2's default.
    for (int64_t element : *ints) message.AddInt(field::kInts, element);
    type = field::kTypeInts;
  } else {
    for (const std::string& element : std::get<std::vector<std::string>>(value)) {
      message.AddBytes(field::kStrings, element);
    }
    type = field::kTypeStrings;
  }
  message.AddInt(field::kType, type);
  return message;
}

WireMessage MessageOf(const OnnxNode& node) {
  namespace field = node_proto;
  WireMessage message;
  for (const std::string& input : node.inputs) message.AddBytes(field::kInput, input);
  for (const std::string& output : node.outputs) message.AddBytes(field::kOutput, output);
  message.AddBytes(field::kName, node.name);
  message.AddBytes(field::kOpType, node.op_type);
  for (const auto& [name, value] : node.attrs) {
    message.AddMessage(field::kAttribute, MessageOf(name, value));
  }
  return message;
}

WireMessage MessageOf(const OnnxTensor& tensor) {
  namespace field = tensor_proto;
  WireMessage message;
  for (int64_t extent : tensor.array.shape()) message.AddInt(field::kDims, extent);
  message.AddInt(field::kDataType, OnnxDataType(tensor.array.dtype()));
  message.AddBytes(field::kName, tensor.name);
  message.AddLargeBytes(field::kRawData, {static_cast<const char*>(tensor.array.raw_data()),
                                          static_cast<size_t>(tensor.array.size_bytes())});
  return message;
}

WireMessage MessageOf(const OnnxValueInfo& value) {
  namespace field = type_proto;
  WireMessage shape;
  for (const OnnxDim& dim : value.dims) {
    WireMessage extent;
    if (!dim.symbol.empty()) {
      extent.AddBytes(field::kDimParam, dim.symbol);
    } else if (dim.extent >= 0) {
      extent.AddInt(field::kDimValue, dim.extent);
    }
    shape.AddMessage(field::kDim, std::move(extent));
  }
  WireMessage tensor;
  tensor.AddInt(field::kElemType, OnnxDataType(value.dtype));
  tensor.AddMessage(field::kShape, std::move(shape));
  WireMessage type;
  type.AddMessage(field::kTensorType, std::move(tensor));
  WireMessage message;
  message.AddBytes(value_info_proto::kName, value.name);
  message.AddMessage(value_info_proto::kType, std::move(type));
  return message;
}

template <typename T>
void AddAll(int field, const std::vector<T>& parts, WireMessage& message) {
  for (const T& part : parts) message.AddMessage(field, MessageOf(part));
}

WireMessage MessageOf(const OnnxModel& model) {
  WireMessage graph;
  AddAll(graph_proto::kNode, model.nodes, graph);
  graph.AddBytes(graph_proto::kName, model.graph_name);
  AddAll(graph_proto::kInitializer, model.initializers, graph);
  AddAll(graph_proto::kInput, model.inputs, graph);
  AddAll(graph_proto::kOutput, model.outputs, graph);
  AddAll(graph_proto::kValueInfo, model.inner_values, graph);
  WireMessage opset;
  opset.AddBytes(opset_proto::kDomain, "");
  opset.AddInt(opset_proto::kVersion, model.opset);
  WireMessage message;
  message.AddInt(model_proto::kIrVersion, IrVersion(model.opset));
  message.AddBytes(model_proto::kProducerName, "cooper");
  message.AddMessage(model_proto::kGraph, std::move(graph));
  message.AddMessage(model_proto::kOpsetImport, std::move(opset));
  return message;
}

}  // namespace

absl::Status WriteOnnxModel(const OnnxModel& model, const std::string& path) {
  const WireMessage message = MessageOf(model);
  if (message.size() > std::numeric_limits<int32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the model has ", message.size(),
                     " bytes, expected less than 2 GiB, the limit of protobuf and so of an ONNX "
                     "file; smaller dtypes of its parameters would help"));
  }
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(
      message.Write([&file](absl::string_view bytes) { return file.Append(bytes); }));
  return file.Commit();
}

}  // namespace cooper
