#include "executor/run/memory_report.h"

#include "executor/plan/arena_layout.h"

namespace cooper {

MemoryReport PlannedMemory(const CompiledProgram& compiled) {
  const ArenaLayout& layout = compiled.layout();
  MemoryReport report{.values = layout.num_ranges()};
  for (const ArenaLayout::Region& region : layout.regions) {
    report.planned_bytes += region.plan.arena_size;
    report.lower_bound += region.plan.lower_bound;
    report.proven = report.proven && region.plan.proven;
  }
  return report;
}

}  // namespace cooper
