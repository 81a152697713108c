// Control flow of a warp: branches, calls, returns.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/body_parser.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {
namespace {

constexpr int kMaxDepth = 256;
constexpr int64_t kPauseCost = 200;

}  // namespace

bool Warp::Control(size_t index, const Instr& in, uint32_t mask) {
  switch (in.flow) {
    case Flow::kPlain:
      return true;
    case Flow::kBranch:
      return Branch(index, in, mask);
    case Flow::kIndexedBranch:
      return IndexedBranch(index, in, mask);
    case Flow::kCall:
      return Call(index, in, mask);
    case Flow::kReturn:
      return Return(index, mask);
    case Flow::kExit:
      return Exit(index, mask);
    case Flow::kBarrier: {
      SplitRest(index, mask);
      if (in.run != nullptr) in.run(*this, in, mask);
      if (!failed()) block_.Arrive(*this, index, in);
      return false;
    }
    case Flow::kCollective:
      return Collective(index, in, mask);
    case Flow::kPause:
      ++groups_[index].pc;
      Spend(kPauseCost);
      return true;
  }
  return true;
}

bool Warp::Branch(size_t index, const Instr& in, uint32_t mask) {
  Group& group = groups_[index];
  if (mask == group.mask) {
    group.pc = in.target;
    return true;
  }
  Group taken = group;
  taken.mask = mask;
  taken.pc = in.target;
  group.mask &= ~mask;
  ++group.pc;
  groups_.push_back(taken);
  return false;
}

bool Warp::IndexedBranch(size_t index, const Instr& in, uint32_t mask) {
  SplitRest(index, mask);
  const uint32_t* values = Lanes<uint32_t>(in.a);
  const Group whole = groups_[index];
  uint32_t left = mask;
  bool first = true;
  while (left != 0) {
    const int lane = std::countr_zero(left);
    const uint32_t value = values[lane];
    if (value >= in.count) {
      Fail(lane, absl::StatusCode::kOutOfRange,
           Concat("branch ", value, " of ", static_cast<int>(in.count)));
      return false;
    }
    Group group = whole;
    group.mask = 0;
    ForLanes(left, [&](int other) {
      if (values[other] == value) group.mask |= 1u << other;
    });
    left &= ~group.mask;
    group.pc =
        static_cast<int>(code().lists[static_cast<size_t>(in.list) + static_cast<size_t>(value)]);
    if (first) {
      groups_[index] = group;
    } else {
      groups_.push_back(group);
    }
    first = false;
  }
  return false;
}

// Returns the function that the first lane of `mask` calls; reduces `mask` to the lanes that call
// it.
const Code* Warp::CalleeOf(const Instr& in, uint32_t& mask) {
  if (in.target >= 0) return code().callee_code[static_cast<size_t>(in.target)];
  const uint64_t* addresses = Lanes<uint64_t>(in.a);
  const int lane = std::countr_zero(mask);
  const uint64_t address = addresses[lane];
  uint32_t same = 0;
  ForLanes(mask, [&](int other) {
    if (addresses[other] == address) same |= 1u << other;
  });
  mask = same;
  const uint64_t number = (address - kFunctionWindow) / 16;
  const auto functions = launch_.module.functions();
  if (InWindow(address, kFunctionWindow) && number >= 1 && number <= functions.size()) {
    const Function* function = &functions[number - 1];
    for (const auto& [candidate, link] : launch_.linked) {
      if (candidate->function == function) return candidate;
    }
  }
  Fail(lane, absl::StatusCode::kOutOfRange, "a call of what is no function");
  return nullptr;
}

bool Warp::Call(size_t index, const Instr& in, uint32_t mask) {
  const CallSite& site = code().calls[static_cast<size_t>(in.list)];
  if (in.run != nullptr) {  // built in
    in.run(*this, in, mask);
    ++groups_[index].pc;
    return true;
  }
  uint32_t callers = mask;
  const Code* callee = CalleeOf(in, callers);
  if (callee == nullptr) return false;
  if (callers != mask) {  // the other lanes run this instruction again
    Group others = groups_[index];
    others.mask = mask & ~callers;
    groups_.push_back(others);
    groups_[index].mask &= ~others.mask;
  }
  SplitRest(index, callers);
  const Function& function = *callee->function;
  Frame* caller = groups_[index].frame;
  if (caller->depth >= kMaxDepth) {
    Fail(-1, absl::StatusCode::kOutOfRange, "calls are nested too deeply");
    return false;
  }
  const size_t arguments = function.params.size();
  const bool fits = site.arguments.size() >= arguments && [&] {
    for (size_t i = 0; i < arguments; ++i) {
      if (site.arguments[i].size < function.params[i].size) return false;
    }
    return true;
  }();
  if (!fits) {
    Fail(-1, absl::StatusCode::kInvalidArgument,
         Concat("too few or too small arguments for ", function.name));
    return false;
  }
  Frame* frame = PushFrame(callee, caller, callers);
  frame->return_to = groups_[index].pc + 1;
  frame->call = &site;
  ForLanes(callers, [&](int lane) {
    for (size_t i = 0; i < arguments; ++i) {
      const Param& param = function.params[i];
      std::memcpy(local(lane) + frame->local_base + param.offset,
                  local(lane) + caller->local_base + site.arguments[i].offset, param.size);
    }
  });
  groups_[index].frame = frame;
  groups_[index].pc = 0;
  return false;
}

bool Warp::Return(size_t index, uint32_t mask) {
  Frame* frame = groups_[index].frame;
  if (frame->caller == nullptr) return Exit(index, mask);
  SplitRest(index, mask);
  const Function& function = *frame->code->function;
  const size_t results = std::min(frame->call->results.size(), function.results.size());
  const uint64_t from = frame->local_base + ResultsOffset(function);
  ForLanes(mask, [&](int lane) {
    for (size_t i = 0; i < results; ++i) {
      const CallRange& range = frame->call->results[i];
      const Param& result = function.results[i];
      std::memcpy(local(lane) + frame->caller->local_base + range.offset,
                  local(lane) + from + result.offset, std::min(result.size, range.size));
    }
  });
  groups_[index].frame = frame->caller;
  groups_[index].pc = frame->return_to;
  Drop(frame, std::popcount(mask));
  return false;
}

bool Warp::Exit(size_t index, uint32_t mask) {
  SplitRest(index, mask);
  Frame* frame = groups_[index].frame;
  groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(index));
  alive_ &= ~mask;
  group_mask_ = 0;
  while (frame != nullptr) {
    Frame* const caller = frame->caller;
    // The outermost frame is kept for messages.
    if (caller != nullptr) Drop(frame, std::popcount(mask));
    if (caller == nullptr) frame_ = frame;
    frame = caller;
  }
  pc_ = 0;
  uint32_t waiting = 0;
  for (const Group& group : groups_) {
    if (group.state == Group::State::kCollective) waiting |= group.mask;
  }
  CompleteCollectives(waiting);
  block_.ThreadsEnded();
  return false;
}

}  // namespace cooper::ptx
