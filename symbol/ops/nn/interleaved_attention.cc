// The matrix products of multi-head attention. MXNet: src/operator/contrib/transformer.cc.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/interleaved_attention_param.h"
#include "symbol/schema/extent_product.h"
#include "symbol/schema/gradient_context.h"
#include "symbol/schema/op.h"
#include "symbol/schema/op_example.h"
#include "symbol/schema/shape_context.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

// The extents that occur in the shapes of a node.
struct Extents {
  int64_t heads;  // the parameter
  int64_t queries = kUnknownDim;
  int64_t keys = kUnknownDim;
  int64_t batch_size = kUnknownDim;
  int64_t head_dim = kUnknownDim;
};

// Keeps the first known value: a contradiction is reported when the shape is set.
void MergeExtent(int64_t value, int64_t& extent) {
  if (extent == kUnknownDim) extent = value;
}

absl::StatusOr<int64_t> Divide(const char* name, const PartialShape& shape, int axis,
                               int64_t divisor, const char* what) {
  if (!shape.dim_known(axis)) return kUnknownDim;
  if (shape[axis] % divisor == 0) return shape[axis] / divisor;
  return absl::InvalidArgumentError(
      absl::StrCat(name, " ", shape.ToString(), ": extent ", shape[axis], " of axis ", axis,
                   ", expected a multiple of ", divisor, " = ", what));
}

// The role of an input or output of a node.
struct Role {
  const char* name;
  bool is_output;
  int index;
  int parts;                 // 0: attention weights
  int64_t Extents::*length;  // of projections
  const char* layout;
};

constexpr Role Weights(const char* name, bool is_output, int index) {
  return {name, is_output, index, 0, nullptr, "(batch_size * heads, queries, keys)"};
}
constexpr Role SelfProjections(int index) {
  return {"queries_keys_values", false,          index,
          kSelfValues.count,     &Extents::keys, "(length, batch_size, heads * 3 * head_dim)"};
}
constexpr Role Keys(int index) {
  return {"keys_values",      false,          index,
          kValuesOfTwo.count, &Extents::keys, "(keys, batch_size, heads * 2 * head_dim)"};
}
// Returns the role of queries, or of the attended values, which have the same shape.
constexpr Role Queries(const char* name, bool is_output, int index) {
  return {name, is_output, index, 1, &Extents::queries, "(queries, batch_size, heads * head_dim)"};
}

absl::Status Read(ShapeContext& c, const Role& role, Extents& e) {
  const PartialShape any = PartialShape::OfRank(3);
  COOPER_RETURN_IF_ERROR(role.is_output ? c.SetOutput(role.index, any, role.layout)
                                        : c.SetInput(role.index, any, role.layout));
  const PartialShape& shape = role.is_output ? c.output(role.index) : c.input(role.index);
  if (role.parts == 0) {
    COOPER_ASSIGN_OR_RETURN(const int64_t batch_size,
                            Divide(role.name, shape, 0, e.heads, "heads"));
    MergeExtent(batch_size, e.batch_size);
    MergeExtent(shape[1], e.queries);
    MergeExtent(shape[2], e.keys);
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(const int64_t head_dim, Divide(role.name, shape, 2, e.heads * role.parts,
                                                         "heads * the parts of a head"));
  MergeExtent(head_dim, e.head_dim);
  MergeExtent(shape[0], e.*role.length);
  MergeExtent(shape[1], e.batch_size);
  return absl::OkStatus();
}

absl::Status Write(ShapeContext& c, const Role& role, const Extents& e) {
  PartialShape shape = {ExtentProduct(e.batch_size, e.heads), e.queries, e.keys};
  if (role.parts > 0) {
    shape = {e.*role.length, e.batch_size, ExtentProduct(e.head_dim, e.heads * role.parts)};
  }
  return role.is_output ? c.SetOutput(role.index, shape, role.layout)
                        : c.SetInput(role.index, shape, role.layout);
}

// Returns the shape rule of a node whose arrays have these roles. With `self` there are as many
// queries as keys.
OpSchema::ShapeFn AttentionShape(bool self, const std::vector<Role>& roles) {
  return [self, roles](ShapeContext& c) -> absl::Status {
    Extents e = {.heads = c.param<InterleavedAttentionParam>().heads};
    for (const Role& role : roles) COOPER_RETURN_IF_ERROR(Read(c, role, e));
    if (self) {
      MergeExtent(e.queries, e.keys);
      e.queries = e.keys;
    }
    for (const Role& role : roles) COOPER_RETURN_IF_ERROR(Write(c, role, e));
    return absl::OkStatus();
  };
}

// Returns a gradient rule whose backward operator has the head and all inputs.
OpSchema::GradientFn AttentionGradient(const std::string& backward) {
  return [backward](GradientContext& c) -> absl::StatusOr<std::vector<NodeEntry>> {
    COOPER_ASSIGN_OR_RETURN(const NodeEntry head, c.head(0));
    std::vector<NodeEntry> inputs = {head};
    for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.input(i));
    return c.Backward(backward, inputs);
  };
}

using P = InterleavedAttentionParam;

