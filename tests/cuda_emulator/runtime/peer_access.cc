#include "tests/cuda_emulator/runtime/peer_access.h"

#include <set>
#include <utility>

namespace cooper::cuda_emulator {
namespace {

std::set<std::pair<int, int>>& PeerAccess() {
  static auto* access = new std::set<std::pair<int, int>>;
  return *access;
}

}  // namespace

bool HasPeerAccess(int device, int other) {
  return device == other || PeerAccess().count({device, other}) != 0;
}

void SetPeerAccess(int device, int other, bool allowed) {
  if (allowed) {
    PeerAccess().insert({device, other});
  } else {
    PeerAccess().erase({device, other});
  }
}

}  // namespace cooper::cuda_emulator
