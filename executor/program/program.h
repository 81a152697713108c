#ifndef COOPER_EXECUTOR_PROGRAM_PROGRAM_H_
#define COOPER_EXECUTOR_PROGRAM_PROGRAM_H_

// A graph with static shapes as a flat list of instructions over values that lie in buffers.
// Program passes (executor/passes/program) transform it; CompiledProgram prepares it and
// ProgramSteps runs it. It owns no memory: a buffer is either planned in the arena or stands for
// one of the caller's arrays.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/schema/node.h"

namespace cooper {

// Memory that holds one or several values.
struct ProgramBuffer {
  enum class Kind {
    kArena,  // planned
    kArg,    // the caller's, by `slot`: argument, auxiliary state, gradient of an argument,
    kAux,    // gradient of an output, output
    kGrad,
    kHeadGrad,
    kOutput,
  };
  Kind kind = Kind::kArena;
  // The number of the caller's array of this kind; -1 for buffers in the arena.
  int slot = -1;
  int context = 0;  // index into Program::contexts
  int64_t bytes = 0;
};

// A dense array at an offset of a buffer.
struct ProgramValue {
  Shape shape;
  DType dtype = DType::kFloat32;
  int buffer = -1;
  int64_t offset = 0;  // bytes from the buffer's beginning; a value may be a part of another
  NodeEntry entry;     // its entry in the graph, for names in messages
  // The shape may depend on the values of arrays (symbol/schema/counted_shapes.h): `shape` is the
  // largest, and a run finds the true one.
  bool counted = false;

  // Returns the bytes of its elements.
  int64_t bytes() const { return shape.num_elements() * SizeOf(dtype); }
};

// A bool of shape (1,) that must be `expected` for an instruction to run.
struct RunCondition {
  int value = -1;
  bool expected = true;

  friend auto operator<=>(const RunCondition&, const RunCondition&) = default;
};

// A call of an operator on values.
struct Instruction {
  NodePtr node;
  std::vector<int> inputs;     // values
  std::vector<int> outputs;    // values
  std::vector<WriteReq> reqs;  // of the outputs
  bool backward = false;
  int context = 0;  // index into Program::contexts
  // Selects the random stream: unique among the instructions that draw random numbers.
  uint64_t random_id = 0;
  // The context from which this copies its input to its own; -1 for all other instructions.
  int copy_from = -1;
  // False: the outputs are views of the inputs, and nothing is computed.
  bool run = true;
  // The instruction of the gradient also computes these outputs, so a training run skips this one.
  bool computed_by_gradient = false;
  // The chain of element-wise instructions with which this one runs tile by tile; -1: none. The
  // instructions of a chain are consecutive, except for instructions with run == false.
  int tiles = -1;
  // In the order in which they must be checked: an earlier one may say that a later one has not
  // been computed. Empty: it always runs. If one fails the outputs keep what they held, which
  // nobody reads.
  std::vector<RunCondition> conditions = {};
};

// Calls fn(value) for each input and for each output whose request is not kNull.
template <typename Fn>
void ForEachValue(const Instruction& instruction, const Fn& fn) {
  for (int input : instruction.inputs) fn(input);
  for (size_t k = 0; k < instruction.outputs.size(); ++k) {
    if (instruction.reqs[k] != WriteReq::kNull) fn(instruction.outputs[k]);
  }
}

// A gradient that the program stores in the caller's array.
struct ProgramGradient {
  int arg = -1;    // slot of the argument
  int value = -1;  // -1: no gradient flows there
  WriteReq req = WriteReq::kWrite;
};

// A compiled graph. Indices in it refer to its own vectors. A plain value: passes change it, and it
// is immutable afterwards.
struct Program {
  std::vector<Context>
      contexts;  // the executor's, and those on which parts of the graph are placed
  std::vector<std::string> arg_names;
  std::vector<std::string> aux_names;
  std::vector<ProgramBuffer> buffers;
  std::vector<ProgramValue> values;
  std::vector<Instruction> instructions;  // forward ones first
  std::vector<int> arg_values;            // by slot
  std::vector<int> outputs;               // values
  std::vector<ProgramGradient> gradients;
  std::vector<int> head_gradients;  // values by output; -1 where none is taken

  // Return whether the shape of an output, or of a value of the instruction, is counted. The memory
  // of counted values must not be shared in ways that depend on their shapes.
  bool has_counted_outputs() const;
  bool HasCountedValues(const Instruction& instruction) const;
  // Returns how often each value is read, by instructions or as an output of the program.
  std::vector<int> CountReads() const;
  // Returns by buffer how many instructions write it: as an output, or as an input that the
  // operator changes.
  std::vector<int> CountWriters() const;
  // Returns by buffer how many instructions change it through an input.
  std::vector<int> CountInputChanges() const;
  // Returns by value the last instruction that has it as an output; -1 for the caller's arrays.
  std::vector<int> Producers() const;
};

// Returns views of values with null data: their shapes and dtypes, for preparing kernels.
std::vector<ArrayView> ViewsOf(const Program& program, const std::vector<int>& values);

// Returns "FullyConnected 'fc1'": for messages and profiles.
std::string Describe(const Instruction& instruction);

// Returns "; inputs (32, 650) float32, (800, 650) float32": for errors of kernels.
std::string DescribeInputs(absl::Span<const ArrayView> inputs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_PROGRAM_H_
