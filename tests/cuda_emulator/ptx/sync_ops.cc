// Implements barriers, collectives of a warp, and fences.

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/warp_ops.h"

namespace cooper::ptx {
namespace {

using Mode = CollectiveMode;

void SetMode(Instr& in, Mode mode) {
  in.flow = Flow::kCollective;
  in.mode = static_cast<uint8_t>(mode);
}

// Decodes bar.warp.sync mask.
void DecodeWarpBarrier(Decoder& decoder, Instr& in) {
  decoder.mods().Take("sync");
  SetMode(in, Mode::kSync);
  in.e = decoder.In(0, Type::kU32);
}

// Decodes bar{.cta}.sync a{, b}, bar.arrive a, b, and bar.red.op.type d, a{, b}, {!}c; also as
// barrier.
void DecodeBarrier(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  mods.Take("cta");
  if (mods.Take("warp")) {
    DecodeWarpBarrier(decoder, in);
    return;
  }
  if (mods.Take("cluster")) {
    decoder.Unimplemented("clusters");
    return;
  }
  const bool aligned = mods.Take("aligned") || mods.base() == "bar";
  in.flow = Flow::kBarrier;
  in.value = aligned ? 1 : 0;
  if (mods.Take("sync") || mods.Take("arrive")) {
    const bool arrive = decoder.statement().opcode.find("arrive") != std::string_view::npos;
    in.mode = static_cast<uint8_t>(arrive ? BarrierMode::kArrive : BarrierMode::kSync);
    in.a = decoder.In(0, Type::kU32);
    if (decoder.operands() > 1) in.b = decoder.In(1, Type::kU32);
    if (arrive && decoder.operands() < 2) decoder.Invalid("bar.arrive needs a number of threads");
    return;
  }
  if (!mods.Take("red")) {
    decoder.Invalid("a barrier without sync, arrive or red");
    return;
  }
  const bool popc = mods.Take("popc");
  const bool all = !popc && mods.Take("and");
  if (!popc && !all && !mods.Take("or")) decoder.Invalid("bar.red without popc, and, or");
  in.mode = static_cast<uint8_t>(popc  ? BarrierMode::kPopc
                                 : all ? BarrierMode::kAnd
                                       : BarrierMode::kOr);
  mods.TakeType();
  if (popc) {
    in.d = decoder.Out(0, Type::kU32);
  } else {
    in.d2 = decoder.Out(0, Type::kPred);
  }
  const size_t last = decoder.operands() > 3 ? 3 : 2;
  in.a = decoder.In(1, Type::kU32);
  if (last == 3) in.b = decoder.In(2, Type::kU32);
  in.c = decoder.In(last, Type::kPred);
}

// Takes a result, and the predicate after "|" if there is one.
void TakeResults(Decoder& decoder, Instr& in) {
  const Operand& d = decoder.operand(0);
  if (d.kind == Operand::Kind::kVector && d.parts.size() == 2) {
    in.d = decoder.OutOf(d.parts[0], Type::kB32);
    in.d2 = decoder.OutOf(d.parts[1], Type::kPred);
  } else {
    in.d = decoder.Out(0, Type::kB32);
  }
}

void NeedSync(Decoder& decoder) {
  if (!decoder.mods().Take("sync")) {
    decoder.Unimplemented(Concat(decoder.mods().base(), " without .sync, which old GPUs had"));
  }
}

void DecodeShfl(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  NeedSync(decoder);
  const std::string_view kind = mods.TakeAny({"up", "down", "bfly", "idx"});
  if (kind.empty()) decoder.Invalid("shfl without up, down, bfly, idx");
  SetMode(in, kind == "up"     ? Mode::kShflUp
              : kind == "down" ? Mode::kShflDown
              : kind == "bfly" ? Mode::kShflBfly
                               : Mode::kShflIdx);
  mods.TakeType();
  TakeResults(decoder, in);
  in.a = decoder.In(1, Type::kB32);
  in.b = decoder.In(2, Type::kB32);
  in.c = decoder.In(3, Type::kB32);
  in.e = decoder.In(4, Type::kB32);
}

void DecodeVote(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  NeedSync(decoder);
  const std::string_view kind = mods.TakeAny({"ballot", "any", "all", "uni"});
  if (kind.empty()) decoder.Invalid("vote without ballot, any, all, uni");
  mods.TakeType();
  if (kind == "ballot") {
    SetMode(in, Mode::kVoteBallot);
    in.d = decoder.Out(0, Type::kB32);
  } else {
    SetMode(in, kind == "any" ? Mode::kVoteAny : kind == "all" ? Mode::kVoteAll : Mode::kVoteUni);
    in.d2 = decoder.Out(0, Type::kPred);
  }
  in.a = decoder.In(1, Type::kPred);
  in.e = decoder.In(2, Type::kB32);
}

void DecodeMatch(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  const bool any = mods.Take("any");
  if (!any && !mods.Take("all")) decoder.Invalid("match without any or all");
  NeedSync(decoder);
  SetMode(in, any ? Mode::kMatchAny : Mode::kMatchAll);
  const Type type = mods.TakeType();
  in.memory.element_bytes = static_cast<uint8_t>(SizeOf(type) == 8 ? 8 : 4);
  TakeResults(decoder, in);
  in.a = decoder.In(1, type);
  in.e = decoder.In(2, Type::kB32);
}

void DecodeRedux(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  NeedSync(decoder);
  const std::string_view op = mods.TakeAny({"add", "min", "max", "and", "or", "xor"});
  const Type type = mods.TakeType();
  if (op == "add") {
    SetMode(in, Mode::kReduxAdd);
  } else if (op == "min" || op == "max") {
    const bool min = op == "min";
    if (type == Type::kF32) {
      SetMode(in, min ? Mode::kReduxMinF : Mode::kReduxMaxF);
    } else if (IsSigned(type)) {
      SetMode(in, min ? Mode::kReduxMinS : Mode::kReduxMaxS);
    } else {
      SetMode(in, min ? Mode::kReduxMinU : Mode::kReduxMaxU);
    }
  } else if (op.empty()) {
    decoder.Invalid("redux without an operation");
  } else {
    SetMode(in, op == "and" ? Mode::kReduxAnd : op == "or" ? Mode::kReduxOr : Mode::kReduxXor);
  }
  in.d = decoder.Out(0, type);
  in.a = decoder.In(1, type);
  in.e = decoder.In(2, Type::kB32);
  if (SizeOf(type) != 4) decoder.Invalid("redux is for 32 bits");
}

void DecodeElect(Decoder& decoder, Instr& in) {
  NeedSync(decoder);
  SetMode(in, Mode::kElect);
  TakeResults(decoder, in);
  in.e = decoder.In(1, Type::kB32);
}

void ActiveMask(Warp& warp, const Instr& in, uint32_t mask) {
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  ForLanes(mask, [&](int l) { d[l] = mask; });
}
void DecodeActiveMask(Decoder& decoder, Instr& in) {
  decoder.mods().Take("b32");
  in.run = &ActiveMask;
  in.d = decoder.Out(0, Type::kB32);
}

// Fences do nothing, because memory is written in order here.
void Nothing(Warp&, const Instr&, uint32_t) {}
void DecodeFence(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  if (mods.Take("proxy")) {  // proxies exist for tensor memory only
    while (!mods.left().empty()) mods.Take(mods.left()[0]);
  }
  mods.TakeAny({"sc", "acq_rel", "acquire", "release"});
  mods.TakeAny({"cta", "gpu", "sys", "cluster", "gl"});
  in.run = &Nothing;
}

constexpr Op kOps[] = {
    {"bar", &DecodeBarrier}, {"barrier", &DecodeBarrier},       {"shfl", &DecodeShfl},
    {"vote", &DecodeVote},   {"match", &DecodeMatch},           {"redux", &DecodeRedux},
    {"elect", &DecodeElect}, {"activemask", &DecodeActiveMask}, {"membar", &DecodeFence},
    {"fence", &DecodeFence},
};

}  // namespace

absl::Span<const Op> SyncOps() { return kOps; }

}  // namespace cooper::ptx
