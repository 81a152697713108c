#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_OPS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_OPS_H_

// What lanes of a warp compute together: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync
// and bar.warp.sync. collective.cc brings the lanes together.

#include <cstdint>

#include "third_party/cuda/emulator/ptx/program.h"

namespace cooper::ptx {

class Warp;

// Instr::mode of a collective.
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

// Takes the operands of the lanes `mask`, which wait at `in` from now on. in.e is the mask's slot.
void DepositCollective(Warp& warp, const Instr& in, uint32_t mask);
// Computes the results of the lanes `mask`, all of which wait for each other.
void FinishCollective(Warp& warp, uint32_t mask);
// Writes the results of the lanes `mask`, which do not wait any more.
void TakeCollective(Warp& warp, const Instr& in, uint32_t mask);
// Whether lanes at these two instructions can meet.
bool SameCollective(const Instr& a, const Instr& b);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_WARP_OPS_H_