COOPER_REGISTER_OP(_contrib_interleaved_matmul_selfatt_qk)
    .Describe(
        "Scores of self-attention: for each head queries * keys^T / sqrt(head_dim). "
        "queries_keys_values is (T, N, heads x [q k v]): time steps first, and in the last axis "
        "head after head, each with its query, key and value of head_dim numbers. The output "
        "is (N * heads, T, T), rows of queries, the heads of a sample beside each other.")
    .Param<P>()
    .Inputs({"queries_keys_values"})
    .Shape(AttentionShape(/*self=*/true, {SelfProjections(SelfQkArrays::kQueriesKeysValues),
                                          Weights("output", /*is_output=*/true, 0)}))
    .Type(SameType)
    .Gradient(AttentionGradient("_backward_interleaved_matmul_selfatt_qk"))
    .Summary("heads");

COOPER_REGISTER_OP(_backward_interleaved_matmul_selfatt_qk)
    .Describe("Gradient of _contrib_interleaved_matmul_selfatt_qk.")
    .Param<P>()
    .Inputs({"ograd", "queries_keys_values"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(_contrib_interleaved_matmul_selfatt_valatt)
    .Describe(
        "What self-attention gives: for each head attention * values. queries_keys_values is "
        "(T, N, heads x [q k v]), as of interleaved_matmul_selfatt_qk, attention "
        "(N * heads, T, T), and the output (T, N, heads x [v]).")
    .Param<P>()
    .Inputs({"queries_keys_values", "attention"})
    .Shape(AttentionShape(
        /*self=*/true, {SelfProjections(SelfValuesArrays::kQueriesKeysValues),
                        Weights("attention", /*is_output=*/false, SelfValuesArrays::kAttention),
                        Queries("output", /*is_output=*/true, 0)}))
    .Type(SameType)
    .Gradient(AttentionGradient("_backward_interleaved_matmul_selfatt_valatt"))
    .Summary("heads");

COOPER_REGISTER_OP(_backward_interleaved_matmul_selfatt_valatt)
    .Describe("Gradient of _contrib_interleaved_matmul_selfatt_valatt.")
    .Param<P>()
    .Inputs({"ograd", "queries_keys_values", "attention"})
    .Outputs({"queries_keys_values", "attention"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(_contrib_interleaved_matmul_encdec_qk)
    .Describe(
        "Scores of attention to another sequence: for each head queries * keys^T / "
        "sqrt(head_dim). queries is (T_q, N, heads x [q]), keys_values "
        "(T, N, heads x [k v]): time steps first, and in the last axis head after head, each "
        "with its key and value of head_dim numbers. The output is (N * heads, T_q, T).")
    .Param<P>()
    .Inputs({"queries", "keys_values"})
    .Shape(AttentionShape(
        /*self=*/false,
        {Queries("queries", /*is_output=*/false, EncoderDecoderQkArrays::kQueries),
         Keys(EncoderDecoderQkArrays::kKeysValues), Weights("output", /*is_output=*/true, 0)}))
    .Type(SameType)
    .Gradient(AttentionGradient("_backward_interleaved_matmul_encdec_qk"))
    .Summary("heads");

COOPER_REGISTER_OP(_backward_interleaved_matmul_encdec_qk)
    .Describe("Gradient of _contrib_interleaved_matmul_encdec_qk.")
    .Param<P>()
    .Inputs({"ograd", "queries", "keys_values"})
    .Outputs({"queries", "keys_values"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_REGISTER_OP(_contrib_interleaved_matmul_encdec_valatt)
    .Describe(
        "What attention to another sequence gives: for each head attention * values. "
        "keys_values is (T, N, heads x [k v]), as of interleaved_matmul_encdec_qk, attention "
        "(N * heads, T_q, T), and the output (T_q, N, heads x [v]).")
    .Param<P>()
    .Inputs({"keys_values", "attention"})
    .Shape(AttentionShape(
        /*self=*/false,
        {Keys(EncoderDecoderValuesArrays::kKeysValues),
         Weights("attention", /*is_output=*/false, EncoderDecoderValuesArrays::kAttention),
         Queries("output", /*is_output=*/true, 0)}))
    .Type(SameType)
    .Gradient(AttentionGradient("_backward_interleaved_matmul_encdec_valatt"))
    .Summary("heads");

COOPER_REGISTER_OP(_backward_interleaved_matmul_encdec_valatt)
    .Describe("Gradient of _contrib_interleaved_matmul_encdec_valatt.")
    .Param<P>()
    .Inputs({"ograd", "keys_values", "attention"})
    .Outputs({"keys_values", "attention"})
    .Shape(GradientShape)
    .Type(GradientType);

COOPER_OP_EXAMPLE(_contrib_interleaved_matmul_selfatt_qk, {{"heads", "2"}}, {{5, 3, 24}});
COOPER_OP_EXAMPLE(_contrib_interleaved_matmul_selfatt_valatt, {{"heads", "2"}}, {{5, 3, 24}, {}});
COOPER_OP_EXAMPLE(_contrib_interleaved_matmul_encdec_qk, {{"heads", "2"}}, {{4, 3, 8}, {5, 3, 16}});
COOPER_OP_EXAMPLE(_contrib_interleaved_matmul_encdec_valatt, {{"heads", "2"}},
                  {{5, 3, 16}, {6, 4, 5}});

}  // namespace
}  // namespace cooper
