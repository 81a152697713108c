#include "executor/peak_bytes.h"

#include <vector>

#include "executor/live_buffers.h"
#include "executor/memory_plan.h"
#include "executor/passes.h"

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
