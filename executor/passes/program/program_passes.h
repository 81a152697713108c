#ifndef COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_
#define COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_

// What is done to a program between lowering and planning: each pass changes the program and none
// of its results, and is in a file of its own. In the order in which they are run
// (compile/passes.h).

#include "executor/program/program.h"

namespace cooper {

// "copies": where a value is used on another context than that on which it is computed, it is
// copied there, once for all its users; a state that is changed there is copied back. Required.
void InsertCopies(Program& program);

// "gradients": the caller's gradient arrays become the buffers of the values that belong there;
// where that cannot be (a value wanted twice, or read again and added) a copy is put in. Required.
void RouteGradients(Program& program);

// "accumulate": the terms of a gradient sum are added into the sum's buffer by the kernels that
// compute them, so that a weight used T times keeps one gradient buffer and needs no sum.
void AccumulateGradients(Program& program);

// "views": operators that leave bytes as they are, and give them another shape at most, become
// views.
void MakeViews(Program& program);
// Whether the instruction is such an operator, for the shapes that its values have.
bool LeavesBytes(const Program& program, const Instruction& instruction);

// "pieces": arrays that are cut, or put together, into parts without gaps lie in one place, where
// that does not make more memory necessary.
void PlacePieces(Program& program);

// "in_place": an operator that may write over an input does so if nobody reads it afterwards.
void ShareInPlace(Program& program);

// "tiles": element-wise operators that follow each other on arrays of one size are marked as a
// chain, which is run tile by tile (tiles.h).
void TileElementwise(Program& program);

// No pass by name, but what CompileOptions::unbound_outputs asks for, after all of them: the arrays
// that runs are given become the buffers of outputs that fill one.
void UnbindOutputs(Program& program);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PASSES_PROGRAM_PROGRAM_PASSES_H_
