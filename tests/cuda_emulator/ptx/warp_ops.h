#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_OPS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_OPS_H_

// Computes the collectives of a warp: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync and
// bar.warp.sync. collective.cc makes the lanes wait for each other.

#include <cstdint>

#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

class Warp;

// Values of Instr::mode for a collective.
enum class CollectiveMode : uint8_t {
  kSync,
  kShflUp,
  kShflDown,
  kShflBfly,
  kShflIdx,
  kVoteBallot,
  kVoteAny,
  kVoteAll,
  kVoteUni,
  kMatchAny,
  kMatchAll,
  kReduxAdd,
  kReduxMinS,
  kReduxMaxS,
  kReduxMinU,
  kReduxMaxU,
  kReduxAnd,
  kReduxOr,
  kReduxXor,
  kReduxMinF,
  kReduxMaxF,
  kElect,
};

// Stores the operands of the lanes `mask`, which then wait at `in`. in.e is the slot of the mask.
void DepositCollective(Warp& warp, const Instr& in, uint32_t mask);
// Computes the results of the lanes `mask`, all of which wait for each other.
void FinishCollective(Warp& warp, uint32_t mask);
// Writes the results of the lanes `mask`, which no longer wait.
void TakeCollective(Warp& warp, const Instr& in, uint32_t mask);
// Returns whether lanes at these two instructions can take part in one collective.
bool SameCollective(const Instr& a, const Instr& b);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_WARP_OPS_H_
