#ifndef COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_
#define COOPER_EXECUTOR_RUN_BOUND_PROGRAM_H_

// A compiled program bound to arrays, arenas and a stream of random numbers: it runs Forward, then
// Backward, with the outputs in an arena. Any number of these share one CompiledProgram; those on
// different threads need arenas and random states of their own, and may share the arrays that they
// only read. Arrays are named by slot here; Executor has names over the slots.

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

// Not thread-safe. A step allocates nothing once the first one has run.
class BoundProgram final : public ArenaUser {
 public:
  // The one way to bind. `arrays` are by slot of the program, with those of folded constants:
  // kInvalidArgument if one has another shape, dtype or context than the program's, if an argument
  // is in one of the arenas, if an arena is on another context than the program's, or if an
  // auxiliary state or a gradient that is computed is missing. Arguments may come later (SetArg).
  // `arenas` are by context of the program; those that are missing or null are made. `random` may
  // be null: DefaultSeed().
  static absl::StatusOr<std::unique_ptr<BoundProgram>> Bind(
      std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
      std::vector<std::shared_ptr<Arena>> arenas = {},
      std::shared_ptr<RandomState> random = nullptr);

  ~BoundProgram();
  BoundProgram(const BoundProgram&) = delete;
  BoundProgram& operator=(const BoundProgram&) = delete;

  // The array of argument `slot` from now on: it must not change between Forward and Backward.
  // kInvalidArgument, naming the argument, for another shape, dtype or context, and for an array
  // that it Overwrites.
  absl::Status SetArg(int slot, const NDArray& array);
  // Executor::Overwrites.
  bool Overwrites(const NDArray& array) const;

  // Executor::TakesOutput and Executor::SetOutput.
  bool TakesOutput(int i) const;
  absl::Status SetOutput(int i, const NDArray& array);

  // kFailedPrecondition, naming it, if an argument has no array, or one in which an output is
  // computed. `observer` may be null.
  absl::Status Forward(bool is_train, const ProgramObserver* observer = nullptr);
  // Uses up a training Forward. `head_gradients` has one array per output, or is empty. The errors
  // are Executor::Backward's.
  absl::Status Backward(absl::Span<const NDArray> head_gradients = {},
                        const ProgramObserver* observer = nullptr);
  // Forward in training, then Backward, with their errors, then `after` if it is not null: on a GPU
  // as one piece of work.
  absl::Status ForwardBackward(absl::Span<const NDArray> head_gradients = {},
                               const ProgramObserver* observer = nullptr,
                               const AfterBackward* after = nullptr);

  // Returns the outputs of the last Forward. Those in the arena are valid until another user of the
  // arena runs. The errors are Executor::outputs'.
  absl::StatusOr<absl::Span<const NDArray>> outputs() const;

  const ProgramSteps& steps() const { return steps_; }
  const CompiledProgram& compiled() const { return steps_.compiled(); }
  const std::shared_ptr<RandomState>& random() const { return random_; }

 private:
  using Kind = ProgramBuffer::Kind;
  static constexpr int64_t kNoGeneration = -2;  // no ProgramSteps have it

  BoundProgram(std::shared_ptr<const CompiledProgram> compiled, ProgramArrays arrays,
               std::vector<std::shared_ptr<Arena>> arenas, std::shared_ptr<RandomState> random);

  void OnArenaReused() override;
  void ReleaseArenas();
  void ReleaseOutputs();
  bool IsInArena(const NDArray& array) const;
  absl::Status CheckArgs();
  // Fails if an argument lies where SetOutput says.
  absl::Status CheckOutputsApart() const;
  // Fails unless the arenas still hold what this run left there.
  absl::Status CheckCurrent(const char* call) const;
  absl::Status MakeMissingOutputs();
  absl::Status TakeOutputs();
  // Leaves of outputs whose rows are counted those that the run has found.
  absl::Status SliceOutputs();
  // That the run writes nothing into arguments, auxiliary states and gradients but what belongs
  // there.
  absl::Status CheckNotOverwritten() const;
  bool has_gradients() const { return !steps_.program().gradients.empty(); }
  absl::Status TakeHeadGradients(absl::Span<const NDArray> head_gradients);
  absl::Status TakeHeadGradient(int i, NDArray head);
  // Makes of the gradient of an output's rows one with room for all that there could be.
  absl::Status AllocateHead(int i, NDArray& head);
  // Everything that a run needs before its first instruction, and a name for its random numbers.
  absl::Status BeginRun();
  // Begins a run, and makes it by `run`; outputs are valid if both are OK.
  absl::Status Run(bool is_train, absl::FunctionRef<absl::Status()> run);

  ProgramSteps steps_;
  const WrittenRanges gradients_;  // which the run computes
  std::shared_ptr<RandomState> random_;
  std::vector<NDArray> outputs_;
  std::vector<NDArray> zero_heads_;  // by output: its head gradient where none is needed or given
  std::vector<NDArray> allocated_heads_;  // by output whose rows are counted: AllocateHead's
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
