#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_

// Passes over a program between lowering and planning. Each pass, in a file of its own, changes the
// program and keeps its results. They are declared in the order in which they run
// (compile/passes.h).

#include "executor/program/program.h"

namespace cooper {

// "conditions": lists for each instruction the conditions without which nobody reads its outputs,
// so that the branch that was not taken, and the steps of a loop that has ended, do not run. An
// instruction that changes its inputs, such as auxiliary states, is skipped only if it stands under
// the condition itself. Programs on GPUs have no conditions. Must be the first pass. Required.
void FindConditions(Program& program);

// "copies": inserts a copy of a value to each other context that uses it, shared by all users
// there; a state that is changed there is copied back. Required.
void InsertCopies(Program& program);

// "gradients": makes the caller's gradient arrays the buffers of their values. Inserts a copy where
// that is impossible: the value belongs to two arguments or has no buffer in the arena, or it must
// be added and has other readers. Inserts zeros for gradients without a value. Required.
void RouteGradients(Program& program);

// "accumulate": kernels that compute the terms of a gradient sum add them to the sum's buffer, so
// that a weight used T times keeps one gradient buffer and needs no sum.
void AccumulateGradients(Program& program);

// "views": makes operators that keep the bytes of their input, and change its shape at most, views.
void MakeViews(Program& program);
// Returns whether the output of the instruction has the bytes of its input in the same order, for
// the shapes of its values: MakeViews makes it a view then.
bool LeavesBytes(const Program& program, const Instruction& instruction);

// "slices": places the parts of arrays that are cut or concatenated in the memory of the whole, if
// they are contiguous there and the plan does not need more memory for it.
void PlaceSlices(Program& program);

// "in_place": lets an operator write to the memory of an input that has no later reader, if its
// kernel supports that.
void ShareInPlace(Program& program);

// "tiles": marks consecutive element-wise operators on arrays of one size as a chain, which runs
// tile by tile (tiles.h).
void TileElementwise(Program& program);

// Implements CompileOptions::unbound_outputs, after all named passes: an output that fills a buffer
// of the arena is written to an array that each run is given.
void UnbindOutputs(Program& program);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_
