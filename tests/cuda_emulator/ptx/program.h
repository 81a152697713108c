#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_PROGRAM_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_PROGRAM_H_

// A decoded function. An Instr holds everything that a warp needs to run an instruction: a function
// that executes it for the lanes of a mask, and the positions of its operands in the warp's frame.
//
// A frame holds a slot for each register and constant: the values of 32 lanes, contiguous, 4 bytes
// each for types up to 32 bits and 8 bytes for 64 bits; a predicate has one bit for each lane, 4
// bytes together. A type below 32 bits uses the low bits of its lane; the other bits are undefined.
// Constants and special registers have slots too, so that all operands are read in the same way.
// Offsets are in bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/special.h"
#include "tests/cuda_emulator/ptx/syntax.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

class Warp;
struct Instr;

// Executes `in` for the lanes of `mask`, which is not 0. Reports errors with Warp::Fail().
using Handler = void (*)(Warp& warp, const Instr& in, uint32_t mask);

// The control flow of an instruction, in addition to or instead of its handler.
enum class Flow : uint8_t {
  kPlain,
  kBranch,
  kIndexedBranch,
  kCall,
  kReturn,
  kExit,
  kBarrier,     // waits for other threads of the block
  kCollective,  // waits for other lanes of the warp
  kPause,       // yields to other groups
};

enum class Access : uint8_t { kRead, kWrite, kAtomic };

inline constexpr uint32_t kNoSlot = 0xffffffffu;

// The memory access of an instruction.
struct MemoryUse {
  Space space = Space::kGeneric;
  Access access = Access::kRead;
  bool strong = false;   // volatile, relaxed, acquire, release: ordered with others of its kind
  bool streams = false;  // .cs: the data is not used again soon
  uint8_t element_bytes = 0;
  uint8_t bytes = 0;  // of all elements of a vector
};

// A decoded instruction. Operands are offsets of slots in the frame.
struct Instr {
  Handler run = nullptr;
  Flow flow = Flow::kPlain;
  bool guarded = false;
  bool guard_negated = false;
  uint8_t weight = 1;  // 0: part of another instruction
  uint8_t flops = 0;
  uint8_t mode = 0;   // private to the handler
  uint8_t count = 0;  // operands in Code::lists
  MemoryUse memory;
  uint32_t guard = 0;
  uint32_t d = kNoSlot;   // result
  uint32_t d2 = kNoSlot;  // second result
  uint32_t a = kNoSlot;
  uint32_t b = kNoSlot;
  uint32_t c = kNoSlot;
  uint32_t e = kNoSlot;
  int32_t target = -1;     // branch: an instruction; call: a callee
  int32_t list = -1;       // the first of `count` entries of Code::lists
  int32_t statement = -1;  // in Code::sources
  uint64_t value = 0;      // private to the handler; or the offset of an address
};

// A value that a slot of the frame holds; addresses are known when a launch is linked.
struct Constant {
  enum class Kind : uint8_t {
    kValue,
    kVariable,  // the address of variables()[index], plus value
    kShared,    // the offset of Code::shared[index], plus value
    kFunction,  // the address that stands for functions()[index]
    kLocal,     // the offset `value` in the frame's local memory; differs between calls
  };
  Kind kind = Kind::kValue;
  uint32_t slot = 0;
  uint8_t bytes = 4;  // bytes of a lane; 0: a predicate
  int index = -1;
  uint64_t value = 0;
};

// A slot that holds a special register.
struct SpecialSlot {
  Special special = Special::kTidX;
  uint32_t slot = 0;
};

// A range that a call copies from the caller's local memory to the callee's parameters, or back.
struct CallRange {
  uint64_t offset = 0;  // in the caller's frame
  uint64_t size = 0;
};

// The ranges that a call copies, in the order of the callee's parameters and results.
struct CallSite {
  std::vector<CallRange> arguments;
  std::vector<CallRange> results;
  std::string_view callee;  // empty if it is in a register
};

// A statement of the PTX text, for messages.
struct Source {
  int line = 0;
  std::string_view text;
};

// The decoded body of a function.
struct Code {
  const Function* function = nullptr;
  std::vector<Instr> instrs;  // the last one returns
  std::vector<uint32_t> lists;
  std::vector<CallSite> calls;  // Instr::list of a call
  std::vector<Source> sources;
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  std::vector<SharedVariable> shared;
  std::vector<std::string_view> callees;  // by name, in the order of Instr::target
  std::vector<const Code*> callee_code;   // null: built in
  std::vector<const Code*> address_taken;
  bool indirect_calls = false;
  uint32_t frame_bytes = 0;
  uint64_t local_bytes = 0;
  Resources resources;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_PROGRAM_H_
