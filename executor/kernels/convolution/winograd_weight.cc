// Kernel of _winograd_weight, by oneDNN or in cooper's own layout (winograd_tile.h).

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/convolution/onednn_engine.h"
#include "executor/kernels/convolution/onednn_packing.h"
#include "executor/kernels/convolution/winograd_tile.h"
#include "executor/program/kernel.h"
#include "ndarray/products/onednn_thread.h"
#include "ndarray/threads/parallel.h"
#include "oneapi/dnnl/dnnl.hpp"
#include "symbol/ops/fused/winograd_weight_param.h"

namespace cooper {
namespace {

struct WinogradState : KernelState {
  dnnl::memory::desc plain, transformed, scratch;  // of a slice
  dnnl::reorder reorder;
};

int64_t ScratchBytes(const WinogradState& state) {
  constexpr int64_t kAlignment = 64;
  return (static_cast<int64_t>(state.scratch.get_size()) + kAlignment - 1) / kAlignment *
         kAlignment;
}

bool IsOwn(const WinogradWeightParam& param) {
  return param.format == WinogradWeightParam::kTileFormat;
}

// Prepares cooper's own layout.
absl::StatusOr<Prepared> PrepareOwn(const PrepareContext& c) {
  const auto& param = c.param<WinogradWeightParam>();
  if (param.alpha != kWinogradSide || param.slice != kWinogradFilters) {
    return absl::UnimplementedError(absl::StrCat("format ", WinogradWeightParam::kTileFormat,
                                                 " with slices of ", param.slice,
                                                 " filters and alpha ", param.alpha, ", expected ",
                                                 kWinogradFilters, " and ", kWinogradSide));
  }
  return Prepared{.workspace_bytes = c.reqs[0] == WriteReq::kAdd ? c.outputs[0].size_bytes() : 0};
}

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const auto& param = c.param<WinogradWeightParam>();
  if (IsOwn(param)) return PrepareOwn(c);
  auto state = std::make_unique<WinogradState>();
  const OneDnnOnThisThread this_thread;  // the primitive stores the number of threads
  try {
    state->plain = dnnl::memory::desc({param.slice, param.channels, 3, 3},
                                      dnnl::memory::data_type::f32, dnnl::memory::format_tag::oihw);
    state->transformed = WinogradSlice(param);
    // oneDNN's own scratch memory would be shared by all slices.
    dnnl::primitive_attr attr;
    attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc desc(OneDnnEngine(), state->plain, OneDnnEngine(),
                                             state->transformed, attr);
    state->scratch = desc.scratchpad_desc();
    state->reorder = dnnl::reorder(desc);
  } catch (const dnnl::error& error) {
    return absl::UnimplementedError(absl::StrCat("oneDNN: ", error.what()));
  }
  int64_t bytes = param.num_slices() * ScratchBytes(*state);
  if (c.reqs[0] == WriteReq::kAdd) bytes += c.outputs[0].size_bytes();
  return Prepared{.state = std::move(state), .workspace_bytes = bytes};
}

// Transforms the slices by oneDNN.
void TransformSlices(const KernelContext& c, char* scratch, float* to) {
  const auto& param = c.param<WinogradWeightParam>();
  const auto& state = *static_cast<const WinogradState*>(c.state);
  const auto* const from = c.inputs[0].as<float>();
  ParallelForRanges(param.num_slices(), 1, 1, [&](int64_t begin, int64_t end) {
    const OneDnnOnThisThread this_thread;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t plain = i * param.slice * param.channels * 9;
      ExecuteOneDnn(
          state.reorder,
          {{DNNL_ARG_FROM, OneDnnMemory(state.plain, from + plain)},
           {DNNL_ARG_TO, OneDnnMemory(state.transformed, to + i * param.slice_elements())},
           {DNNL_ARG_SCRATCHPAD, OneDnnMemory(state.scratch, scratch + i * ScratchBytes(state))}});
    }
  });
}

absl::Status Run(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<WinogradWeightParam>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  auto* const scratch = static_cast<char*>(c.workspace);
  auto* const out = c.outputs[0].as<float>();
  const int64_t size = c.outputs[0].size();
  const int64_t scratch_bytes =
      IsOwn(param) ? 0
                   : param.num_slices() * ScratchBytes(*static_cast<const WinogradState*>(c.state));
  float* const to = add ? reinterpret_cast<float*>(scratch + scratch_bytes) : out;
  if (IsOwn(param)) {
    TransformWinogradWeight(param.filters, param.channels, c.inputs[0].as<float>(), to);
  } else {
    TransformSlices(c, scratch, to);
  }
  for (int64_t i = 0; add && i < size; ++i) out[i] += to[i];
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_winograd_weight, DeviceType::kCpu, kFloat32Only, Run, Prepare);

}  // namespace
}  // namespace cooper
