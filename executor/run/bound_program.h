#ifndef COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
#define COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_

// A compiled program with pointers: its instructions over the caller's arrays and over arenas.
// Running them allocates nothing. When it may be run, and what its outputs are worth, is
// ProgramRun's business (program_run.h).

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/compile/compiled_program.h"
#include "executor/program/kernel.h"
#include "executor/program/program.h"
#include "executor/run/after_backward.h"
#include "executor/run/arena.h"
#include "executor/run/recorded_part.h"
#include "executor/run/tiles.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"

namespace cooper {

// The caller's arrays, by slot. Null arrays where a slot has none.
struct ProgramArrays {
  std::vector<NDArray> args;
  std::vector<NDArray> auxs;
  std::vector<NDArray> grads;  // by slot of the argument
};

class BoundProgram {
 public:
  // `arenas` has one for each context of the program; their memory is taken by Refresh.
  BoundProgram(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
               std::vector<std::shared_ptr<Arena>> arenas);

  // Called around each instruction; may be empty.
  struct Observer {
    std::function<void(const BoundProgram& bound, int instruction)> before;
    std::function<void(const BoundProgram& bound, int instruction)> after;
  };

  // Runs the forward or the backward instructions. `seed` and `run` name the random stream. Refresh
  // comes first.
  absl::Status RunForward(bool is_train, uint64_t seed, uint64_t run, const Observer* observer);
  absl::Status RunBackward(uint64_t seed, uint64_t run, const Observer* observer);
  // Both, in training. On a GPU each of these parts, run again with the same arrays, is put in as
  // it was recorded (recorded_part.h), unless it is observed or profiled.
  // `after` may be null.
  absl::Status RunAll(uint64_t seed, uint64_t run, const Observer* observer,
                      const AfterBackward* after);
  // How many of the parts are recorded.
  int num_recorded() const;

  // The caller's array for argument `slot`, used from the next run on.
  void SetArg(int slot, const NDArray& array);
  const NDArray& arg(int slot) const { return arrays_.args[slot]; }
  const ProgramArrays& arrays() const { return arrays_; }

  // The caller's array for output `i`, whose buffer is of Kind::kOutput; used from the next run on.
  // The caller has checked its shape.
  void SetOutput(int i, const NDArray& array);
  const NDArray& output(int i) const { return outputs_[i]; }

  // The caller's array for the gradient of output `i`, used from the next run on. The caller has
  // checked its shape; it must live until the run is over.
  void SetHeadGradient(int i, const NDArray& array);

  const CompiledProgram& compiled() const { return *compiled_; }
  const Program& program() const { return compiled_->program(); }
  // By context.
  const std::vector<std::shared_ptr<Arena>>& arenas() const { return arenas_; }

  // An array over the memory of a value. Requires that its arena holds it.
  absl::StatusOr<NDArray> ArrayOf(int value) const;

  // Makes room in the arenas, and points every instruction at their present blocks if one has
  // changed.
  absl::Status Refresh();
  // Changes whenever Refresh has moved something; negative before the first.
  int64_t generation() const { return generation_; }

 private:
  struct Step {
    KernelContext context;
    std::vector<ArrayView> inputs;
    std::vector<ArrayView> outputs;

    explicit Step(const OpCall& call) : context{.call = call} {}
  };

  // What is run tile by tile.
  struct Chain {
    std::vector<TiledStep> steps;
    std::string name;  // for profiles
  };

  // Where a buffer of the caller's is an input or output of a step.
  struct Use {
    int step;
    bool is_input;
    int position;
  };

  enum Part { kInference, kTraining, kBackward, kAll, kNumParts };

  void PointAtShapes();
  void FindUses();
  void NameChains();
  // Says of an error where it comes from.
  absl::Status WithInstruction(const absl::Status& status, int i) const;
  absl::Status RunInstruction(int i);
  absl::Status RunCopy(const Instruction& instruction, const Step& step);
  absl::Status RunChain(int number, bool is_train);
  // Memory at an offset of a context's block; null for a negative one.
  char* At(int context, int64_t offset) const;
  void* DataOf(int value) const;
  void Point();
  // Points instructions at the caller's array.
  void PointUses(const std::vector<Use>& uses);
  void PointAt(void* data, ArrayView& view);
  // Where kernels put their work from now on.
  void UseQueue(DeviceQueue* queue);
  absl::Status RunPart(Part part, uint64_t seed, uint64_t run, const Observer* observer,
                       const AfterBackward* after = nullptr);
  absl::Status Run(int begin, int end, bool is_train, uint64_t seed, uint64_t run,
                   const Observer* observer);

  const std::shared_ptr<const CompiledProgram> compiled_;
  ProgramArrays arrays_;
  std::vector<NDArray> head_gradients_;
  std::vector<NDArray> outputs_;
  const std::vector<std::shared_ptr<Arena>> arenas_;  // by context
  std::vector<int64_t> arena_generations_;            // of the blocks that instructions point at
  // Those blocks, which an arena may replace between a forward and its backward. It keeps them for
  // as long as they are needed, and no longer.
  std::vector<std::weak_ptr<Storage>> blocks_;
  // By slot: where the array of each argument, of each head gradient and of each output is used.
  std::vector<std::vector<Use>> arg_uses_;
  std::vector<std::vector<Use>> head_uses_;
  std::vector<std::vector<Use>> output_uses_;
  std::vector<std::unique_ptr<Step>> steps_;  // one per instruction
  std::vector<Chain> chains_;                 // of the program's tiles
  int64_t generation_ = -1;
  int64_t pointers_ = 0;  // changes whenever an instruction is pointed somewhere else
  int64_t after_ = -1;    // the name of what came behind the last RunAll
  std::array<RecordedPart, kNumParts> parts_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
