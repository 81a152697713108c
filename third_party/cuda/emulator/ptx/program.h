#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_PROGRAM_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_PROGRAM_H_

// A decoded function. All that a warp needs to run an instruction is in an Instr: a function that
// does it for the lanes of a mask, and where its operands lie in the warp's frame.
//
// A frame holds, for each register and constant, a slot: the values of 32 lanes one behind the
// other, 4 bytes each for types up to 32 bits and 8 bytes for those of 64, or one bit per lane, 4
// bytes together, for a predicate. A type below 32 bits is in the low bits of its lane; bits above
// it mean nothing. Constants and special registers have slots of their own, so that every operand
// is read in the same way. Offsets are in bytes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "third_party/cuda/emulator/ptx/module.h"
#include "third_party/cuda/emulator/ptx/special.h"
#include "third_party/cuda/emulator/ptx/syntax.h"
#include "third_party/cuda/emulator/ptx/types.h"

namespace cooper::ptx {

class Warp;
struct Instr;

// Does `in` for the lanes of `mask`, which is not 0. A mistake is told by Warp::Fail().
using Handler = void (*)(Warp& warp, const Instr& in, uint32_t mask);

// What an instruction does beside, or instead of, its handler.
enum class Flow : uint8_t {
  kPlain,
  kBranch,
  kIndexedBranch,
  kCall,
  kReturn,
  kExit,
  kBarrier,     // waits for other threads of the block
  kCollective,  // waits for other lanes of the warp
  kPause,       // lets others run
};

enum class Access : uint8_t { kRead, kWrite, kAtomic };

inline constexpr uint32_t kNoSlot = 0xffffffffu;

// How an instruction touches memory.
struct MemoryUse {
  Space space = Space::kGeneric;
  Access access = Access::kRead;
  bool strong = false;   // volatile, relaxed, acquire, release: ordered with others of its kind
  bool streams = false;  // .cs: what is there is not used again soon
  uint8_t element_bytes = 0;
  uint8_t bytes = 0;  // of all elements of a vector
};

struct Instr {
  Handler run = nullptr;
  Flow flow = Flow::kPlain;
  bool guarded = false;
  bool guard_negated = false;
  uint8_t weight = 1;  // 0: a part of another instruction
  uint8_t flops = 0;
  uint8_t mode = 0;   // the handler's own
  uint8_t count = 0;  // operands in Code::lists
  MemoryUse memory;
  uint32_t guard = 0;
  uint32_t d = kNoSlot;   // result
  uint32_t d2 = kNoSlot;  // second result
  uint32_t a = kNoSlot;
  uint32_t b = kNoSlot;
  uint32_t c = kNoSlot;
  uint32_t e = kNoSlot;
  int32_t target = -1;     // of a branch: an instruction. Of a call: a callee
  int32_t list = -1;       // the first of `count` entries of Code::lists
  int32_t statement = -1;  // in Code::sources
  uint64_t value = 0;      // the handler's own; the offset of an address
};

struct Constant {
  enum class Kind : uint8_t {
    kValue,
    kVariable,  // the address of variables()[index], plus value
    kShared,    // the offset of Code::shared[index], plus value
    kFunction,  // the address that stands for functions()[index]
    kLocal,     // the offset `value` of the frame's local memory: another for each call
  };
  Kind kind = Kind::kValue;
  uint32_t slot = 0;
  uint8_t bytes = 4;  // of a lane; 0: a predicate
  int index = -1;
  uint64_t value = 0;
};

struct SpecialSlot {
  Special special = Special::kTidX;
  uint32_t slot = 0;
};

// What a call copies: from the caller's local memory to the callee's parameters, or back.
struct CallRange {
  uint64_t offset = 0;  // in the caller's frame
  uint64_t size = 0;
};

struct CallSite {
  std::vector<CallRange> arguments;
  std::vector<CallRange> results;
  std::string_view callee;  // empty if it is in a register
};

struct Source {
  int line = 0;
  std::string_view text;
};

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

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_PROGRAM_H_
