#ifndef COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_

// A compiled program with pointers: its instructions over the caller's arrays and over arenas.
// Running them allocates nothing. BoundProgram (bound_program.h) decides when they may run and how
// long outputs are valid.

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
#include "executor/run/program_arrays.h"
#include "executor/run/recorded_part.h"
#include "executor/run/tiles.h"
#include "executor/run/true_shapes.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/shape.h"

namespace cooper {

class ProgramSteps;

// Functions that are called before and after each instruction, on the thread that runs it, unless
// its conditions skip it. Either may be empty.
struct ProgramObserver {
  std::function<void(const ProgramSteps& steps, int instruction)> before;
  std::function<void(const ProgramSteps& steps, int instruction)> after;
};

// Runs the instructions of a program. Not thread-safe.
class ProgramSteps {
 public:
  using Kind = ProgramBuffer::Kind;
  // Parts of a program that run at once: a forward pass for inference or for training, a backward
  // pass, or a whole training step.
  enum class Part { kInference, kTraining, kBackward, kAll };

  // `arrays` are by slot of the program. `arenas` has one for each context of the program; their
  // memory is taken by Refresh.
  ProgramSteps(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
               std::vector<std::shared_ptr<Arena>> arenas);

  // Runs the instructions of a part. Refresh must be called first. `seed` and `run` select the
  // random stream. On a GPU, a part that runs again with the same arrays is recorded and then
  // launched as a whole (recorded_part.h), unless it is observed or profiled. `observer` and
  // `after` may be null; `after` is enqueued behind the part.
  absl::Status Run(Part part, uint64_t seed, uint64_t run, const ProgramObserver* observer,
                   const AfterBackward* after = nullptr);
  // Returns how many of the parts are recorded.
  int num_recorded() const;

  // Returns the caller's array of a slot: an argument, an auxiliary state, a gradient (by slot of
  // its argument), the gradient of an output, or an output.
  const NDArray& array(Kind kind, int slot) const { return arrays(kind)[slot]; }
  const std::vector<NDArray>& arrays(Kind kind) const { return arrays_[static_cast<int>(kind)]; }
  // Replaces the array of an argument, of the gradient of an output, or of an output outside the
  // arena, from the next run on. The caller has checked its shape, and keeps it alive until the run
  // is over.
  void SetArray(Kind kind, int slot, const NDArray& array);

  // Return the program that runs.
  const CompiledProgram& compiled() const { return *compiled_; }
  const std::shared_ptr<const CompiledProgram>& shared_program() const { return compiled_; }
  const Program& program() const { return compiled_->program(); }
  // Returns the arenas by context of the program.
  const std::vector<std::shared_ptr<Arena>>& arenas() const { return arenas_; }

  // Returns the shape of a value in this run: the planned one unless it is counted
  // (true_shapes.h).
  Shape ShapeOf(int value) const;
  // Returns an array over the memory of a value, without copying. The value's arena must hold it.
  absl::StatusOr<NDArray> ArrayOf(int value) const;

  // Reserves memory in the arenas. If a block has changed, points every instruction at the new
  // blocks. Fails as Arena::Reserve does.
  absl::Status Refresh();
  // Returns a number that changes whenever Refresh moves a value; negative before the first
  // Refresh.
  int64_t generation() const { return generation_; }

 private:
  // The kernel's arguments for one instruction. `context` refers to the other members, so a step is
  // never moved.
  struct Step {
    KernelContext context;
    std::vector<ArrayView> inputs;
    std::vector<ArrayView> outputs;

    explicit Step(const OpCall& call) : context{.call = call} {}
  };

  // A chain of instructions that runs tile by tile.
  struct Chain {
    std::vector<TiledStep> steps;
    std::string name;  // for profiles
  };

  // A position at which a step uses one of the caller's arrays.
  struct Use {
    int step;
    bool is_input;
    int position;
  };

  static constexpr int kNumKinds = static_cast<int>(Kind::kOutput) + 1;
  static constexpr int kNumParts = static_cast<int>(Part::kAll) + 1;

  // Builds the steps, with null data, where each of the caller's arrays is used, and the chains
  // with their names. The constructor calls them in this order.
  void PointAtShapes();
  void FindUses();
  void NameChains();
  // Adds the instruction, and what it ran on, to an error.
  absl::Status WithInstruction(const absl::Status& status, int i) const;
  // Returns whether the conditions of an instruction hold.
  bool ConditionsHold(const Instruction& instruction) const;
  // Run one instruction, a copy between contexts, or a chain of tiles.
  absl::Status RunInstruction(int i);
  absl::Status RunCopy(const Instruction& instruction, const Step& step);
  absl::Status RunChain(int number, bool is_train);
  // Returns the memory at an offset of a context's block; null for a negative offset.
  char* At(int context, int64_t offset) const;
  // Returns the current address of a value.
  void* DataOf(int value) const;
  // Points all steps at the current blocks and arrays.
  void Point();
  // Points one view at `data` and counts the change.
  void PointAt(void* data, ArrayView& view);
  // Makes kernels enqueue their work on `queue` from now on.
  void UseQueue(DeviceQueue* queue);
  // Runs the instructions [begin, end).
  absl::Status RunInstructions(int begin, int end, bool is_train, uint64_t seed, uint64_t run,
                               const ProgramObserver* observer);

  const std::shared_ptr<const CompiledProgram> compiled_;
  std::array<std::vector<NDArray>, kNumKinds> arrays_;  // by kind of buffer and slot
  const std::vector<std::shared_ptr<Arena>> arenas_;    // by context
  std::vector<int64_t> arena_generations_;              // generations of the blocks in use
  // The blocks that instructions point at, by context. An arena that replaces its block between a
  // forward and its backward pass keeps the old one for as long as the backward pass may need it.
  std::vector<std::weak_ptr<Storage>> blocks_;
  std::array<std::vector<std::vector<Use>>, kNumKinds> uses_;  // where each array is used
  std::vector<std::unique_ptr<Step>> steps_;                   // one per instruction
  std::vector<Chain> chains_;                                  // of the program's tiles
  std::unique_ptr<TrueShapes> true_shapes_;                    // null: no value is counted
  int64_t generation_ = -1;
  int64_t pointers_ = 0;  // changes whenever an instruction is pointed somewhere else
  int64_t after_ = -1;    // AfterBackward::name of the last run of Part::kAll
  std::array<RecordedPart, kNumParts> parts_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_
