#include "tests/cuda_emulator/ptx/decoder.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/ops.h"
#include "tests/cuda_emulator/ptx/special.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {
namespace {

void Narrow(Warp& warp, const Instr& in, uint32_t mask) {
  const uint64_t* a = warp.Lanes<uint64_t>(in.a);
  uint32_t* d = warp.Lanes<uint32_t>(in.d);
  ForLanes(mask, [&](int lane) { d[lane] = static_cast<uint32_t>(a[lane]); });
}

template <typename T>  // uint32_t or int32_t
void Widen(Warp& warp, const Instr& in, uint32_t mask) {
  const uint32_t* a = warp.Lanes<uint32_t>(in.a);
  uint64_t* d = warp.Lanes<uint64_t>(in.d);
  ForLanes(mask, [&](int lane) { d[lane] = static_cast<uint64_t>(static_cast<T>(a[lane])); });
}

void Not(Warp& warp, const Instr& in, uint32_t mask) {
  warp.Bits(in.d) = (warp.Bits(in.d) & ~mask) | (~warp.Bits(in.a) & mask);
}

Instr Hidden(Handler run, uint32_t d, uint32_t a) {
  Instr in;
  in.run = run;
  in.d = d;
  in.a = a;
  in.weight = 0;
  return in;
}

constexpr uint64_t kMaxFrameBytes = uint64_t{1} << 28;

}  // namespace

Decoder::Decoder(const Function& function, Body body)
    : function_(function), body_(std::move(body)) {}

uint8_t Decoder::BytesOf(Type type) {
  if (type == Type::kPred) return 0;
  return SizeOf(type) == 8 ? 8 : 4;
}

uint32_t Decoder::NewSlot(uint8_t bytes) {
  const uint32_t slot = frame_bytes_;
  frame_bytes_ += bytes == 0 ? 8 : bytes * kLanes;
  if (frame_bytes_ > kMaxFrameBytes) Invalid("too many registers");
  return slot;
}

void Decoder::Invalid(std::string_view what) {
  if (!error_.ok()) return;
  error_ = absl::InvalidArgumentError(
      Concat(what, "; in ", function_.name, ", at PTX line ",
             statement_ == nullptr ? function_.line : statement_->line, ": ",
             statement_ == nullptr ? std::string_view() : statement_->text));
}

void Decoder::Unimplemented(std::string_view what) {
  if (!error_.ok()) return;
  error_ =
      absl::UnimplementedError(Concat("the interpreter lacks ", what, "; in ", function_.name,
                                      ", at PTX line ", statement_->line, ": ", statement_->text));
}

const Operand& Decoder::operand(size_t i) {
  static const Operand* const none = new Operand;
  if (i < statement_->operands.size()) return statement_->operands[i];
  Invalid("too few operands");
  return *none;
}

uint32_t Decoder::RegisterSlot(const Operand& operand, Type type) {
  const Type have = body_.registers[static_cast<size_t>(operand.index)];
  if (SizeOf(have) > 8) Unimplemented("registers of 128 bits");
  if (BytesOf(have) != BytesOf(type)) {
    Invalid(Concat("a register of type ", NameOf(have), " where ", NameOf(type), " is expected"));
  }
  return register_slots_[static_cast<size_t>(operand.index)];
}

uint32_t Decoder::ConstantSlot(const Constant& constant) {
  const auto key = std::make_tuple(static_cast<int>(constant.kind), constant.index, constant.value,
                                   static_cast<int>(constant.bytes));
  const auto found = constant_slots_.find(key);
  if (found != constant_slots_.end()) return found->second;
  const uint32_t slot = NewSlot(constant.bytes);
  constant_slots_[key] = slot;
  code_->constants.push_back(constant);
  code_->constants.back().slot = slot;
  return slot;
}

uint32_t Decoder::Value(uint64_t value, Type type) {
  const uint8_t bytes = BytesOf(type);
  if (bytes == 4) value &= 0xffffffff;
  return ConstantSlot({Constant::Kind::kValue, 0, bytes, -1, value});
}

bool Decoder::IsNarrow(const Operand& operand) const {
  return operand.kind == Operand::Kind::kRegister &&
         BytesOf(body_.registers[static_cast<size_t>(operand.index)]) == 4;
}

