#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_BLOCK_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_BLOCK_H_

// One block: its warps, which take turns, its shared memory and its barriers.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/race_log.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {

// A running block. Not thread-safe.
class Block {
 public:
  Block(LaunchState& launch, Dim3 position);

  // Runs its warps in turns until all threads have ended (returns true), about `budget`
  // instructions have run, or an error ended the launch.
  bool Run(int64_t budget);

  const Dim3& position() const { return position_; }
  int threads() const { return threads_; }
  // Returns the index of a thread from its number in the block.
  Dim3 ThreadOf(int thread) const;
  int warp_count() const { return static_cast<int>(warps_.size()); }

  std::vector<uint8_t>& shared() { return shared_; }
  std::vector<bool>& shared_written() { return shared_written_; }  // with Options::unset_check
  RaceLog* race_log() { return race_log_.get(); }                  // null without race_check

  // Group `index` of a warp arrives at a barrier instruction. The caller has set the group to wait,
  // unless the instruction only arrives.
  void Arrive(Warp& warp, size_t index, const Instr& in);
  // Completes barriers of the whole block that waited for threads that have ended.
  void ThreadsEnded();

 private:
  struct Barrier {
    std::vector<uint32_t> arrived;  // lanes of each warp
    int64_t expected = -1;          // threads; -1: all of the block
    int true_count = 0;             // votes of bar.red
    int count = 0;
    const Instr* first = nullptr;
    const Code* code = nullptr;
  };

  // Returns whether all expected threads have arrived.
  bool Complete(const Barrier& barrier) const;
  // Lets the threads that wait at a barrier continue, and resets it.
  void Release(int id);
  // Ends the launch with an error that names the places where threads wait.
  void ReportDeadlock();

  LaunchState& launch_;
  Dim3 position_;
  int threads_;
  std::vector<uint8_t> shared_;
  std::vector<bool> shared_written_;
  std::unique_ptr<RaceLog> race_log_;
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<int> order_;
  size_t next_ = 0;
  std::array<Barrier, 16> barriers_;
};

// Values of Instr::mode for a barrier.
enum class BarrierMode : uint8_t { kSync, kArrive, kPopc, kAnd, kOr };

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_BLOCK_H_
