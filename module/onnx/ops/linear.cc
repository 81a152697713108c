// FullyConnected and products of matrices.

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "module/onnx/node_export.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/linalg/dot_param.h"
#include "symbol/ops/linalg/la_param.h"
#include "symbol/ops/nn/fully_connected_param.h"

namespace cooper {
namespace {

absl::Status ExportFullyConnected(NodeExport& c) {
  using enum FullyConnectedArrays::Input;
  const auto& param = c.param<FullyConnectedParam>();
  std::string data = c.input(kData), bias;
  if (!param.no_bias) {
    COOPER_ASSIGN_OR_RETURN(
        bias, c.Reshape(c.input(kBias), c.shape(kBias), {Extent{.offset = param.num_hidden}}));
  }
  if (param.flatten || c.rank(kData) == 2) {
    if (c.rank(kData) != 2) data = c.Emit("Flatten", {data}, {{"axis", int64_t{1}}});
    std::vector<std::string> inputs = {data, c.input(kWeight)};
    if (!param.no_bias) inputs.push_back(bias);
    c.Return(c.Emit("Gemm", std::move(inputs), {{"transB", int64_t{1}}}));
    return absl::OkStatus();
  }
  std::string out = c.Emit("MatMul", {data, c.Transpose(c.input(kWeight), {1, 0})});
  if (!param.no_bias) out = c.Emit("Add", {out, bias});
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(FullyConnected, "Gemm, MatMul, Flatten", ExportFullyConnected);

// The last axis of lhs times the first of rhs; transposed, the first and the last.
absl::Status ExportDot(NodeExport& c) {
  using enum DotArrays::Input;
  const auto& param = c.param<DotParam>();
  const int lhs_rank = c.rank(kLhs), rhs_rank = c.rank(kRhs);
  std::string lhs = c.input(kLhs), rhs = c.input(kRhs);
  if (param.transpose_a && lhs_rank > 1) {
    std::vector<int64_t> axes(lhs_rank);
    for (int i = 0; i < lhs_rank; ++i) axes[i] = (i + 1) % lhs_rank;
    lhs = c.Transpose(lhs, axes);
  }
  if (param.transpose_b && rhs_rank > 1) {
    std::vector<int64_t> axes(rhs_rank);
    for (int i = 0; i < rhs_rank; ++i) axes[i] = (i + rhs_rank - 1) % rhs_rank;
    rhs = c.Transpose(rhs, axes);
  }
  if (rhs_rank <= 2) {
    std::string out = c.Emit("MatMul", {lhs, rhs});
    if (lhs_rank == 1 && rhs_rank == 1) out = c.Emit("Reshape", {out, c.Ints({1})});
    c.Return(std::move(out));
    return absl::OkStatus();
  }
  const Extent& inner = param.transpose_b ? c.shape(kRhs).back() : c.shape(kRhs)[0];
  if (!inner.is_number()) return c.Refuse("the extent that is summed must be a number");
  rhs = c.Emit("Reshape", {rhs, c.Ints({inner.number(), -1})});
  COOPER_ASSIGN_OR_RETURN(std::string out,
                          c.Reshape(c.Emit("MatMul", {lhs, rhs}), {}, c.out_shape()));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(dot, "MatMul, Transpose", ExportDot);

// Returns input `i` with its last two axes exchanged if `transposed`.
std::string Matrix(NodeExport& c, int i, bool transposed) {
  if (!transposed) return c.input(i);
  std::vector<int64_t> axes(c.rank(i));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return c.Transpose(c.input(i), axes);
}

std::string Scaled(NodeExport& c, const std::string& value, double factor) {
  return factor == 1 ? value : c.Emit("Mul", {value, c.Scalar(factor)});
}

absl::Status ExportBatchDot(NodeExport& c) {
  using enum DotArrays::Input;
  const auto& param = c.param<DotParam>();
  c.Return(
      c.Emit("MatMul", {Matrix(c, kLhs, param.transpose_a), Matrix(c, kRhs, param.transpose_b)}));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(batch_dot, "MatMul, Transpose", ExportBatchDot);

absl::StatusOr<std::string> Gemm2(NodeExport& c, const LaGemm2Param& param) {
  using enum LaProductArrays::Input;
  if (param.axis != -2) return c.Refuse("axis is not -2");
  const std::string product =
      c.Emit("MatMul", {Matrix(c, kA, param.transpose_a), Matrix(c, kB, param.transpose_b)});
  return Scaled(c, product, param.alpha);
}

absl::Status ExportGemm2(NodeExport& c) {
  COOPER_ASSIGN_OR_RETURN(std::string out, Gemm2(c, c.param<LaGemm2Param>()));
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_linalg_gemm2, "MatMul, Mul", ExportGemm2);

absl::Status ExportGemm(NodeExport& c) {
  const auto& param = c.param<LaGemmParam>();
  COOPER_ASSIGN_OR_RETURN(std::string out, Gemm2(c, param));
  if (param.beta != 0) {
    out = c.Emit("Add", {out, Scaled(c, c.input(LaProductArrays::kC), param.beta)});
  }
  c.Return(std::move(out));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_linalg_gemm, "MatMul, Mul, Add", ExportGemm);

absl::Status ExportSyrk(NodeExport& c) {
  const auto& param = c.param<LaSyrkParam>();
  const std::string product =
      c.Emit("MatMul", {Matrix(c, 0, param.transpose), Matrix(c, 0, !param.transpose)});
  c.Return(Scaled(c, product, param.alpha));
  return absl::OkStatus();
}
COOPER_ONNX_EXPORT(_linalg_syrk, "MatMul, Mul", ExportSyrk);

}  // namespace
}  // namespace cooper
