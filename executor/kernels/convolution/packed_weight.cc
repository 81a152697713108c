// Kernel of _packed_weight.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/fused/packed_weight_param.h"

namespace cooper {
namespace {

// Returns offsets[axis][index] such that an element of a slice of `rows` indices of the first axis
// lies at the sum of the offsets of its indices.
std::vector<std::vector<int64_t>> Offsets(const PackedWeightParam& param, int64_t rows) {
  std::vector<std::vector<int64_t>> offsets;
  for (const int64_t extent : param.shape) offsets.emplace_back(extent);
  offsets[0].resize(rows);
  int64_t step = 1;
  // The extent of each axis within the inner blocks.
  std::vector<int64_t> inner(param.shape.size(), 1);
  for (size_t i = param.block_axes.size(); i-- > 0;) {
    const int64_t axis = param.block_axes[i];
    const int64_t size = param.block_sizes[i];
    for (size_t k = 0; k < offsets[axis].size(); ++k) {
      offsets[axis][k] += static_cast<int64_t>(k) / inner[axis] % size * step;
    }
    inner[axis] *= size;
    step *= size;
  }
  for (size_t i = param.outer.size(); i-- > 0;) {
    std::vector<int64_t>& of_axis = offsets[param.outer[i]];
    const int64_t block = inner[param.outer[i]];
    for (size_t k = 0; k < of_axis.size(); ++k)
      of_axis[k] += static_cast<int64_t>(k) / block * step;
    step *= (static_cast<int64_t>(of_axis.size()) + block - 1) / block;
  }
  return offsets;
}

struct PackedWeightState : KernelState {
  std::vector<std::vector<int64_t>> slice, last_slice;
};

absl::StatusOr<Prepared> Prepare(const PrepareContext& c) {
  const auto& param = c.param<PackedWeightParam>();
  auto state = std::make_unique<PackedWeightState>();
  const int64_t rows = std::min(param.slice, param.shape[0]);
  state->slice = Offsets(param, rows);
  state->last_slice = Offsets(param, param.shape[0] - (param.num_slices() - 1) * rows);
  return Prepared{.state = std::move(state)};
}

// Stores the elements `from` of the axes from `axis` on at `to`, the offset of the indices of the
// preceding axes. Returns a pointer to the elements that follow.
const float* Scatter(const std::vector<std::vector<int64_t>>& offsets, size_t axis,
                     const float* from, float* to, bool add) {
  for (const int64_t offset : offsets[axis]) {
    if (axis + 1 < offsets.size()) {
      from = Scatter(offsets, axis + 1, from, to + offset, add);
    } else {
      Store(to + offset, *from++, add);
    }
  }
  return from;
}

absl::Status Run(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  const auto& param = c.param<PackedWeightParam>();
  const auto& state = *static_cast<const PackedWeightState*>(c.state);
  const auto* const weight = c.inputs[0].as<float>();
  auto* const packed = c.outputs[0].as<float>();
  const bool add = c.reqs[0] == WriteReq::kAdd;
  const int64_t slices = param.num_slices();
  const int64_t row = c.inputs[0].size() / param.shape[0];
  const int64_t elements = param.slice_elements();
  ParallelForPlain(slices, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* const to = packed + i * elements;
      if (!add) std::fill_n(to, elements, 0.0F);
      Scatter(i + 1 == slices ? state.last_slice : state.slice, 0, weight + i * param.slice * row,
              to, add);
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_packed_weight, DeviceType::kCpu, kFloat32Only, Run, Prepare);

}  // namespace
}  // namespace cooper
