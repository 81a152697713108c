#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_H_

// One warp. Lanes at the same instruction of the same call run together, as a group. A divergent
// branch splits the group. The group with the deepest call and the lowest instruction runs first,
// which makes groups reconverge after loops and branches. A group that has run for long yields to
// the others, so that lanes may wait for each other.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

class Block;

// The lanes `mask` at an instruction.
struct Group {
  enum class State : uint8_t { kReady, kBarrier, kCollective };
  Frame* frame = nullptr;
  int pc = 0;
  uint32_t mask = 0;
  State state = State::kReady;
  int barrier = -1;
  int64_t turn = 0;  // the last time it was selected
};

// The operands and results of a lane in a collective.
struct CollectiveLane {
  const Instr* in = nullptr;  // the instruction at which it waits; null: none
  uint32_t mask = 0;
  uint64_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint64_t result = 0;
  bool predicate = false;
};

// A running warp. Not thread-safe.
class Warp {
 public:
  Warp(LaunchState& launch, Block& block, int index, uint32_t lanes);
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // Runs until no group is ready or about `budget` instructions have run. Returns their number,
  // plus what handlers added with Spend().
  int64_t Run(int64_t budget);

  // Returns whether some group can run.
  bool ready() const;
  uint32_t alive() const { return alive_; }
  uint32_t lanes() const { return lanes_; }  // existing lanes
  int index() const { return index_; }
  std::vector<Group>& groups() { return groups_; }
  LaunchState& launch() { return launch_; }
  Block& block() { return block_; }

  // For handlers: the registers of the running group.
  template <typename T>
  SlotOf<T>* Lanes(uint32_t slot) {
    return reinterpret_cast<SlotOf<T>*>(registers_ + slot);
  }
  // Returns the lanes of a predicate.
  uint32_t& Bits(uint32_t slot) { return *reinterpret_cast<uint32_t*>(registers_ + slot); }
  uint8_t* registers() { return registers_; }
  const Code& code() const { return *frame_->code; }
  const Frame& frame() const { return *frame_; }
  uint32_t group_mask() const { return group_mask_; }

  // Ends the launch with an error of `lane` at the current instruction.
  void Fail(int lane, absl::StatusCode code, std::string_view what);
  bool failed() const { return !launch_.error.ok(); }
  // Counts additional instructions, for instructions that poll for others.
  void Spend(int64_t instructions) { budget_ -= instructions; }

  // Sets the host pointers for the addresses in in.a of the lanes of `mask`; checks, logs and
  // counts the accesses. Returns false on an error.
  bool Resolve(const Instr& in, uint32_t mask, uint8_t** pointers);
  // Does Resolve for other operands: the addresses in `slot`, plus `offset`.
  bool ResolveAt(const MemoryUse& use, uint32_t slot, uint64_t offset, uint32_t mask,
                 uint8_t** pointers);
  // Returns the order in which lanes access one address.
  const std::array<uint8_t, kLanes>& lane_order() const { return lane_order_; }
  // Returns a thread's local memory, large enough for the deepest call.
  uint8_t* local(int lane) { return local_[static_cast<size_t>(lane)].data(); }

  CollectiveLane& collective(int lane) { return collective_[static_cast<size_t>(lane)]; }
  // Describes where a group waits or an error is: "line N: text".
  static std::string Where(const Group& group);

 private:
  static constexpr size_t kNone = ~size_t{0};

  // Merges the groups that can run together, and selects one. kNone: none is ready.
  size_t Choose();
  // Merges groups that are at the same instruction of the same frame.
  void Merge();
  void RunGroup(size_t index);
  // Splits off the lanes of group `index` that are not in `mask`; they continue after the
  // instruction.
  void SplitRest(size_t index, uint32_t mask);
  void SplitAtRandom(size_t index);
  int StopOf(size_t index) const;

  // Executes the control flow of group `index` for the lanes of `mask`. Returns false if another
  // group must be selected.
  bool Control(size_t index, const Instr& in, uint32_t mask);
  bool Branch(size_t index, const Instr& in, uint32_t mask);
  bool IndexedBranch(size_t index, const Instr& in, uint32_t mask);
  bool Call(size_t index, const Instr& in, uint32_t mask);
  const Code* CalleeOf(const Instr& in, uint32_t& mask);
  bool Return(size_t index, uint32_t mask);
  bool Exit(size_t index, uint32_t mask);
  bool Collective(size_t index, const Instr& in, uint32_t mask);
  // Completes the collectives for which `candidates` wait, if all lanes of their masks have
  // arrived.
  void CompleteCollectives(uint32_t candidates);

  Frame* PushFrame(const Code* code, Frame* caller, uint32_t mask);
  void FillSpecials(Frame& frame);
  void Drop(Frame* frame, int lanes);

  LaunchState& launch_;
  Block& block_;
  int index_;
  uint32_t lanes_;
  uint32_t alive_;
  std::vector<Group> groups_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::array<std::vector<uint8_t>, kLanes> local_;
  std::array<CollectiveLane, kLanes> collective_{};
  std::array<uint8_t, kLanes> lane_order_{};

  uint8_t* registers_ = nullptr;
  Frame* frame_ = nullptr;
  int pc_ = 0;
  uint32_t group_mask_ = 0;
  int64_t budget_ = 0;
  int64_t turn_ = 0;
  bool rotate_ = false;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_H_