uint32_t Decoder::Carry() {
  if (carry_ == kNoSlot) carry_ = NewSlot(0);
  return carry_;
}

uint32_t Decoder::SymbolSlot(const Operand& operand, uint8_t bytes, uint64_t value) {
  const Symbol& symbol = operand.symbol;
  if (bytes == 0) Invalid("an address where a predicate is expected");
  switch (symbol.kind) {
    case Symbol::Kind::kVariable:
      return ConstantSlot({Constant::Kind::kVariable, 0, bytes, symbol.index, value});
    case Symbol::Kind::kShared:
      return ConstantSlot({Constant::Kind::kShared, 0, bytes, symbol.index, value});
    case Symbol::Kind::kFunction:
      return ConstantSlot({Constant::Kind::kFunction, 0, bytes, symbol.index, value});
    case Symbol::Kind::kLocal:
      return ConstantSlot({Constant::Kind::kLocal, 0, bytes, -1, value + symbol.offset});
    case Symbol::Kind::kParam:
      return ConstantSlot({Constant::Kind::kValue, 0, bytes, -1, value + symbol.offset});
    default:
      Invalid("a name that has no address");
      return 0;
  }
}

uint32_t Decoder::SpecialSlotOf(const Operand& operand, uint8_t bytes) {
  const Special special = static_cast<Special>(operand.index);
  if (IsClock(special)) {
    Unimplemented("clocks outside of mov");
    return 0;
  }
  if (SizeOf(special) != bytes) Invalid("a special register of another width than is expected");
  const auto found = special_slots_.find(operand.index);
  if (found != special_slots_.end()) return found->second;
  const uint32_t slot = NewSlot(bytes);
  special_slots_[operand.index] = slot;
  code_->specials.push_back({special, slot});
  return slot;
}

uint32_t Decoder::InOf(const Operand& operand, Type type) {
  const uint8_t bytes = BytesOf(type);
  uint32_t slot = 0;
  switch (operand.kind) {
    case Operand::Kind::kRegister:
      if (operand.address) Invalid("an address where a value is expected");
      slot = RegisterSlot(operand, type);
      break;
    case Operand::Kind::kInteger:
      slot = Value(operand.value, type);
      break;
    case Operand::Kind::kFloat32:
      slot = type == Type::kF64
                 ? Value(std::bit_cast<uint64_t>(static_cast<double>(
                             std::bit_cast<float>(static_cast<uint32_t>(operand.value)))),
                         type)
                 : Value(operand.value, type);
      break;
    case Operand::Kind::kFloat64:
      slot = type == Type::kF32 ? Value(std::bit_cast<uint32_t>(static_cast<float>(
                                            std::bit_cast<double>(operand.value))),
                                        type)
                                : Value(operand.value, type);
      break;
    case Operand::Kind::kSymbol:
      slot = SymbolSlot(operand, bytes, operand.value);
      break;
    case Operand::Kind::kSpecial:
      slot = SpecialSlotOf(operand, bytes);
      break;
    default:
      Invalid("a vector or _ where a value is expected");
      return 0;
  }
  if (!operand.negated) return slot;
  if (bytes != 0) Invalid("! before what is no predicate");
  const uint32_t negated = NewSlot(0);
  before_.push_back(Hidden(&Not, negated, slot));
  return negated;
}

uint32_t Decoder::InAny(const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::kRegister) return InOf(operand, type);
  const Type have = body_.registers[static_cast<size_t>(operand.index)];
  if (have == Type::kPred || type == Type::kPred || BytesOf(have) == BytesOf(type)) {
    return InOf(operand, type);
  }
  const uint32_t slot = NewSlot(BytesOf(type));
  before_.push_back(
      Hidden(BytesOf(type) == 4 ? &Narrow : &Widen<uint32_t>, slot, InOf(operand, have)));
  return slot;
}

uint32_t Decoder::OutOf(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::kSink) return NewSlot(BytesOf(type));
  if (operand.kind != Operand::Kind::kRegister || operand.address || operand.negated) {
    Invalid("a result that is no register");
    return 0;
  }
  return RegisterSlot(operand, type);
}

