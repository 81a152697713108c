#ifndef COOPER_TOOLS_MEMORY_PLAN_PAGE_H_
#define COOPER_TOOLS_MEMORY_PLAN_PAGE_H_

// The page that //tools:plot_memory writes: the memory plan of a program as a picture.

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

// Returns one HTML file (html_page.h): every value as a box over its steps and offsets, in its
// kind's colour, values live at the peak highlighted and listed, and the bytes saved by sharing
// memory. `title` is text.
std::string MemoryPlanPage(const std::string& title, const PlacedMemory& memory);

}  // namespace cooper

#endif  // COOPER_TOOLS_MEMORY_PLAN_PAGE_H_
