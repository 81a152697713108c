#ifndef COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
#define COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_

// A compiled program bound to arrays, arenas and a stream of random numbers. It runs Forward, then
// Backward, with the outputs in an arena. Several of them may share one CompiledProgram; on
// different threads they need arenas and random states of their own, and may share arrays that they
// only read. Arrays are identified by slot here; Executor adds names.

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "executor/compile/compiled_program.h"
#include "executor/run/after_backward.h"
#include "executor/run/arena.h"
#include "executor/run/program_arrays.h"
#include "executor/run/program_steps.h"
#include "executor/run/random_state.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Not thread-safe. A training or inference step allocates nothing after the first one.
class BoundProgram final : public ArenaUser {
 public:
  // Binds a program; all other ways to bind call this. `arrays` are by slot of the program,
  // including those of folded constants; arguments may be missing until SetArg. `arenas` are by
  // context of the program; missing or null ones are made. A null `random` means a new state with
  // DefaultSeed().
  //
  // Errors: kInvalidArgument if an array has another shape, dtype or context than the program's, if
  // an argument lies in one of the arenas, if an arena is on another context than the program's, or
  // if an auxiliary state or a computed gradient is missing.
  static absl::StatusOr<std::unique_ptr<BoundProgram>> Bind(
      std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
      std::vector<std::shared_ptr<Arena>> arenas = {},
      std::shared_ptr<RandomState> random = nullptr);

  ~BoundProgram();
  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;

  // Makes `array` the array of argument `slot` from now on. Its elements must not change between
  // Forward and Backward. kInvalidArgument, naming the argument, for another shape, dtype or
  // context, and if Overwrites(array).
  absl::Status SetArg(int slot, const NDArray& array);
  // Does what Executor::Overwrites does.
  bool Overwrites(const NDArray& array) const;

  // Do what Executor::TakesOutput and Executor::SetOutput do.
  bool TakesOutput(int i) const;
  absl::Status SetOutput(int i, const NDArray& array);

  // Computes the outputs. `observer` may be null. kFailedPrecondition, naming the argument, if it
  // has no array or lies where an output is computed; kOutOfRange after kMaxRuns runs.
  absl::Status Forward(bool is_train, const ProgramObserver* observer = nullptr);
  // Computes the gradients from the last training Forward, which serves one Backward.
  // `head_gradients` has one array per output, or is empty. The errors are those of
  // Executor::Backward.
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {},
                        const ProgramObserver* observer = nullptr);
  // Runs Forward(true), Backward, and `after` if it is not null, with their errors: on a GPU as one
  // recording.
  absl::Status ForwardBackward(absl::Span<const NDArray> head_gradients = {},
                               const ProgramObserver* observer = nullptr,
                               const AfterBackward* after = nullptr);

  // Returns the outputs of the last Forward. Those in the arena are valid until another user of the
  // arena runs. The errors are those of Executor::outputs.
  absl::StatusOr<absl::Span<const NDArray>> outputs() const;

  // Return the parts of this object. Programs and random states may be shared with other objects.
  const ProgramSteps& steps() const { return steps_; }
  const CompiledProgram& compiled() const { return steps_.compiled(); }
  const std::shared_ptr<RandomState>& random() const { return random_; }

 private:
  using Kind = ProgramBuffer::Kind;
  static constexpr int64_t kNoGeneration = -2;  // no ProgramSteps have it

  BoundProgram(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
               std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random);

  // ArenaUser: drops the outputs, which another user is about to overwrite.
  void OnArenaReused() override;
  void ReleaseArenas();
  void ReleaseOutputs();
  // Returns whether `array` lies in the block of one of the arenas.
  bool IsInArena(const NDArray& array) const;
  // Fails if an argument has no array, or if CheckOutputsApart fails. Looks at arrays only if one
  // of them has changed.
  absl::Status CheckArgs();
  // Fails if an argument or another output lies in the array of an output.
  absl::Status CheckOutputsApart() const;
  // Fails unless the arenas still hold what this run left there.
  absl::Status CheckCurrent(const char* call) const;
  // Allocates arrays for outputs outside the arena that have none.
  absl::Status MakeMissingOutputs();
  // Points outputs_ at the memory of the outputs, if that has changed.
  absl::Status TakeOutputs();
  // Gives outputs whose shapes are counted the shapes that the run has found.
  absl::Status TakeCountedOutputs();
  // Checks that a run writes nothing into arguments, auxiliary states and gradients except their
  // own values.
  absl::Status CheckNotOverwritten() const;
  bool has_gradients() const { return !steps_.program().gradients.empty(); }
  // Sets the arrays of all head gradients, or of head gradient `i`, for the next backward pass. A
  // null array stands for zeros if none is needed. The errors are those of Executor::Backward.
  absl::Status TakeHeadGradients(absl::Span<const NDArray> head_gradients);
  absl::Status TakeHeadGradient(int i, NDArray head);
  // Prepares a run: updates pointers, provides outputs, and takes a number of the random stream.
  absl::Status BeginRun();
  // Prepares a run and calls `run`. Outputs are valid if both succeed.
  absl::Status Run(bool is_train, absl::FunctionRef<absl::Status()> run);

  ProgramSteps steps_;
  const WrittenRanges gradients_;  // the memory of the gradients that a run computes
  std::shared_ptr<RandomState> random_;
  std::vector<NDArray> outputs_;
  std::vector<NDArray> zero_heads_;  // by output: its head gradient where none is needed or given
  int64_t outputs_generation_ = kNoGeneration;
  bool outputs_may_move_ = false;  // some are the caller's arrays, which SetArg replaces
  int num_unset_ = 0;              // arguments without an array
  bool may_overlap_ = false;       // whether an argument may lie in an output's array
  bool arena_reused_ = false;
  bool ran_training_ = false;
  bool waits_for_backward_ = false;  // whether Backward computes an output, and has not yet
  uint64_t seed_ = 0;                // of the last Forward
  uint64_t run_ = 0;
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
