// Decodes bra, brx, call, ret, exit, trap and instructions without an effect here.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/builtin.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/handlers.h"
#include "tests/cuda_emulator/ptx/ops.h"

namespace cooper::ptx {
namespace {

void DecodeBranch(Decoder& decoder, Instr& in) {
  decoder.mods().Take("uni");
  in.flow = Flow::kBranch;
  if (decoder.statement().targets.size() != 1) {
    decoder.Invalid("a branch without a target");
    return;
  }
  in.target = decoder.statement().targets[0];
}

void DecodeIndexedBranch(Decoder& decoder, Instr& in) {
  decoder.mods().Take("idx");
  decoder.mods().Take("uni");
  in.flow = Flow::kIndexedBranch;
  in.a = decoder.In(0, Type::kU32);
  std::vector<uint32_t> targets;
  for (int target : decoder.statement().targets) targets.push_back(static_cast<uint32_t>(target));
  in.list = decoder.List(targets);
  if (targets.size() > 255) decoder.Unimplemented("more than 255 branch targets");
  in.count = static_cast<uint8_t>(targets.size());
}

bool TakeRanges(const std::vector<Operand>& operands, std::vector<CallRange>& ranges) {
  for (const Operand& operand : operands) {
    if (operand.kind != Operand::Kind::kSymbol || operand.symbol.kind != Symbol::Kind::kLocal) {
      return false;
    }
    ranges.push_back({operand.symbol.offset, operand.symbol.size});
  }
  return true;
}

void DecodeCall(Decoder& decoder, Instr& in) {
  decoder.mods().Take("uni");
  const Statement& statement = decoder.statement();
  Code& code = decoder.code();
  in.flow = Flow::kCall;
  CallSite site;
  site.callee = statement.callee;
  if (!TakeRanges(statement.arguments, site.arguments) ||
      !TakeRanges(statement.results, site.results)) {
    decoder.Unimplemented("arguments of a call that are no .param variables");
    return;
  }
  in.list = static_cast<int32_t>(code.calls.size());
  if (statement.callee.empty()) {
    in.a = decoder.In(0, Type::kU64);
    code.indirect_calls = true;
  } else if (const Builtin* builtin = FindBuiltin(statement.callee)) {
    in.run = builtin->run;
    if (!HasArguments(*builtin, site)) decoder.Invalid("too few or too small arguments");
  } else {
    in.target = static_cast<int32_t>(code.callees.size());
    code.callees.push_back(statement.callee);
  }
  code.calls.push_back(std::move(site));
}

void DecodeReturn(Decoder& decoder, Instr& in) {
  decoder.mods().Take("uni");
  in.flow = Flow::kReturn;
}

void DecodeExit(Decoder&, Instr& in) { in.flow = Flow::kExit; }

void Trap(Warp& warp, const Instr&, uint32_t mask) {
  warp.Fail(std::countr_zero(mask), absl::StatusCode::kAborted, "trap");
}
void Breakpoint(Warp& warp, const Instr&, uint32_t mask) {
  warp.Fail(std::countr_zero(mask), absl::StatusCode::kAborted, "brkpt");
}
void DecodeTrap(Decoder& decoder, Instr& in) {
  in.run = decoder.mods().base() == "trap" ? &Trap : &Breakpoint;
}

void DecodePause(Decoder& decoder, Instr& in) {
  decoder.mods().Take("u32");
  in.flow = Flow::kPause;
}

void Nothing(Warp&, const Instr&, uint32_t) {}
void DecodeNothing(Decoder& decoder, Instr& in) {
  Modifiers& mods = decoder.mods();
  while (!mods.left().empty()) mods.Take(mods.left()[0]);
  in.run = &Nothing;
}

constexpr Op kOps[] = {
    {"bra", &DecodeBranch},
    {"brx", &DecodeIndexedBranch},
    {"call", &DecodeCall},
    {"ret", &DecodeReturn},
    {"exit", &DecodeExit},
    {"trap", &DecodeTrap},
    {"brkpt", &DecodeTrap},
    {"nanosleep", &DecodePause},
    {"pmevent", &DecodeNothing},
    {"setmaxnreg", &DecodeNothing},
    {"griddepcontrol", &DecodeNothing},
};

}  // namespace

absl::Span<const Op> ControlOps() { return kOps; }

}  // namespace cooper::ptx
