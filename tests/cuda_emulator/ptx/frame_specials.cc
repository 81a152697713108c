#include <cstdint>

#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/special.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {
namespace {

uint32_t ValueOf(Special special, int lane, Warp& warp) {
  const LaunchState& launch = warp.launch();
  const Block& block = warp.block();
  const Dim3 thread = block.ThreadOf(warp.index() * kLanes + lane);
  const uint32_t bit = 1u << lane;
  switch (special) {
    case Special::kTidX:
      return thread.x;
    case Special::kTidY:
      return thread.y;
    case Special::kTidZ:
      return thread.z;
    case Special::kNtidX:
      return launch.launch.block.x;
    case Special::kNtidY:
      return launch.launch.block.y;
    case Special::kNtidZ:
      return launch.launch.block.z;
    case Special::kCtaidX:
      return block.position().x;
    case Special::kCtaidY:
      return block.position().y;
    case Special::kCtaidZ:
      return block.position().z;
    case Special::kNctaidX:
      return launch.launch.grid.x;
    case Special::kNctaidY:
      return launch.launch.grid.y;
    case Special::kNctaidZ:
      return launch.launch.grid.z;
    case Special::kLaneid:
      return static_cast<uint32_t>(lane);
    case Special::kWarpid:
      return static_cast<uint32_t>(warp.index());
    case Special::kNwarpid:
      return static_cast<uint32_t>((block.threads() + kLanes - 1) / kLanes);
    case Special::kLanemaskEq:
      return bit;
    case Special::kLanemaskLt:
      return bit - 1;
    case Special::kLanemaskLe:
      return (bit - 1) | bit;
    case Special::kLanemaskGt:
      return ~((bit - 1) | bit);
    case Special::kLanemaskGe:
      return ~(bit - 1);
    case Special::kNsmid:
    case Special::kClusterSize:
      return 1;
    case Special::kDynamicSharedBytes:
      return static_cast<uint32_t>(launch.launch.dynamic_shared);
    case Special::kTotalSharedBytes:
      return static_cast<uint32_t>(launch.shared_total);
    default:
      return 0;
  }
}

}  // namespace

void Warp::FillSpecials(Frame& frame) {
  registers_ = frame.data.get();
  for (const SpecialSlot& slot : frame.code->specials) {
    if (SizeOf(slot.special) == 8) {
      for (int lane = 0; lane < kLanes; ++lane) Lanes<uint64_t>(slot.slot)[lane] = 0;
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      Lanes<uint32_t>(slot.slot)[lane] = ValueOf(slot.special, lane, *this);
    }
  }
  for (const Constant& constant : frame.code->constants) {
    if (constant.kind != Constant::Kind::kLocal) continue;
    const uint64_t value = frame.local_base + constant.value;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (constant.bytes == 8) Lanes<uint64_t>(constant.slot)[lane] = value;
      if (constant.bytes == 4) Lanes<uint32_t>(constant.slot)[lane] = static_cast<uint32_t>(value);
    }
  }
}

}  // namespace cooper::ptx
