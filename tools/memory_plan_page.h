#ifndef COOPER_TOOLS_MEMORY_PLAN_PAGE_H_
#define COOPER_TOOLS_MEMORY_PLAN_PAGE_H_

// The page that //tools:plot_memory writes: the memory plan of a program as a picture.

#include <cstdint>
#include <string>
#include <vector>

#include "executor/compile/compiled_program.h"

namespace cooper {

// What is placed in the arena, over the steps [first, last] of those in [0, num_steps).
struct PlacedValue {
  enum class Kind { kActivation, kGradient, kWorkspace };

  std::string name;
  int64_t bytes = 0;
  int64_t offset = 0;
  int first = 0;
  int last = 0;
  Kind kind = Kind::kActivation;
};

struct PlacedMemory {
  std::vector<PlacedValue> values;
  int64_t arena_bytes = 0;
  int num_steps = 0;
  int num_forward = 0;  // of the steps; those behind them compute gradients

  // The first of the steps at which most bytes are live together; 0 without values.
  int PeakStep() const;
  // Bytes that are live at a step.
  int64_t BytesAt(int step) const;
};

// Of the program's first context. A gradient is what the backward pass makes, a workspace what one
// instruction needs while it runs.
PlacedMemory PlacedMemoryOf(const CompiledProgram& compiled);

// One HTML file (html_page.h): every value as a box over its steps and its offsets, in its kind's
// colour, those that are live at the peak marked and listed, and what sharing memory has saved.
// `title` is text.
std::string MemoryPlanPage(const std::string& title, const PlacedMemory& memory);

}  // namespace cooper

#endif  // COOPER_TOOLS_MEMORY_PLAN_PAGE_H_
