#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_

// A model of a GPU's second-level cache: which sectors of 32 bytes have to come from memory, and
// which are written there. Lines have four sectors, each of which is there or not; a set of 16
// lines gives up the one whose last use is longest ago; a sector that was written goes to memory
// when its line is given up. A write need not read what it does not overwrite: a sector that is
// written in part counts as one that is there.
//
// NVIDIA does not say how its caches choose. What is larger than the cache and used again and again
// in one order is never found in this one, where a GPU may keep a part; and all of it is one piece
// here, of which every block is as near.

#include <array>
#include <cstdint>
#include <vector>

namespace cooper::ptx {

inline constexpr uint64_t kSectorBytes = 32;

class SectorCache {
 public:
  // Of `bytes`, rounded down to whole sets, and empty.
  explicit SectorCache(int64_t bytes);

  // A sector by its number: its address divided by kSectorBytes. `streams`: it is not used again
  // soon, as by the .cs of ld and st: a line that comes for it is the next to be given up. One that
  // is there stays as long as without it.
  void Read(uint64_t sector, bool streams = false) { Use(sector, /*write=*/false, streams); }
  void Write(uint64_t sector, bool streams = false) { Use(sector, /*write=*/true, streams); }
  // All sectors that the range touches.
  void ReadRange(const void* data, int64_t bytes) { UseRange(data, bytes, /*write=*/false); }
  void WriteRange(const void* data, int64_t bytes) { UseRange(data, bytes, /*write=*/true); }

  // Writes what memory does not have yet. It stays.
  void Flush();

  // Sectors between the cache and memory, since it was made.
  int64_t read_sectors() const { return read_sectors_; }
  int64_t written_sectors() const { return written_sectors_; }

 private:
  static constexpr int kWays = 16, kSectors = 4;
  // In place of the time, for a line that is there since it was streamed. Free ones have 0.
  static constexpr uint64_t kStreamed = 1;
  // Bits are sectors. A line without any is free.
  struct Line {
    uint64_t number = 0;
    uint64_t used = 0;  // the time of its last use
    uint8_t present = 0;
    uint8_t dirty = 0;
  };
  using Set = std::array<Line, kWays>;

  void Use(uint64_t sector, bool write, bool streams);
  void UseRange(const void* data, int64_t bytes, bool write);
  void WriteBack(Line& line);

  std::vector<Set> sets_;
  uint64_t now_ = kStreamed + 1;
  int64_t read_sectors_ = 0;
  int64_t written_sectors_ = 0;
};

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_SECTOR_CACHE_H_
