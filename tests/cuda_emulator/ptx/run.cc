#include "tests/cuda_emulator/ptx/run.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {
namespace {

// A block that has run this many instructions may wait for another one, which then gets a turn.
// Most blocks end earlier.
constexpr int64_t kBlockSlice = 1000000;
constexpr uint64_t kMaxThreads = 1024;

absl::Status CheckLaunch(const Code& kernel, const Launch& launch, size_t param_bytes) {
  const Function& function = *kernel.function;
  const auto invalid = [&](std::string_view what) {
    return absl::InvalidArgumentError(Concat("launch of ", function.name, ": ", what));
  };
  if (!function.entry) return invalid("it is no kernel");
  const Dim3 block = launch.block;
  const Dim3 grid = launch.grid;
  if (block.x == 0 || block.y == 0 || block.z == 0 || grid.x == 0 || grid.y == 0 || grid.z == 0) {
    return invalid("an empty grid or block");
  }
  if (block.x > kMaxThreads || block.y > kMaxThreads || block.z > 64 ||
      uint64_t{block.x} * block.y * block.z > kMaxThreads) {
    return invalid(Concat("a block of (", block.x, ", ", block.y, ", ", block.z,
                          ") threads; at most 1024 are allowed, and 64 in z"));
  }
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (function.max_threads > 0 && threads > static_cast<uint64_t>(function.max_threads)) {
    return invalid(Concat("a block of ", threads, " threads; the kernel is compiled for ",
                          function.max_threads));
  }
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535) return invalid("too large a grid");
  if (param_bytes < function.param_bytes) {
    return invalid(Concat(param_bytes, " bytes of parameters, expected ", function.param_bytes));
  }
  return absl::OkStatus();
}

// Runs all blocks: one after another if they end soon, otherwise in turns.
void RunBlocks(LaunchState& state) {
  const Dim3 grid = state.launch.grid;
  const uint64_t count = uint64_t{grid.x} * grid.y * grid.z;
  const bool reversed = state.options.seed % 2 == 1;
  std::vector<std::unique_ptr<Block>> suspended;
  uint64_t started = 0;
  while (started < count || !suspended.empty()) {
    std::vector<std::unique_ptr<Block>> still;
    for (std::unique_ptr<Block>& block : suspended) {
      if (!block->Run(kBlockSlice)) still.push_back(std::move(block));
      if (!state.error.ok()) return;
    }
    suspended = std::move(still);
    while (started < count) {
      const uint64_t at = reversed ? count - 1 - started : started;
      ++started;
      const Dim3 position{static_cast<uint32_t>(at % grid.x),
                          static_cast<uint32_t>(at / grid.x % grid.y),
                          static_cast<uint32_t>(at / grid.x / grid.y)};
      auto block = std::make_unique<Block>(state, position);
      const bool ended = block->Run(kBlockSlice);
      if (!state.error.ok()) return;
      if (ended) continue;
      suspended.push_back(std::move(block));
      break;
    }
  }
}

}  // namespace

absl::Status Run(const Module& module, std::string_view function, const Launch& launch,
                 absl::Span<const uint8_t> params, const FindExtent& find_extent,
                 const Options& options, Counters* counters) {
  absl::StatusOr<const Code*> kernel = module.FindCode(function);
  if (!kernel.ok()) return kernel.status();
  absl::Status status = CheckLaunch(**kernel, launch, params.size());
  if (!status.ok()) return status;
  LaunchState state(module, **kernel, launch, params, find_extent, options);
  if (status = state.Link(); !status.ok()) return status;
  if (state.shared_total > launch.shared_limit) {
    return absl::InvalidArgumentError(Concat(
        "launch of ", function, ": ", state.shared_total, " bytes of shared memory, of which ",
        launch.dynamic_shared, " are dynamic; the limit is ", launch.shared_limit));
  }
  RunBlocks(state);
  if (counters != nullptr) *counters += state.counters;
  return state.error;
}

}  // namespace cooper::ptx
