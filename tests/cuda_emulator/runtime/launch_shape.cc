#include "tests/cuda_emulator/runtime/launch_shape.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/cuda_emulator/runtime/device_limits.h"
#include "vector_types.h"

namespace cooper::cuda_emulator {

std::string CheckShape(const dim3& grid, const dim3& block, int max_threads) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0) return "it has no threads";
  if (grid.x > kMaxGridX || grid.y > kMaxGridYz || grid.z > kMaxGridYz) {
    return "the grid is larger than (2147483647, 65535, 65535)";
  }
  if (block.z > kMaxBlockZ || block.x > kThreadsPerBlock || block.y > kThreadsPerBlock) {
    return "the block is larger than (1024, 1024, 64)";
  }
  if (threads > static_cast<uint64_t>(max_threads)) {
    return absl::StrCat("a block of ", threads, " threads, where ", max_threads, " are allowed");
  }
  return "";
}

}  // namespace cooper::cuda_emulator
