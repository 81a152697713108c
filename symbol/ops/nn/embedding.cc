// Looks up rows of a table. MXNet: src/operator/tensor/indexing_op.cc,
// src/operator/quantization/quantized_indexing_op.cc.

#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/embedding_param.h"
#include "symbol/ops/nn/quantize_param.h"
#include "symbol/ops/nn/quantized_rules.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using enum EmbeddingArrays::Input;

// Shape rule: data (...); weight (input_dim, output_dim); output (..., output_dim).
absl::Status EmbeddingShape(ShapeContext& c) {
  const auto& param = c.param<EmbeddingParam>();
  COOPER_RETURN_IF_ERROR(
      c.SetInput(kWeight, {param.input_dim, param.output_dim}, "(input_dim, output_dim)"));
  if (c.input(kData).rank_known()) {
    PartialShape output = PartialShape::OfRank(c.input(kData).rank() + 1);
    for (int i = 0; i < c.input(kData).rank(); ++i) output[i] = c.input(kData)[i];
    output[output.rank() - 1] = param.output_dim;
    COOPER_RETURN_IF_ERROR(c.SetOutput(0, output, "data's shape and output_dim"));
  }
  const PartialShape& output = c.output(0);
  if (!output.rank_known() || output.rank() == 0) return absl::OkStatus();
  return c.SetInput(kData, PartialShape(output.dims().first(output.rank() - 1)),
                    "output's shape without output_dim");
}

// Type rule: data may have any dtype: indices are often floats in MXNet. weight and output share
// one dtype.
absl::Status EmbeddingType(TypeContext& c) {
  TypeContext::Type type = c.input(kWeight);
  if (!type) type = c.output(0);
  if (!type) type = c.param<EmbeddingParam>().dtype;
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, type));
  return c.SetOutput(0, type);
}

absl::Status QuantizedEmbeddingShape(ShapeContext& c) {
  COOPER_RETURN_IF_ERROR(SetRangeShapes(c, QuantizedEmbeddingArrays::kMinWeight));
  return EmbeddingShape(c);
}

absl::Status QuantizedEmbeddingType(TypeContext& c) {
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, DType::kInt8));
  COOPER_RETURN_IF_ERROR(c.SetOutput(0, DType::kInt8));
  return SetRangeTypes(c, QuantizedEmbeddingArrays::kMinWeight);
}

absl::StatusOr<std::vector<NodeEntry>> EmbeddingGradient(GradientContext& c) {
  COOPER_ASSIGN_OR_RETURN(NodeEntry head, c.head(0));
  COOPER_ASSIGN_OR_RETURN(std::vector<NodeEntry> gradients,
                          c.Backward("_backward_Embedding", {head, c.input(kData)}));
  return std::vector<NodeEntry>{{}, gradients[0]};
}

absl::Status EmbeddingBackwardShape(ShapeContext& c) {
  if (c.num_forward_inputs() < 2) return absl::OkStatus();
  return c.SetOutput(0, c.forward_input(kWeight));
}

absl::Status EmbeddingBackwardType(TypeContext& c) {
  if (c.num_forward_inputs() < 2) return absl::OkStatus();
  return c.SetOutput(0, c.forward_input(kWeight));
}

COOPER_REGISTER_OP(Embedding)
    .Describe(
        "output[..., :] = weight[data[...], :]. Indices below 0 or beyond the table are clipped to "
        "its first or last row.")
    .Alias("_npx_embedding")
    .Alias("_sparse_Embedding")
    .Param<EmbeddingParam>()
    .Inputs({"data", "weight"})
    .Shape(EmbeddingShape)
    .Type(EmbeddingType)
    .Gradient(EmbeddingGradient)
    .Kind(OpKind::kLayer)
    .Summary([](AttrMap& params) {
      return absl::StrCat(params["input_dim"], "x", params["output_dim"]);
    });

COOPER_REGISTER_OP(_contrib_SparseEmbedding)
    .Describe("Embedding: in MXNet weight and its gradient are sparse, here they are dense.")
    .Param<SparseEmbeddingParam>()
    .Inputs({"data", "weight"})
    .Shape(EmbeddingShape)
    .Type(EmbeddingType)
    .Gradient(EmbeddingGradient)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_contrib_quantized_embedding)
    .Describe("Embedding with a weight of int8 integers, and the range of the output.")
    .Param<EmbeddingParam>()
    .Inputs({"data", "weight", "min_weight", "max_weight"})
    .Outputs({"output", "min_output", "max_output"})
    .Shape(QuantizedEmbeddingShape)
    .Type(QuantizedEmbeddingType)
    .Kind(OpKind::kLayer);

COOPER_REGISTER_OP(_backward_Embedding)
    .Describe("Gradient of Embedding with respect to weight: rows of ograd added up by index.")
    .Param<EmbeddingParam>()
    .Inputs({"ograd", "data"})
    .Outputs({"weight"})
    .Shape(EmbeddingBackwardShape)
    .Type(EmbeddingBackwardType);

COOPER_OP_EXAMPLE(_contrib_quantized_embedding, {{"input_dim", "5"}, {"output_dim", "4"}},
                  {{2, 3}, {5, 4}, {1}, {1}});

}  // namespace
}  // namespace cooper
