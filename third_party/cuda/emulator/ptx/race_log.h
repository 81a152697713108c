#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RACE_LOG_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RACE_LOG_H_

// Finds accesses of one block's threads to a byte, at least one of them a write and not both
// atomic, that nothing orders.
//
// What orders two threads is a barrier of the whole block, a barrier that both their warps took
// part in, or, within a warp, a collective (shfl.sync, bar.warp.sync, ...) whose mask has both.
// Each thread's accesses are stamped with how many of these lie behind it; an earlier access is
// ordered before a later one if the later thread knows of its stamp. Barriers for a part of the
// block are taken as if they ordered all threads of their warps. Fences and atomics order nothing
// here: a lock that is built of them is told as a race.
//
// Of the readers of a byte since its last write two are kept, which misses a race of a third that
// both are ordered with.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "third_party/cuda/emulator/ptx/lanes.h"

namespace cooper::ptx {

// An access that another one conflicts with.
struct Conflict {
  int thread = 0;  // of the block
  bool write = false;
  int source = -1;  // as given to Access()
};

class RaceLog {
 public:
  explicit RaceLog(int threads);

  void BlockBarrier() { ++epoch_; }
  // A barrier of the warps whose bits are set.
  void PartialBarrier(uint32_t warps);
  // A collective of the lanes `mask` of a warp, which are all of its lanes if `whole`.
  void WarpSync(int warp, uint32_t mask, bool whole);

  // Records an access to [address, address + bytes). Strong ones (atomics, volatile, ...) do not
  // conflict with each other. `source` is what Conflict tells.
  std::optional<Conflict> Access(uint64_t address, int bytes, int thread, bool write, bool strong,
                                 int source);

 private:
  struct Stamp {
    uint32_t epoch = 0;       // barriers of the block; 0: no access
    uint32_t partial = 0;     // of the warp, at barriers for a part of the block
    uint32_t warp_epoch = 0;  // collectives of the whole warp
    uint32_t lane_clock = 0;  // other collectives of this lane
    int32_t source = -1;
    uint16_t thread = 0;
    bool strong = false;
  };
  struct Cell {
    Stamp writer;
    Stamp reader;
    Stamp other_reader;
  };
  // 16 words of 4 bytes. A word that is only touched as a whole has one cell, its first.
  struct Page {
    std::array<Cell, 64> cells;
    uint16_t split = 0;  // words whose bytes have cells of their own
  };
  // What the lanes of a warp know of each other.
  struct WarpClocks {
    uint32_t epoch = 1;
    std::array<uint32_t, kLanes> lane{};
    std::array<std::array<uint32_t, kLanes>, kLanes> known{};  // [a][b]: what a knows of b
  };

  bool Ordered(const Stamp& before, int thread) const;
  std::optional<Conflict> AccessCell(Cell& cell, const Stamp& now, bool write) const;

  uint32_t epoch_ = 1;
  std::vector<WarpClocks> warps_;
  std::vector<uint32_t> partial_;                     // barriers of each warp
  std::vector<std::vector<uint32_t>> known_partial_;  // [a][b]: what warp a knows of b
  absl::flat_hash_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t recent_key_ = ~uint64_t{0};
  Page* recent_page_ = nullptr;
};

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_RACE_LOG_H_
