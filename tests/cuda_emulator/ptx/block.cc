#include "tests/cuda_emulator/ptx/block.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lanes.h"

namespace cooper::ptx {
namespace {

constexpr int64_t kDefaultSlice = 20000;

}  // namespace

Block::Block(LaunchState& launch, Dim3 position)
    : launch_(launch),
      position_(position),
      threads_(
          static_cast<int>(launch.launch.block.x * launch.launch.block.y * launch.launch.block.z)) {
  shared_.assign(launch.shared_total, 0xff);
  if (launch.options.unset_check) shared_written_.assign(launch.shared_total, false);
  if (launch.options.race_check) race_log_ = std::make_unique<RaceLog>(threads_);
  const int count = (threads_ + kLanes - 1) / kLanes;
  for (int i = 0; i < count; ++i) {
    const int lanes = std::min(kLanes, threads_ - i * kLanes);
    const uint32_t mask = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    warps_.push_back(std::make_unique<Warp>(launch, *this, i, mask));
    order_.push_back(i);
  }
  for (Barrier& barrier : barriers_) barrier.arrived.assign(static_cast<size_t>(count), 0);
}

Dim3 Block::ThreadOf(int thread) const {
  const Dim3 size = launch_.launch.block;
  const uint32_t t = static_cast<uint32_t>(thread);
  return {t % size.x, t / size.x % size.y, t / size.x / size.y};
}

bool Block::Run(int64_t budget) {
  const uint64_t option = launch_.options.slice;
  const int64_t slice =
      option == 0 ? kDefaultSlice : static_cast<int64_t>(std::min<uint64_t>(option, 1u << 30));
  while (budget > 0) {
    bool ran = false;
    bool left = false;
    if (launch_.options.seed != 0) std::shuffle(order_.begin(), order_.end(), launch_.random);
    for (int i : order_) {
      Warp& warp = *warps_[static_cast<size_t>(i)];
      if (warp.alive() == 0) continue;
      left = true;
      if (!warp.ready()) continue;
      ran = true;
      budget -= warp.Run(slice);
      if (!launch_.error.ok()) return false;
    }
    if (!left) return true;
    if (!ran) {
      ReportDeadlock();
      return false;
    }
  }
  return false;
}

bool Block::Complete(const Barrier& barrier) const {
  if (barrier.first == nullptr) return false;
  int64_t arrived = 0;
  int64_t expected = 0;
  for (size_t i = 0; i < warps_.size(); ++i) {
    const Warp& warp = *warps_[i];
    if (barrier.expected < 0) {
      arrived += std::popcount(barrier.arrived[i] & warp.alive());
      expected += std::popcount(warp.alive());
    } else if (barrier.arrived[i] != 0) {
      // The hardware counts warps: lanes that have ended count as arrived.
      arrived += std::popcount(barrier.arrived[i] | ~warp.alive());
    }
  }
  return arrived >= (barrier.expected < 0 ? expected : barrier.expected);
}

void Block::Arrive(Warp& warp, size_t index, const Instr& in) {
  Group& group = warp.groups()[index];
  const int lane = std::countr_zero(group.mask);
  const uint32_t id = warp.Lanes<uint32_t>(in.a)[lane];
  if (id >= barriers_.size()) {
    warp.Fail(lane, absl::StatusCode::kInvalidArgument, Concat("no barrier has the number ", id));
    return;
  }
  Barrier& barrier = barriers_[id];
  const int64_t expected =
      in.b == kNoSlot ? -1 : static_cast<int64_t>(warp.Lanes<uint32_t>(in.b)[lane]);
  if (expected == 0 || expected % kLanes > 0) {
    warp.Fail(lane, absl::StatusCode::kInvalidArgument,
              Concat("a barrier for ", expected, " threads, which is no multiple of 32"));
    return;
  }
  const bool first = barrier.first == nullptr;
  // Threads that are converged in the source are at the same instruction; value is .aligned.
  if (!first && barrier.first != &in && expected < 0 && in.value != 0) {
    Group other = group;
    other.pc = static_cast<int>(barrier.first - barrier.code->instrs.data());
    const bool same = barrier.code == group.frame->code;
    warp.Fail(lane, absl::StatusCode::kFailedPrecondition,
              Concat("threads of a block wait at different barriers",
                     same ? Concat("; others at ", Warp::Where(other)) : std::string()));
    return;
  }
  if (first) {
    barrier.first = &in;
    barrier.code = group.frame->code;
    barrier.expected = expected;
  } else if (barrier.expected != expected) {
    warp.Fail(
        lane, absl::StatusCode::kInvalidArgument,
        Concat("a barrier for ", expected, " threads at which others wait for ", barrier.expected));
    return;
  }
  barrier.arrived[static_cast<size_t>(warp.index())] |= group.mask;
  barrier.count += std::popcount(group.mask);
  if (in.c != kNoSlot) barrier.true_count += std::popcount(warp.Bits(in.c) & group.mask);
  if (static_cast<BarrierMode>(in.mode) == BarrierMode::kArrive) {
    ++group.pc;
  } else {
    group.state = Group::State::kBarrier;
    group.barrier = static_cast<int>(id);
  }
  if (Complete(barrier)) Release(static_cast<int>(id));
}

void Block::Release(int id) {
  Barrier& barrier = barriers_[static_cast<size_t>(id)];
  ++launch_.counters.barriers;
  if (race_log_ != nullptr) {
    uint32_t warps = 0;
    for (size_t i = 0; i < warps_.size(); ++i) {
      if (barrier.arrived[i] != 0) warps |= 1u << i;
    }
    if (barrier.expected < 0) {
      race_log_->BlockBarrier();
    } else {
      race_log_->PartialBarrier(warps);
    }
  }
  for (std::unique_ptr<Warp>& warp : warps_) {
    for (Group& group : warp->groups()) {
      if (group.state != Group::State::kBarrier || group.barrier != id) continue;
      const Instr& in = group.frame->code->instrs[static_cast<size_t>(group.pc)];
      uint8_t* registers = group.frame->data.get();
      if (in.d != kNoSlot) {
        ForLanes(group.mask, [&](int lane) {
          reinterpret_cast<uint32_t*>(registers + in.d)[lane] =
              static_cast<uint32_t>(barrier.true_count);
        });
      }
      if (in.d2 != kNoSlot) {
        const bool value = static_cast<BarrierMode>(in.mode) == BarrierMode::kAnd
                               ? barrier.true_count == barrier.count
                               : barrier.true_count > 0;
        uint32_t& bits = *reinterpret_cast<uint32_t*>(registers + in.d2);
        bits = value ? bits | group.mask : bits & ~group.mask;
      }
      group.state = Group::State::kReady;
      ++group.pc;
    }
  }
  std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  barrier.first = nullptr;
  barrier.true_count = 0;
  barrier.count = 0;
}

void Block::ThreadsEnded() {
  for (size_t id = 0; id < barriers_.size(); ++id) {
    if (Complete(barriers_[id])) Release(static_cast<int>(id));
  }
}

void Block::ReportDeadlock() {
  std::string places;
  int64_t waiting = 0;
  int named = 0;
  for (std::unique_ptr<Warp>& warp : warps_) {
    for (const Group& group : warp->groups()) {
      waiting += std::popcount(group.mask);
      if (++named > 4) continue;
      const int lane = std::countr_zero(group.mask);
      const Dim3 thread = ThreadOf(warp->index() * kLanes + lane);
      places += Concat(named == 1 ? "" : "; ", std::popcount(group.mask), " from thread (",
                       thread.x, ", ", thread.y, ", ", thread.z, ") on at ", Warp::Where(group));
      if (group.state == Group::State::kCollective) {
        places += Concat(" with mask ", absl::Hex(warp->collective(lane).mask, absl::kZeroPad8));
      }
    }
  }
  launch_.error = absl::DeadlineExceededError(Concat(
      waiting, " threads wait for others for ever; in ", launch_.kernel.function->name, ", block (",
      position_.x, ", ", position_.y, ", ", position_.z, "): ", places, named > 4 ? "; ..." : ""));
}

}  // namespace cooper::ptx