uint32_t Decoder::OutAny(const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::kRegister) return OutOf(operand, type);
  const Type have = body_.registers[static_cast<size_t>(operand.index)];
  if (BytesOf(have) == BytesOf(type) || BytesOf(have) != 8 || type == Type::kPred) {
    return OutOf(operand, type);
  }
  const uint32_t slot = NewSlot(4);
  after_.push_back(
      Hidden(IsSigned(type) ? &Widen<int32_t> : &Widen<uint32_t>, OutOf(operand, have), slot));
  return slot;
}

uint32_t Decoder::Address(size_t i, uint64_t& offset) {
  const Operand& address = operand(i);
  if (!address.address) Invalid("a value where an address is expected");
  if (address.kind == Operand::Kind::kRegister) {
    offset = address.value;
    Operand base = address;
    base.address = false;
    return InAny(base, Type::kU64);
  }
  if (address.kind == Operand::Kind::kSymbol) {
    offset = address.value;
    return SymbolSlot(address, 8, 0);
  }
  if (address.kind != Operand::Kind::kInteger) Invalid("no address");
  offset = 0;
  return Value(address.value, Type::kU64);
}

int32_t Decoder::List(const std::vector<uint32_t>& slots) {
  const int32_t first = static_cast<int32_t>(code_->lists.size());
  code_->lists.insert(code_->lists.end(), slots.begin(), slots.end());
  return first;
}

void Decoder::Emit(Instr in) {
  in.statement = statement_index_;
  code_->instrs.push_back(in);
}

void Decoder::DecodeStatement(int index) {
  statement_index_ = index;
  statement_ = &body_.statements[static_cast<size_t>(index)];
  code_->sources.push_back({statement_->line, statement_->text});
  first_instr_.push_back(static_cast<int>(code_->instrs.size()));
  before_.clear();
  after_.clear();
  Modifiers mods(statement_->opcode);
  mods_ = &mods;
  const Op* op = FindOp(mods.base());
  if (op == nullptr) {
    Unimplemented(Concat("the instruction ", mods.base()));
    return;
  }
  Instr in;
  if (statement_->guard >= 0) {
    Operand guard;
    guard.kind = Operand::Kind::kRegister;
    guard.index = statement_->guard;
    in.guarded = true;
    in.guard_negated = statement_->guard_negated;
    in.guard = InOf(guard, Type::kPred);
  }
  op->decode(*this, in);
  if (!mods.left().empty()) {
    Unimplemented(Concat("the modifier .", mods.left()[0], " of ", mods.base()));
  }
  if (!error_.ok()) return;
  for (const Instr& hidden : before_) Emit(hidden);
  Emit(in);
  for (Instr hidden : after_) {
    hidden.guarded = in.guarded;
    hidden.guard_negated = in.guard_negated;
    hidden.guard = in.guard;
    Emit(hidden);
  }
}

absl::Status Decoder::Decode(Code& code) {
  code_ = &code;
  code.function = &function_;
  code.local_bytes = body_.local_bytes;
  register_slots_.reserve(body_.registers.size());
  for (const Type type : body_.registers) register_slots_.push_back(NewSlot(BytesOf(type)));
  code.instrs.reserve(body_.statements.size() + 8);
  for (size_t i = 0; i < body_.statements.size() && error_.ok(); ++i) {
    DecodeStatement(static_cast<int>(i));
  }
  if (!error_.ok()) return error_;
  // The body ends with a return.
  Instr end;
  end.flow = Flow::kReturn;
  end.weight = 0;
  end.statement = static_cast<int32_t>(code.sources.size());
  first_instr_.push_back(static_cast<int>(code.instrs.size()));
  code.sources.push_back({function_.line, "the end of the function"});
  code.instrs.push_back(end);
  const auto resolve = [&](int statement) { return first_instr_[static_cast<size_t>(statement)]; };
  for (Instr& in : code.instrs) {
    if (in.flow == Flow::kBranch) in.target = resolve(in.target);
    if (in.flow != Flow::kIndexedBranch) continue;
    for (int i = 0; i < in.count; ++i) {
      uint32_t& target = code.lists[static_cast<size_t>(in.list) + static_cast<size_t>(i)];
      target = static_cast<uint32_t>(resolve(static_cast<int>(target)));
    }
  }
  code.shared = std::move(body_.shared);
  code.frame_bytes = frame_bytes_;
  return absl::OkStatus();
}

}  // namespace cooper::ptx
