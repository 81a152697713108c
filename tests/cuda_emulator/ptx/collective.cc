// Lanes waiting for each other: a collective completes when all living lanes of its mask have
// reached it. They may reach it at different places if the instructions are equal.

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/race_log.h"
#include "tests/cuda_emulator/ptx/warp.h"
#include "tests/cuda_emulator/ptx/warp_ops.h"

namespace cooper::ptx {

bool Warp::Collective(size_t index, const Instr& in, uint32_t mask) {
  SplitRest(index, mask);
  DepositCollective(*this, in, mask);
  if (failed()) return false;
  groups_[index].state = Group::State::kCollective;
  const size_t groups = groups_.size();
  CompleteCollectives(mask);
  // If all lanes arrived together and no group waited or was split, the group continues.
  if (groups_.size() != groups || groups_[index].state != Group::State::kReady) return false;
  return groups == 1;
}

void Warp::CompleteCollectives(uint32_t candidates) {
  uint32_t complete = 0;
  while (candidates != 0) {
    const int first = std::countr_zero(candidates);
    const CollectiveLane& head = collective(first);
    if (head.in == nullptr) {
      candidates &= candidates - 1;
      continue;
    }
    const uint32_t needed = head.mask & alive_;
    uint32_t come = 0;
    ForLanes(needed, [&](int lane) {
      const CollectiveLane& other = collective(lane);
      if (other.in != nullptr && other.mask == head.mask && SameCollective(*other.in, *head.in)) {
        come |= 1u << lane;
      }
    });
    candidates &= ~(come | 1u << first);
    if (come != needed) continue;
    FinishCollective(*this, come);
    complete |= come;
    if (RaceLog* log = block_.race_log()) {
      log->WarpSync(index_, come, (come & alive_) == alive_);
    }
  }
  if (complete == 0) return;
  for (size_t i = 0, count = groups_.size(); i < count; ++i) {
    if (groups_[i].state != Group::State::kCollective) continue;
    const uint32_t done = groups_[i].mask & complete;
    if (done == 0) continue;
    if (done != groups_[i].mask) {
      Group waiting = groups_[i];
      waiting.mask &= ~done;
      groups_.push_back(waiting);
      groups_[i].mask = done;
    }
    Group& group = groups_[i];
    const Instr& in = group.frame->code->instrs[static_cast<size_t>(group.pc)];
    uint8_t* const registers = registers_;
    registers_ = group.frame->data.get();
    TakeCollective(*this, in, done);
    registers_ = registers;
    group.state = Group::State::kReady;
    ++group.pc;
  }
}

}  // namespace cooper::ptx
