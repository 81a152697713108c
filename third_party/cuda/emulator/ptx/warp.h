#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_H_

// One warp. Lanes that are at the same instruction of the same call run together, as a group; a
// branch that they do not agree on splits the group. Of several groups that of the deepest call and
// the lowest instruction runs first, which brings them together again behind loops and branches;
// one that has run long gives way to the others, so that lanes may wait for one another.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "third_party/cuda/emulator/ptx/lanes.h"
#include "third_party/cuda/emulator/ptx/launch_state.h"
#include "third_party/cuda/emulator/ptx/program.h"

namespace cooper::ptx {

class Block;

// The lanes `mask`, at an instruction.
struct Group {
  enum class State : uint8_t { kReady, kBarrier, kCollective };
  Frame* frame = nullptr;
  int pc = 0;
  uint32_t mask = 0;
  State state = State::kReady;
  int barrier = -1;
  int64_t turn = 0;  // when it was last chosen
};

// What a lane brings to a collective, and what it takes away.
struct CollectiveLane {
  const Instr* in = nullptr;  // what it waits at; null: nothing
  uint32_t mask = 0;
  uint64_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint64_t result = 0;
  bool predicate = false;
};

class Warp {
 public:
  Warp(LaunchState& launch, Block& block, int index, uint32_t lanes);
  ~Warp();
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  // Runs until nothing is ready or about `budget` instructions are done; returns how many, with
  // what handlers have added by Spend().
  int64_t Run(int64_t budget);

  bool ready() const;
  uint32_t alive() const { return alive_; }
  uint32_t lanes() const { return lanes_; }  // that exist
  int index() const { return index_; }
  std::vector<Group>& groups() { return groups_; }
  LaunchState& launch() { return launch_; }
  Block& block() { return block_; }

  // For handlers, of the group that runs.
  template <typename T>
  SlotOf<T>* Lanes(uint32_t slot) {
    return reinterpret_cast<SlotOf<T>*>(registers_ + slot);
  }
  // The lanes of a predicate.
  uint32_t& Bits(uint32_t slot) { return *reinterpret_cast<uint32_t*>(registers_ + slot); }
  uint8_t* registers() { return registers_; }
  const Code& code() const { return *frame_->code; }
  const Frame& frame() const { return *frame_; }
  uint32_t group_mask() const { return group_mask_; }

  // Ends the launch: `lane` has made a mistake at the instruction that runs.
  void Fail(int lane, absl::StatusCode code, std::string_view what);
  bool failed() const { return !launch_.error.ok(); }
  // As if so many instructions more had been run: for what waits for others by asking again.
  void Spend(int64_t instructions) { budget_ -= instructions; }

  // The host's addresses of what the lanes of `mask` access at the addresses that they have in
  // in.a, checked, logged and counted. False if it failed.
  bool Resolve(const Instr& in, uint32_t mask, uint8_t** pointers);
  // The same for other operands: addresses are those of `slot` plus in.value.
  bool ResolveAt(const MemoryUse& use, uint32_t slot, uint64_t offset, uint32_t mask,
                 uint8_t** pointers);
  // Lanes in the order in which they access one place.
  const std::array<uint8_t, kLanes>& lane_order() const { return lane_order_; }
  // A thread's local memory, which is as large as the deepest call needs.
  uint8_t* local(int lane) { return local_[static_cast<size_t>(lane)].data(); }

  CollectiveLane& collective(int lane) { return collective_[static_cast<size_t>(lane)]; }
  // Where a group waits or an error is: "line N: text".
  static std::string Where(const Group& group);

 private:
  static constexpr size_t kNone = ~size_t{0};

  // Brings together what can run together, and chooses. kNone: nothing is ready.
  size_t Choose();
  void Merge();
  void RunGroup(size_t index);
  // Splits off the lanes of group `index` that are not in `mask`; they go on behind the
  // instruction.
  void SplitRest(size_t index, uint32_t mask);
  void SplitAtRandom(size_t index);
  int StopOf(size_t index) const;

  // Control flow of group `index`, by the lanes of `mask`. False: another choice has to be made.
  bool Control(size_t index, const Instr& in, uint32_t mask);
  bool Branch(size_t index, const Instr& in, uint32_t mask);
  bool IndexedBranch(size_t index, const Instr& in, uint32_t mask);
  bool Call(size_t index, const Instr& in, uint32_t mask);
  const Code* CalleeOf(const Instr& in, uint32_t& mask);
  bool Return(size_t index, uint32_t mask);
  bool Exit(size_t index, uint32_t mask);
  bool Collective(size_t index, const Instr& in, uint32_t mask);
  // Completes the collectives that `candidates` wait for, if all lanes of their masks have come.
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

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_H_
