#include "tests/cuda_emulator/ptx/warp.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/special.h"

namespace cooper::ptx {

Warp::Warp(LaunchState& launch, Block& block, int index, uint32_t lanes)
    : launch_(launch), block_(block), index_(index), lanes_(lanes), alive_(lanes) {
  for (int lane = 0; lane < kLanes; ++lane) {
    lane_order_[static_cast<size_t>(lane)] = static_cast<uint8_t>(lane);
  }
  if (launch.options.seed != 0) {
    std::shuffle(lane_order_.begin(), lane_order_.end(), launch.random);
  }
  groups_.push_back({PushFrame(&launch.kernel, nullptr, lanes), 0, lanes});
}

Warp::~Warp() {
  for (std::unique_ptr<Frame>& frame : frames_) launch_.FreeFrame(std::move(frame));
}

bool Warp::ready() const {
  for (const Group& group : groups_) {
    if (group.state == Group::State::kReady) return true;
  }
  return false;
}

int64_t Warp::Run(int64_t budget) {
  int64_t done = 0;
  while (done < budget && !failed()) {
    const size_t index = Choose();
    if (index == kNone) break;
    if (launch_.options.seed != 0 && launch_.random() % 4 == 0) SplitAtRandom(index);
    int64_t chunk = budget - done;
    if (groups_.size() > 1 && launch_.options.seed != 0) {  // the selected lanes advance
      chunk = std::min<int64_t>(chunk, 1 + static_cast<int64_t>(launch_.random() % 64));
    }
    budget_ = chunk;
    RunGroup(index);
    done += chunk - budget_;
    const uint64_t limit = launch_.options.max_instructions;
    if (limit != 0 && static_cast<uint64_t>(launch_.counters.instructions) > limit && !failed()) {
      Fail(-1, absl::StatusCode::kDeadlineExceeded,
           Concat("the launch ran more than the ", limit, " instructions that it may"));
    }
  }
  rotate_ = done >= budget;
  return done;
}

void Warp::Merge() {
  for (size_t i = 0; i + 1 < groups_.size(); ++i) {
    if (groups_[i].state != Group::State::kReady) continue;
    for (size_t j = i + 1; j < groups_.size();) {
      const Group& other = groups_[j];
      if (other.state == Group::State::kReady && other.frame == groups_[i].frame &&
          other.pc == groups_[i].pc) {
        groups_[i].mask |= other.mask;
        groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(j));
      } else {
        ++j;
      }
    }
  }
}

size_t Warp::Choose() {
  if (groups_.size() > 1) Merge();
  size_t best = kNone;
  for (size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.state != Group::State::kReady) continue;
    if (best == kNone) {
      best = i;
      continue;
    }
    const Group& other = groups_[best];
    const bool before = rotate_ ? group.turn < other.turn
                        : group.frame->depth != other.frame->depth
                            ? group.frame->depth > other.frame->depth
                            : group.pc < other.pc;
    if (before) best = i;
  }
  rotate_ = false;
  if (best != kNone) groups_[best].turn = ++turn_;
  return best;
}

// Returns the first instruction after the group's own at which another group waits for it.
int Warp::StopOf(size_t index) const {
  int stop = std::numeric_limits<int>::max();
  const Group& group = groups_[index];
  for (const Group& other : groups_) {
    if (other.frame == group.frame && other.pc > group.pc && other.state == Group::State::kReady) {
      stop = std::min(stop, other.pc);
    }
  }
  return stop;
}

void Warp::SplitRest(size_t index, uint32_t mask) {
  Group rest = groups_[index];
  rest.mask &= ~mask;
  ++rest.pc;
  if (rest.mask == 0) return;
  groups_[index].mask = mask;
  groups_.push_back(rest);
}

// Lets some lanes fall behind: lanes are not guaranteed to run in step.
void Warp::SplitAtRandom(size_t index) {
  const uint32_t behind = groups_[index].mask & static_cast<uint32_t>(launch_.random());
  if (behind == 0 || behind == groups_[index].mask) return;
  Group group = groups_[index];
  group.mask = behind;
  groups_[index].mask &= ~behind;
  groups_.push_back(group);
}

