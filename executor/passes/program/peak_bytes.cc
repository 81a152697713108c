#include "executor/passes/program/peak_bytes.h"

#include <vector>

#include "executor/passes/program/program_passes.h"
#include "executor/plan/live_buffers.h"
#include "executor/plan/memory_plan.h"

namespace cooper {

int64_t PeakBytes(Program program) {
  ShareInPlace(program);
  int64_t bytes = 0;
  for (const std::vector<LiveRange>& ranges : FindLiveBuffers(program, nullptr).ranges) {
    bytes += LowerBound(ranges);
  }
  return bytes;
}

}  // namespace cooper
