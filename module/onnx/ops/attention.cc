// The matrix products of attention over interleaved projections.

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/nn/interleaved_attention_param.h"

namespace cooper {
namespace {

// Returns one part of input `i`, (length, batch, heads * count * head_dim), as (batch, heads,
// length, head_dim).
std::string Part(NodeExport& c, int i, InterleavedPart part) {
  const int64_t heads = c.param<InterleavedAttentionParam>().heads;
  const std::string parts =
      c.Emit("Reshape", {c.input(i), c.Ints({0, 0, heads, part.count,
                                             c.shape(i)[2].number() / (heads * part.count)})});
  const std::string chosen = c.Emit("Gather", {parts, c.graph().Scalar(part.index, DType::kInt64)},
                                    {{"axis", int64_t{3}}});
  return c.Transpose(chosen, {1, 2, 0, 3});
}

// queries * keys^T / sqrt(head_dim), (batch * heads, queries, keys)
absl::Status Scores(NodeExport& c, int queries, InterleavedPart query_part, int keys,
                    InterleavedPart key_part) {
  const int64_t heads = c.param<InterleavedAttentionParam>().heads;
  COOPER_RETURN_IF_ERROR(c.NeedsNumbers({c.shape(queries)[2]}, "the features"));
  const double head_dim = static_cast<double>(c.shape(queries)[2].number()) /
                          static_cast<double>(heads * query_part.count);
  const std::string scaled =
      c.Emit("Mul", {Part(c, queries, query_part), c.Scalar(1 / std::sqrt(head_dim))});
  const std::string transposed = c.Transpose(Part(c, keys, key_part), {0, 1, 3, 2});
  const std::string product = c.Emit("MatMul", {scaled, transposed});
  COOPER_ASSIGN_OR_RETURN(std::string out, c.Reshape(product, {}, c.out_shape()));
  c.Return(std::move(out));
  return absl::OkStatus();
}

// attention * values, (length, batch, heads * head_dim); input 0 has the values, input 1 the
// attention.
absl::Status Attended(NodeExport& c, InterleavedPart value_part) {
  const int64_t heads = c.param<InterleavedAttentionParam>().heads;
  COOPER_RETURN_IF_ERROR(c.NeedsNumbers({c.shape(0)[2]}, "the features"));
  const SymbolicShape by_head = {c.shape(0)[1], Extent{.offset = heads}, c.shape(1)[1],
                                 c.shape(1)[2]};
  COOPER_ASSIGN_OR_RETURN(const std::string attention, c.Reshape(c.input(1), {}, by_head));
  const std::string product = c.Emit("MatMul", {attention, Part(c, 0, value_part)});
  const std::string by_step = c.Transpose(product, {2, 0, 1, 3});
  c.Return(c.Emit("Reshape", {by_step, c.Ints({0, 0, c.out_shape()[2].number()})}));
  return absl::OkStatus();
}

constexpr char kText[] = "Reshape, Gather, Transpose, MatMul";

const OnnxRegistrar kSelfQk({"_contrib_interleaved_matmul_selfatt_qk"}, kText,
                            [](NodeExport& c) { return Scores(c, 0, kSelfQueries, 0, kSelfKeys); });
const OnnxRegistrar kSelfValatt({"_contrib_interleaved_matmul_selfatt_valatt"}, kText,
                                [](NodeExport& c) { return Attended(c, kSelfValues); });
const OnnxRegistrar kEncdecQk({"_contrib_interleaved_matmul_encdec_qk"}, kText, [](NodeExport& c) {
  return Scores(c, EncoderDecoderQkArrays::kQueries, kQueriesAlone,
                EncoderDecoderQkArrays::kKeysValues, kKeysOfTwo);
});
const OnnxRegistrar kEncdecValatt({"_contrib_interleaved_matmul_encdec_valatt"}, kText,
                                  [](NodeExport& c) { return Attended(c, kValuesOfTwo); });

}  // namespace
}  // namespace cooper
