#ifndef COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_
#define COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_

// A compiled program with pointers: its instructions over the caller's arrays and over arenas.
// Running them allocates nothing. When they may be run, and what the outputs are worth, is
// BoundProgram's business (bound_program.h).

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
#include "ndarray/array/ndarray.h"
#include "ndarray/array/storage.h"

namespace cooper {

class ProgramSteps;

// Called around each instruction; either may be empty.
struct ProgramObserver {
  std::function<void(const ProgramSteps& steps, int instruction)> before;
  std::function<void(const ProgramSteps& steps, int instruction)> after;
};

class ProgramSteps {
 public:
  using Kind = ProgramBuffer::Kind;
  // The instructions of a run for inference or for training, those of its backward pass, and all
  // of a training step.
  enum class Part { kInference, kTraining, kBackward, kAll };

  // `arrays` are by slot of the program. `arenas` has one for each context of the program; their
  // memory is taken by Refresh.
  ProgramSteps(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
               std::vector<std::shared_ptr<Arena>> arenas);

  // Runs the instructions of a part; Refresh comes first. `seed` and `run` name the random stream.
  // On a GPU a part that is run again with the same arrays is put in as it was recorded
  // (recorded_part.h), unless it is observed or profiled. `observer` may be null; so may `after`,
  // which else comes behind the part.
  absl::Status Run(Part part, uint64_t seed, uint64_t run, const ProgramObserver* observer,
                   const AfterBackward* after = nullptr);
  // How many of the parts are recorded.
  int num_recorded() const;

  // The caller's array that a slot of `kind` has: an argument, auxiliary state, gradient by slot of
  // its argument, gradient of an output or output.
  const NDArray& array(Kind kind, int slot) const { return arrays(kind)[slot]; }
  const std::vector<NDArray>& arrays(Kind kind) const { return arrays_[static_cast<int>(kind)]; }
  // Makes it another array, which is used from the next run on: of an argument, of the gradient of
  // an output, or of an output of Kind::kOutput. The caller has checked its shape; it must live
  // until the run is over.
  void SetArray(Kind kind, int slot, const NDArray& array);

  const CompiledProgram& compiled() const { return *compiled_; }
  const std::shared_ptr<const CompiledProgram>& shared_program() const { return compiled_; }
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

  // A chain of instructions that runs tile by tile.
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

  static constexpr int kNumKinds = static_cast<int>(Kind::kOutput) + 1;
  static constexpr int kNumParts = static_cast<int>(Part::kAll) + 1;

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
  void PointAt(void* data, ArrayView& view);
  // Where kernels put their work from now on.
  void UseQueue(DeviceQueue* queue);
  absl::Status RunInstructions(int begin, int end, bool is_train, uint64_t seed, uint64_t run,
                               const ProgramObserver* observer);

  const std::shared_ptr<const CompiledProgram> compiled_;
  std::array<std::vector<NDArray>, kNumKinds> arrays_;  // by kind of buffer and slot
  const std::vector<std::shared_ptr<Arena>> arenas_;    // by context
  std::vector<int64_t> arena_generations_;              // of the blocks that instructions point at
  // The blocks that instructions point at, by context. An arena that replaces its block between a
  // forward and its backward pass keeps the old one for as long as the backward pass may need it.
  std::vector<std::weak_ptr<Storage>> blocks_;
  std::array<std::vector<std::vector<Use>>, kNumKinds> uses_;  // where each array is used
  std::vector<std::unique_ptr<Step>> steps_;                   // one per instruction
  std::vector<Chain> chains_;                                  // of the program's tiles
  int64_t generation_ = -1;
  int64_t pointers_ = 0;  // changes whenever an instruction is pointed somewhere else
  int64_t after_ = -1;    // the name of what came behind the last Part::kAll
  std::array<RecordedPart, kNumParts> parts_;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_PROGRAM_STEPS_H_