void Warp::RunGroup(size_t index) {
  Frame* const frame = groups_[index].frame;
  frame_ = frame;
  registers_ = frame->data.get();
  const Instr* const instrs = frame->code->instrs.data();
  uint32_t group_mask = group_mask_ = groups_[index].mask;
  int lanes = std::popcount(group_mask);
  int pc = groups_[index].pc;
  const int stop = StopOf(index);
  int64_t thread_instructions = 0;
  int64_t warp_instructions = 0;
  int64_t flops = 0;
  while (pc < stop) {
    const Instr& in = instrs[pc];
    uint32_t mask = group_mask;
    if (in.guarded) mask &= in.guard_negated ? ~Bits(in.guard) : Bits(in.guard);
    warp_instructions += in.weight;
    thread_instructions += in.weight * lanes;
    --budget_;
    if (in.flow == Flow::kPlain) {
      if (mask != 0) {
        pc_ = pc;
        in.run(*this, in, mask);
        if (in.flops != 0) flops += in.flops * std::popcount(mask);
      }
      ++pc;
      if (failed() || budget_ <= 0) break;
      continue;
    }
    if (mask == 0) {
      ++pc;
      continue;
    }
    groups_[index].pc = pc_ = pc;
    const bool goes_on = Control(index, in, mask);
    if (!goes_on || failed()) {
      index = kNone;
      break;
    }
    pc = groups_[index].pc;
    if (budget_ <= 0) break;
  }
  if (index != kNone) groups_[index].pc = pc;
  launch_.counters.instructions += thread_instructions;
  launch_.counters.warp_instructions += warp_instructions;
  launch_.counters.flops += flops;
}

Frame* Warp::PushFrame(const Code* code, Frame* caller, uint32_t mask) {
  std::unique_ptr<Frame> frame = launch_.NewFrame(code);
  frame->caller = caller;
  frame->depth = caller == nullptr ? 0 : caller->depth + 1;
  frame->local_base =
      caller == nullptr ? 0 : (caller->local_base + caller->code->local_bytes + 15) / 16 * 16;
  frame->lanes = std::popcount(mask);
  const uint64_t end = frame->local_base + code->local_bytes;
  ForLanes(mask, [&](int lane) {
    std::vector<uint8_t>& local = local_[static_cast<size_t>(lane)];
    if (local.size() < end) local.resize(end);
    if (code->local_bytes > 0) {  // as in shared memory: unset bytes are NaN
      std::memset(local.data() + frame->local_base, 0xff, code->local_bytes);
    }
  });
  FillSpecials(*frame);
  frames_.push_back(std::move(frame));
  return frames_.back().get();
}

void Warp::Drop(Frame* frame, int lanes) {
  frame->lanes -= lanes;
  if (frame->lanes > 0) return;
  for (size_t i = 0; i < frames_.size(); ++i) {
    if (frames_[i].get() != frame) continue;
    launch_.FreeFrame(std::move(frames_[i]));
    frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

std::string Warp::Where(const Group& group) {
  const Code& code = *group.frame->code;
  const Source& source =
      code.sources[static_cast<size_t>(code.instrs[static_cast<size_t>(group.pc)].statement)];
  return Concat("PTX line ", source.line, ": ", source.text);
}

void Warp::Fail(int lane, absl::StatusCode code, std::string_view what) {
  if (failed()) return;
  std::string thread = "no one thread";
  if (lane < 0 && group_mask_ != 0) lane = std::countr_zero(group_mask_);
  if (lane >= 0) {
    const Dim3 at = block_.ThreadOf(index_ * kLanes + lane);
    thread = Concat("thread (", at.x, ", ", at.y, ", ", at.z, ")");
  }
  const Dim3 block = block_.position();
  Group group;
  group.frame = frame_;
  group.pc = pc_;
  launch_.error = absl::Status(
      code, Concat(what, "; in ", frame_->code->function->name, ", block (", block.x, ", ", block.y,
                   ", ", block.z, "), ", thread, ", at ", Where(group)));
}

}  // namespace cooper::ptx
