#ifndef COOPER_TOOLS_MEMORY_PLAN_JSON_H_
#define COOPER_TOOLS_MEMORY_PLAN_JSON_H_

// Writes the memory plan of a program as JSON, which tools/charts.py draws.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/compile/compiled_program.h"

namespace cooper {

// A range of the arena that is live over the steps [first, last], within [0, num_steps).
struct PlacedValue {
  enum class Kind { kActivation, kGradient, kWorkspace };

  std::string name;
  int64_t bytes = 0;
  int64_t offset = 0;
  int first = 0;
  int last = 0;
  Kind kind = Kind::kActivation;
};

// The arena of a program.
struct PlacedMemory {
  std::vector<PlacedValue> values;
  int64_t arena_bytes = 0;
  int num_steps = 0;
  int num_forward = 0;  // the leading steps; the others compute gradients

  // Returns the first step at which most bytes are live; 0 without values.
  int PeakStep() const;
  // Returns the bytes that are live at a step.
  int64_t BytesAt(int step) const;
};

// Returns the arena of the program's first context. Gradients are the values of the backward pass,
// workspaces the scratch memory of single instructions.
PlacedMemory PlacedMemoryOf(const CompiledProgram& compiled);

// Returns one JSON object with "kind": "memory_plan" on one line: the title, the size of the arena,
// the step and bytes of the peak, and for each value its name, kind ("activation", "gradient" or
// "workspace"), bytes, offset and steps. Bytes of names that are not UTF-8 are replaced.
std::string MemoryPlanJson(const std::string& title, const PlacedMemory& memory);

}  // namespace cooper

#endif  // COOPER_TOOLS_MEMORY_PLAN_JSON_H_
