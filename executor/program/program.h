#ifndef COOPER_EXECUTOR_PROGRAM_PROGRAM_H_
#define COOPER_EXECUTOR_PROGRAM_PROGRAM_H_

// A graph with static shapes as a flat list of instructions over values that lie in buffers. This
// is what graph passes transform (passes.h) and what the executor prepares and runs. It owns no
// memory: a buffer is a claim on the arena or stands for an array of the caller's.

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
  int slot = -1;
  int context = 0;  // where it is: index into Program::contexts
  int64_t bytes = 0;
};

struct ProgramValue {
  Shape shape;
  DType dtype = DType::kFloat32;
  int buffer = -1;
  int64_t offset = 0;  // bytes from the buffer's beginning: it may be a piece of another value
  NodeEntry entry;     // what it is in the graph, for names

  int64_t bytes() const { return shape.num_elements() * SizeOf(dtype); }
};

struct Instruction {
  NodePtr node;
  std::vector<int> inputs;     // values
  std::vector<int> outputs;    // values
  std::vector<WriteReq> reqs;  // of the outputs
  bool backward = false;
  int context = 0;  // where it runs
  // Names its stream of random numbers: no other instruction that draws has it.
  uint64_t random_id = 0;
  // The context from which this copies its input to its own; -1 for all other instructions.
  int copy_from = -1;
  // False: the outputs are views of the inputs, and there is nothing to compute.
  bool run = true;
  // The instruction of its gradient computes its outputs: in a training run this one is left out.
  bool left_to_gradient = false;
  // The chain of element-wise instructions that this one is run with, tile by tile; -1: none. Those
  // of a chain follow each other, with nothing that runs in between.
  int tiles = -1;
};

// Calls fn(value) for each value that the instruction reads or writes.
template <typename Fn>
void ForEachValue(const Instruction& instruction, const Fn& fn) {
  for (int input : instruction.inputs) fn(input);
  for (size_t k = 0; k < instruction.outputs.size(); ++k) {
    if (instruction.reqs[k] != WriteReq::kNull) fn(instruction.outputs[k]);
  }
}

// A gradient that the program has to leave in the caller's array.
struct ProgramGradient {
  int arg = -1;    // slot of the argument
  int value = -1;  // -1: no gradient flows there
  WriteReq req = WriteReq::kWrite;
};

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
  // By output: the value that says how many of its rows there are (OpSchema::counts_rows); -1 where
  // all are.
  std::vector<int> row_counts;
  std::vector<ProgramGradient> gradients;
  std::vector<int> head_gradients;  // values by output; -1 where none is taken

  // Whether any output's rows are counted.
  bool counts_rows() const;
  // How often each value is read, by instructions or as an output of the program.
  std::vector<int> CountReads() const;
  // How many instructions write into each buffer, an output or an input that they declare.
  std::vector<int> CountWriters() const;
  // How many of them, by buffer, change it as an input.
  std::vector<int> CountInputChanges() const;
  // The instruction that writes each value last, -1 for the caller's arrays.
  std::vector<int> Producers() const;
};

// Views of values, without memory.
std::vector<ArrayView> ViewsOf(const Program& program, const std::vector<int>& values);

// "FullyConnected 'fc1'": for messages and profiles.
std::string Describe(const Instruction& instruction);

// "; inputs (32, 650) float32, (800, 650) float32": for errors of kernels.
std::string DescribeInputs(absl::Span<const ArrayView> inputs);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_PROGRAM_H_
