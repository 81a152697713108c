#include "tests/cuda_emulator/ptx/warp_ops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {
namespace {

using Mode = CollectiveMode;

Mode ModeOf(const Instr& in) { return static_cast<Mode>(in.mode); }
bool IsShfl(Mode mode) { return mode >= Mode::kShflUp && mode <= Mode::kShflIdx; }
bool IsVote(Mode mode) { return mode >= Mode::kVoteBallot && mode <= Mode::kVoteUni; }

// Returns the lane that `lane` reads, and whether it is in range; a lane out of range reads itself.
int ShflSource(Mode mode, int lane, const CollectiveLane& at, bool& in_range) {
  const int b = static_cast<int>(at.b & 31);
  const int clamp = static_cast<int>(at.c & 31);
  const int segment = static_cast<int>(at.c >> 8 & 31);
  const int last = (lane & segment) | (clamp & ~segment);
  int from = lane;
  switch (mode) {
    case Mode::kShflUp:
      from = lane - b;
      in_range = from >= last;
      break;
    case Mode::kShflDown:
      from = lane + b;
      in_range = from <= last;
      break;
    case Mode::kShflBfly:
      from = lane ^ b;
      in_range = from <= last;
      break;
    default:
      from = (lane & segment) | (b & ~segment & 31);
      in_range = from <= last;
      break;
  }
  return in_range ? from : lane;
}

uint32_t FloatMinMax(uint32_t a, uint32_t b, bool max) {
  const float x = std::bit_cast<float>(a);
  const float y = std::bit_cast<float>(b);
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  if (x == y) return (std::signbit(x) == max) ? b : a;
  return (x < y) == max ? b : a;
}

uint32_t Reduce(Mode mode, uint32_t x, uint32_t y) {
  const int32_t a = static_cast<int32_t>(x);
  const int32_t b = static_cast<int32_t>(y);
  switch (mode) {
    case Mode::kReduxAdd:
      return x + y;
    case Mode::kReduxMinS:
      return static_cast<uint32_t>(std::min(a, b));
    case Mode::kReduxMaxS:
      return static_cast<uint32_t>(std::max(a, b));
    case Mode::kReduxMinU:
      return std::min(x, y);
    case Mode::kReduxMaxU:
      return std::max(x, y);
    case Mode::kReduxAnd:
      return x & y;
    case Mode::kReduxOr:
      return x | y;
    case Mode::kReduxXor:
      return x ^ y;
    default:
      return FloatMinMax(x, y, mode == Mode::kReduxMaxF);
  }
}

void FinishShfl(Warp& warp, Mode mode, uint32_t mask) {
  ForLanes(mask, [&](int lane) {
    CollectiveLane& at = warp.collective(lane);
    const int from = ShflSource(mode, lane, at, at.predicate);
    // The value of a lane outside of the mask is undefined; this value is noticed if it is used.
    at.result = mask >> from & 1 ? warp.collective(from).a : 0xffffffffu;
  });
}

void FinishVote(Warp& warp, Mode mode, uint32_t mask) {
  uint32_t ballot = 0;
  ForLanes(mask, [&](int lane) {
    if (warp.collective(lane).a != 0) ballot |= 1u << lane;
  });
  ForLanes(mask, [&](int lane) {
    CollectiveLane& at = warp.collective(lane);
    at.result = ballot;
    at.predicate = mode == Mode::kVoteAny   ? ballot != 0
                   : mode == Mode::kVoteAll ? ballot == mask
                                            : ballot == mask || ballot == 0;
  });
}

void FinishMatch(Warp& warp, Mode mode, uint32_t mask) {
  ForLanes(mask, [&](int lane) {
    CollectiveLane& at = warp.collective(lane);
    uint32_t same = 0;
    ForLanes(mask, [&](int other) {
      if (warp.collective(other).a == at.a) same |= 1u << other;
    });
    at.predicate = same == mask;
    at.result = mode == Mode::kMatchAll && !at.predicate ? 0 : same;
  });
}

void FinishRedux(Warp& warp, Mode mode, uint32_t mask) {
  bool first = true;
  uint32_t total = 0;
  ForLanes(mask, [&](int lane) {
    const uint32_t value = static_cast<uint32_t>(warp.collective(lane).a);
    total = first ? value : Reduce(mode, total, value);
    first = false;
  });
  ForLanes(mask, [&](int lane) { warp.collective(lane).result = total; });
}

}  // namespace

bool SameCollective(const Instr& a, const Instr& b) { return a.mode == b.mode; }

void DepositCollective(Warp& warp, const Instr& in, uint32_t mask) {
  const Mode mode = ModeOf(in);
  const uint32_t* masks = warp.Lanes<uint32_t>(in.e);
  ForLanes(mask, [&](int lane) {
    CollectiveLane& at = warp.collective(lane);
    at.in = &in;
    at.mask = masks[lane];
    if ((at.mask >> lane & 1) == 0) {
      warp.Fail(lane, absl::StatusCode::kInvalidArgument,
                "a mask that leaves out the thread itself");
    }
    if (IsVote(mode)) {
      at.a = warp.Bits(in.a) >> lane & 1;
    } else if (in.memory.element_bytes == 8) {
      at.a = warp.Lanes<uint64_t>(in.a)[lane];
    } else if (in.a != kNoSlot) {
      at.a = warp.Lanes<uint32_t>(in.a)[lane];
    }
    if (IsShfl(mode)) {
      at.b = warp.Lanes<uint32_t>(in.b)[lane];
      at.c = warp.Lanes<uint32_t>(in.c)[lane];
    }
  });
}

void FinishCollective(Warp& warp, uint32_t mask) {
  const Mode mode = ModeOf(*warp.collective(std::countr_zero(mask)).in);
  if (IsShfl(mode)) {
    FinishShfl(warp, mode, mask);
  } else if (IsVote(mode)) {
    FinishVote(warp, mode, mask);
  } else if (mode == Mode::kMatchAny || mode == Mode::kMatchAll) {
    FinishMatch(warp, mode, mask);
  } else if (mode == Mode::kElect) {
    const int leader = std::countr_zero(mask);
    ForLanes(mask, [&](int lane) {
      warp.collective(lane).result = static_cast<uint64_t>(leader);
      warp.collective(lane).predicate = lane == leader;
    });
  } else if (mode != Mode::kSync) {
    FinishRedux(warp, mode, mask);
  }
  ForLanes(mask, [&](int lane) { warp.collective(lane).in = nullptr; });
}

void TakeCollective(Warp& warp, const Instr& in, uint32_t mask) {
  if (in.d != kNoSlot) {
    ForLanes(mask, [&](int lane) {
      warp.Lanes<uint32_t>(in.d)[lane] = static_cast<uint32_t>(warp.collective(lane).result);
    });
  }
  if (in.d2 != kNoSlot) {
    uint32_t bits = 0;
    ForLanes(mask, [&](int lane) {
      if (warp.collective(lane).predicate) bits |= 1u << lane;
    });
    warp.Bits(in.d2) = (warp.Bits(in.d2) & ~mask) | bits;
  }
}

}  // namespace cooper::ptx
