#ifndef COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
#define COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_

// A program with memory and kernels: what an executor runs. Every instruction is prepared once;
// running them allocates nothing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/kernel.h"
#include "executor/plan/memory_plan.h"
#include "executor/plan/tile_plan.h"
#include "executor/program.h"
#include "executor/run/arena.h"
#include "executor/run/tiles.h"
#include "ndarray/ndarray.h"

namespace cooper {

// The caller's arrays, by slot. Null arrays where a slot has none.
struct ProgramArrays {
  std::vector<NDArray> args;
  std::vector<NDArray> auxs;
  std::vector<NDArray> grads;  // by slot of the argument
};

class BoundProgram {
 public:
  // Finds kernels, plans memory (the plans are checked) and reserves the arenas, of which there is
  // one for each context of the program. kUnimplemented if an operator has no kernel on its
  // context.
  static absl::StatusOr<std::unique_ptr<BoundProgram>> Create(
      Program program, ProgramArrays arrays, std::vector<std::shared_ptr<Arena>> arenas);

  // Called around each instruction; may be empty.
  struct Observer {
    std::function<void(const BoundProgram& program, int instruction)> before;
    std::function<void(const BoundProgram& program, int instruction)> after;
  };

  // Runs the forward or the backward instructions. `seed` and `run` name the random stream.
  absl::Status RunForward(bool is_train, uint64_t seed, uint64_t run, const Observer* observer);
  absl::Status RunBackward(uint64_t seed, uint64_t run, const Observer* observer);

  // The caller's array for argument `slot`, used from the next run on.
  void SetArg(int slot, const NDArray& array);
  const NDArray& arg(int slot) const { return arrays_.args[slot]; }

  // The caller's array for the gradient of output `i`, used from the next run on. The executor has
  // checked its shape; it must live until the run is over.
  void SetHeadGradient(int i, const NDArray& array);

  const Program& program() const { return program_; }
  // By context.
  const MemoryPlan& plan(int context) const { return regions_[context].plan; }
  const std::vector<std::shared_ptr<Arena>>& arenas() const { return arenas_; }
  // Buffers placed in arenas.
  int64_t num_ranges() const;
  // Offset of a value's buffer in its context's arena; -1 if it is not there, as what only a chain
  // of tiles uses.
  int64_t offset(int value) const;

  // An array over the memory of a value. Requires that its arena holds it.
  absl::StatusOr<NDArray> ArrayOf(int value) const;

  // Points every instruction at the arenas' present blocks, if one has changed.
  absl::Status Refresh();
  // Changes whenever Refresh has moved something.
  int64_t generation() const { return generation_; }

 private:
  struct Step {
    KernelContext context;
    Kernel::RunFn run = nullptr;
    std::vector<ArrayView> inputs;
    std::vector<ArrayView> outputs;
    Prepared prepared;
    int workspace_range = -1;  // in the region of its context

    explicit Step(const OpCall& call) : context{.call = call} {}
  };

  // What is run tile by tile.
  struct Chain {
    std::vector<TiledStep> steps;
    int workspace_range = -1;  // in the region of its context
    std::string name;          // for profiles
  };

  // What lies in one arena.
  struct Region {
    std::vector<LiveRange> ranges;
    MemoryPlan plan;
    int64_t generation = -1;  // of the arena's block that instructions point at
  };

  BoundProgram(Program program, ProgramArrays arrays, std::vector<std::shared_ptr<Arena>> arenas)
      : program_(std::move(program)),
        arrays_(std::move(arrays)),
        arenas_(std::move(arenas)),
        regions_(arenas_.size()) {}

  absl::Status Prepare();
  absl::Status PrepareKernel(const Instruction& instruction, Step* step) const;
  // Says of an error where it comes from.
  static absl::Status WithStep(const absl::Status& status, const Instruction& instruction,
                               const Step& step);
  static absl::Status RunKernel(const Instruction& instruction, const Step& step);
  absl::Status Copy(const Instruction& instruction, const Step& step) const;
  char* BlockOf(int context) const;
  // Scratch memory; null for a negative range.
  void* WorkspaceOf(int context, int range) const;
  void FindUses();
  void PrepareChains();
  absl::Status RunChain(int number, bool is_train);
  void ComputeLiveRanges();
  void Point();
  void* DataOf(int value) const;
  absl::Status Run(size_t begin, size_t end, bool is_train, uint64_t seed, uint64_t run,
                   const Observer* observer);

  Program program_;
  ProgramArrays arrays_;
  std::vector<NDArray> head_gradients_;
  std::vector<std::shared_ptr<Arena>> arenas_;  // by context
  std::vector<Region> regions_;                 // likewise
  std::vector<int> range_of_buffer_;            // in the region of its context; -1: in no arena
  // Step and position: where the array of each argument, and of each head gradient, is an input.
  std::vector<std::vector<std::pair<int, int>>> arg_uses_;
  std::vector<std::vector<std::pair<int, int>>> head_uses_;
  std::vector<std::unique_ptr<Step>> steps_;  // one per instruction
  TilePlan tile_plan_;
  std::vector<Chain> chains_;  // of tile_plan_
  size_t num_forward_ = 0;
  int64_t generation_ = -1;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
