#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_SYNTAX_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_SYNTAX_H_

// The body of a function as written, with its names resolved: body_parser.h produces it and
// decoder.h reads it. Offsets and sizes are in bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

// The meaning of a name.
struct Symbol {
  enum class Kind : uint8_t {
    kRegister,  // index: in Body::registers
    kVariable,  // index: in Module::variables()
    kShared,    // index: in Body::shared
    kLocal,     // offset: in the frame's local memory
    kParam,     // offset: in a kernel's parameters
    kFunction,  // index: in Module::functions()
    kTargets,   // index: in the parser's lists of branch targets
    kPrototype,
  };
  Kind kind = Kind::kRegister;
  int index = -1;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// An operand of an instruction.
struct Operand {
  enum class Kind : uint8_t {
    kRegister,
    kInteger,
    kFloat32,  // value: its bits
    kFloat64,
    kSymbol,   // the address of `symbol`, plus value
    kSpecial,  // index: a Special
    kVector,   // {a, b}, or a|b
    kSink,     // "_": a result that is not used
  };
  Kind kind = Kind::kSink;
  bool negated = false;  // "!" before a predicate
  bool address = false;  // in brackets; a register's offset is in value
  int index = -1;
  uint64_t value = 0;
  Symbol symbol;
  std::vector<Operand> parts;
};

// An instruction as written, with its operands.
struct Statement {
  int line = 0;
  std::string_view text;    // as written, from the guard to before the semicolon
  std::string_view opcode;  // with its modifiers
  int guard = -1;           // a register of type pred
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::vector<int> targets;  // indices of statements, for a branch
  // For a call: the local memory of results and arguments. The callee is in operands[0].
  std::vector<Operand> results;
  std::vector<Operand> arguments;
  std::string_view callee;  // for a direct call
};

// A variable in shared memory.
struct SharedVariable {
  std::string name;
  uint64_t size = 0;  // 0: extern, sized by the launch
  uint64_t align = 1;
  int module_index = -1;  // index of a module-level variable
};

// A parsed function body.
struct Body {
  std::vector<Type> registers;
  std::vector<Statement> statements;
  std::vector<SharedVariable> shared;
  uint64_t local_bytes = 0;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_SYNTAX_H_
