#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_DECODER_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_DECODER_H_

// Turns the statements of a body into instructions. For each statement, Decode() calls the function
// that a table (ops.h) lists for the opcode. This function takes the modifiers, requests the slots
// of operands and sets Instr::run. The decoder keeps the first error and returns it at the end, so
// these functions need not check a status after each call.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/modifiers.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/syntax.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

// Decodes one body. The functions of ops.h call it while Decode() runs.
class Decoder {
 public:
  Decoder(const Function& function, Body body);

  // Sets everything in `code` except callee_code, address_taken and resources. Returns the first
  // error, with line and instruction: kInvalidArgument or kUnimplemented.
  absl::Status Decode(Code& code);

  // For the functions of ops.h: the current statement.
  Modifiers& mods() { return *mods_; }
  const Function& function() const { return function_; }
  const Statement& statement() const { return *statement_; }
  size_t operands() const { return statement_->operands.size(); }
  // Returns the operand, or a sink after a failure.
  const Operand& operand(size_t i);
  // Returns the slot of a source, which must be as wide as the type: 32 bits, 64 bits, or a
  // predicate.
  uint32_t In(size_t i, Type type) { return InOf(operand(i), type); }
  uint32_t InOf(const Operand& operand, Type type);
  // Returns the slot of a source that may be in a wider register, or in a narrower one, which is
  // zero-extended.
  uint32_t InAny(const Operand& operand, Type type);
  // Returns the slot of a result. A sink gets one too.
  uint32_t Out(size_t i, Type type) { return OutOf(operand(i), type); }
  uint32_t OutOf(const Operand& operand, Type type);
  // Returns the slot of a result in a register that may be wider: the value is extended.
  uint32_t OutAny(const Operand& operand, Type type);
  // Returns the slot of operand i's 64-bit address, and sets `offset`.
  uint32_t Address(size_t i, uint64_t& offset);
  // Returns whether it is a register of at most 32 bits.
  bool IsNarrow(const Operand& operand) const;
  // Return the slots of a constant and of the frame's carry flags.
  uint32_t Value(uint64_t value, Type type);
  uint32_t Carry();
  // Returns a new slot for temporary use.
  uint32_t Scratch(Type type) { return NewSlot(BytesOf(type)); }
  // Stores slots for Instr::list, and returns their index.
  int32_t List(const std::vector<uint32_t>& slots);
  // Adds an instruction that runs before the current one, without a guard.
  void Before(const Instr& in) { before_.push_back(in); }
  Code& code() { return *code_; }

  // Records an error of the current statement, unless there is an earlier one.
  void Invalid(std::string_view what);
  void Unimplemented(std::string_view what);

 private:
  static uint8_t BytesOf(Type type);  // bytes of a lane in a slot; 0: a predicate
  uint32_t NewSlot(uint8_t bytes);
  uint32_t ConstantSlot(const Constant& constant);
  uint32_t RegisterSlot(const Operand& operand, Type type);
  uint32_t SymbolSlot(const Operand& operand, uint8_t bytes, uint64_t value);
  uint32_t SpecialSlotOf(const Operand& operand, uint8_t bytes);
  void DecodeStatement(int index);
  void Emit(Instr in);

  const Function& function_;
  Body body_;
  Code* code_ = nullptr;
  absl::Status error_;
  const Statement* statement_ = nullptr;
  int statement_index_ = 0;
  Modifiers* mods_ = nullptr;
  std::vector<uint32_t> register_slots_;
  std::vector<int> first_instr_;  // of each statement
  std::vector<Instr> before_;
  std::vector<Instr> after_;
  absl::flat_hash_map<std::tuple<int, int, uint64_t, int>, uint32_t> constant_slots_;
  absl::flat_hash_map<int, uint32_t> special_slots_;
  uint32_t frame_bytes_ = 0;
  uint32_t carry_ = kNoSlot;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_DECODER_H_
