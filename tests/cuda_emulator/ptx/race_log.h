#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_RACE_LOG_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_RACE_LOG_H_

// Finds unordered accesses of one block's threads to a byte, at least one of them a write and not
// both atomic.
//
// Two threads are ordered by a barrier of the whole block, a barrier in which both their warps took
// part, or, within a warp, a collective (shfl.sync, bar.warp.sync, ...) whose mask contains both.
// Each access is stamped with the number of these that its thread has passed; an earlier access is
// ordered before a later one if the later thread knows of its stamp. A barrier for a part of the
// block is treated as if it ordered all threads of its warps. Fences and atomics order nothing
// here: a lock built from them is reported as a race.
//
// Only two of the readers of a byte since its last write are kept. This misses a race with a third
// reader if the writer is ordered with both.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tests/cuda_emulator/ptx/lanes.h"

namespace cooper::ptx {

// An earlier access with which an access conflicts.
struct Conflict {
  int thread = 0;  // of the block
  bool write = false;
  int source = -1;  // `source` of that Access()
};

// The accesses of one block. Not thread-safe.
class RaceLog {
 public:
  explicit RaceLog(int threads);

  void BlockBarrier() { ++epoch_; }
  // Records a barrier of the warps whose bits are set.
  void PartialBarrier(uint32_t warps);
  // Records a collective of the lanes `mask` of a warp; `whole` if these are all of its lanes.
  void WarpSync(int warp, uint32_t mask, bool whole);

  // Records an access to [address, address + bytes), and returns a conflict with an earlier one.
  // Strong accesses (atomics, volatile, ...) do not conflict with each other. `source` is returned
  // in later Conflicts.
  std::optional<Conflict> Access(uint64_t address, int bytes, int thread, bool write, bool strong,
                                 int source);

 private:
  // An access and the progress of its thread at that time.
  struct Stamp {
    uint32_t epoch = 0;       // barriers of the block; 0: no access
    uint32_t partial = 0;     // of the warp, at barriers for a part of the block
    uint32_t warp_epoch = 0;  // collectives of the whole warp
    uint32_t lane_clock = 0;  // other collectives of this lane
    int32_t source = -1;
    uint16_t thread = 0;
    bool strong = false;
  };
  // The last write of a byte, or of a word, and two reads since.
  struct Cell {
    Stamp writer;
    Stamp reader;
    Stamp other_reader;
  };
  // 16 words of 4 bytes. A word that is only accessed as a whole uses one cell, its first.
  struct Page {
    std::array<Cell, 64> cells;
    uint16_t split = 0;  // words whose bytes have separate cells
  };
  // The synchronisation state of a warp's lanes.
  struct WarpClocks {
    uint32_t epoch = 1;
    std::array<uint32_t, kLanes> lane{};
    std::array<std::array<uint32_t, kLanes>, kLanes>
        known{};  // [a][b]: the clock of b that a knows
  };

  // Returns whether an access is ordered before the next one of `thread`.
  bool Ordered(const Stamp& before, int thread) const;
  std::optional<Conflict> AccessCell(Cell& cell, const Stamp& now, bool write) const;

  uint32_t epoch_ = 1;
  std::vector<WarpClocks> warps_;
  std::vector<uint32_t> partial_;  // barriers of each warp
  std::vector<std::vector<uint32_t>>
      known_partial_;  // [a][b]: the count of warp b that warp a knows
  absl::flat_hash_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t recent_key_ = ~uint64_t{0};
  Page* recent_page_ = nullptr;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_RACE_LOG_H_
