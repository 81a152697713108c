// Resolves, checks and counts the memory accesses of lanes.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/cuda_emulator/ptx/block.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/memory_resolver.h"
#include "tests/cuda_emulator/ptx/race_log.h"
#include "tests/cuda_emulator/ptx/sector_cache.h"
#include "tests/cuda_emulator/ptx/transactions.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {

std::string MemoryResolver::What(uint64_t address) const {
  return Concat(use_.access == Access::kRead    ? "a read of "
                : use_.access == Access::kWrite ? "a write of "
                                                : "an atomic access to ",
                bytes_, " bytes at 0x", absl::Hex(address));
}

uint8_t* MemoryResolver::Misaligned(int lane, uint64_t address) {
  warp_.Fail(lane, absl::StatusCode::kInvalidArgument, Concat("misaligned: ", What(address)));
  return nullptr;
}

uint8_t* MemoryResolver::Outside(int lane, uint64_t address, const std::string& where) {
  warp_.Fail(lane, absl::StatusCode::kOutOfRange,
             Concat("out of bounds: ", What(address), ", ", where));
  return nullptr;
}

// Describes an address outside of all allocations, if it is close after a known one.
std::string MemoryResolver::Behind(uint64_t address) const {
  constexpr uint64_t kClose = 1 << 16;
  for (const Extent& extent : warp_.launch().extents) {
    if (address < extent.end || address - extent.end >= kClose) continue;
    return Concat(address - extent.end, " bytes behind an allocation of ",
                  extent.end - extent.begin, " bytes");
  }
  return "which lies in no allocation";
}

uint8_t* MemoryResolver::CheckRace(int lane, uint64_t address, uint8_t* pointer) {
  RaceLog* log = warp_.block().race_log();
  const std::optional<Conflict> conflict =
      log->Access(address, static_cast<int>(bytes_), warp_.index() * kLanes + lane,
                  use_.access != Access::kRead, use_.strong, line_);
  if (!conflict) return pointer;
  const Dim3 other = warp_.block().ThreadOf(conflict->thread);
  warp_.Fail(lane, absl::StatusCode::kFailedPrecondition,
             Concat("race: ",
                    InWindow(address, kSharedWindow)
                        ? Concat(What(address - kSharedWindow), " of shared memory")
                        : What(address),
                    ", which thread (", other.x, ", ", other.y, ", ", other.z,
                    conflict->write ? ") wrote" : ") read", " at PTX line ", conflict->source,
                    " with no barrier between"));
  return nullptr;
}

uint8_t* MemoryResolver::Shared(int lane, uint64_t offset) {
  Block& block = warp_.block();
  std::vector<uint8_t>& shared = block.shared();
  if (offset + bytes_ > shared.size() || offset + bytes_ < bytes_) {
    return Outside(lane, offset, Concat("of ", shared.size(), " bytes of shared memory"));
  }
  if (offset % bytes_ != 0) return Misaligned(lane, offset);
  addresses_[lane] = offset;
  shared_lanes_ |= 1u << lane;
  uint8_t* const pointer = shared.data() + offset;
  std::vector<bool>& written = block.shared_written();
  if (!written.empty()) {
    for (uint64_t i = offset; i < offset + bytes_; ++i) {
      if (use_.access == Access::kWrite) {
        written[i] = true;
      } else if (!written[i]) {
        warp_.Fail(lane, absl::StatusCode::kFailedPrecondition,
                   Concat("shared memory that was never written: ", What(offset)));
        return nullptr;
      }
    }
  }
  if (block.race_log() == nullptr) return pointer;
  return CheckRace(lane, kSharedWindow + offset, pointer);
}

uint8_t* MemoryResolver::Local(int lane, uint64_t offset) {
  const uint64_t end = warp_.frame().local_base + warp_.frame().code->local_bytes;
  if (offset + bytes_ > end || offset + bytes_ < bytes_) {
    return Outside(lane, offset, Concat("of ", end, " bytes of the thread's local memory"));
  }
  if (offset % bytes_ != 0) return Misaligned(lane, offset);
  warp_.launch().counters.local_bytes += static_cast<int64_t>(bytes_);
  return warp_.local(lane) + offset;
}

uint8_t* MemoryResolver::Param(int lane, uint64_t offset) {
  const absl::Span<const uint8_t> params = warp_.launch().params;
  if (offset + bytes_ > params.size() || offset + bytes_ < bytes_ || use_.access != Access::kRead) {
    return Outside(lane, offset, Concat("of ", params.size(), " bytes of parameters"));
  }
  if (offset % bytes_ != 0) return Misaligned(lane, offset);
  return const_cast<uint8_t*>(params.data()) + offset;  // only read
}

uint8_t* MemoryResolver::Global(int lane, uint64_t address) {
  if (address - extent_.begin >= extent_.end - extent_.begin || extent_.end - address < bytes_) {
    extent_ = warp_.launch().ExtentOf(address);
    if (extent_.end == extent_.begin) {
      return Outside(lane, address, Behind(address));
    }
    if (extent_.end - address < bytes_) {
      return Outside(lane, address,
                     Concat("of an allocation of ", extent_.end - extent_.begin, " bytes at 0x",
                            absl::Hex(extent_.begin)));
    }
  }
  if (address % bytes_ != 0) return Misaligned(lane, address);
  addresses_[lane] = address;
  global_lanes_ |= 1u << lane;
  uint8_t* const pointer = reinterpret_cast<uint8_t*>(address);
  if (warp_.block().race_log() == nullptr || use_.space == Space::kConst) return pointer;
  return CheckRace(lane, address, pointer);
}

uint8_t* MemoryResolver::One(int lane, uint64_t address) {
  switch (use_.space) {
    case Space::kShared:
      return Shared(lane, address);
    case Space::kLocal:
      return Local(lane, address);
    case Space::kParam:
      return Param(lane, address);
    case Space::kGeneric:
      if ((address >> 60) == 0) break;
      if (InWindow(address, kSharedWindow)) return Shared(lane, address - kSharedWindow);
      if (InWindow(address, kLocalWindow)) return Local(lane, address - kLocalWindow);
      if (InWindow(address, kParamWindow)) return Param(lane, address - kParamWindow);
      break;
    default:
      break;
  }
  return Global(lane, address);
}

void MemoryResolver::Count(uint32_t mask) {
  Counters& counters = warp_.launch().counters;
  const bool read = use_.access != Access::kWrite;
  const bool write = use_.access != Access::kRead;
  const uint32_t global = mask & global_lanes_;
  const uint32_t shared = mask & shared_lanes_;
  if (global != 0) {
    const int lanes = std::popcount(global);
    const int64_t bytes = lanes * static_cast<int64_t>(bytes_);
    if (read) counters.global_read_bytes += bytes;
    if (write) counters.global_written_bytes += bytes;
    if (read && write) counters.global_atomics += lanes;
    const Options& options = warp_.launch().options;
    if (options.count_transactions || options.cache != nullptr) {
      const auto sectors = SectorsOf(addresses_, global, static_cast<int>(bytes_));
      if (read) counters.global_read_sectors += static_cast<int64_t>(sectors.size());
      if (write) counters.global_written_sectors += static_cast<int64_t>(sectors.size());
      for (const uint64_t sector : sectors) {
        if (options.cache == nullptr) break;
        if (read) options.cache->Read(sector, use_.streams);
        if (write) options.cache->Write(sector, use_.streams);
      }
    }
  }
  if (shared != 0) {
    const int64_t bytes = std::popcount(shared) * static_cast<int64_t>(bytes_);
    if (read) counters.shared_read_bytes += bytes;
    if (write) counters.shared_written_bytes += bytes;
    if (warp_.launch().options.count_transactions) {
      const Wavefronts wavefronts = CountWavefronts(addresses_, shared, static_cast<int>(bytes_));
      counters.shared_wavefronts += wavefronts.count;
      counters.shared_bank_conflicts += wavefronts.count - wavefronts.least;
    }
  }
}

bool MemoryResolver::Resolve(const uint64_t* addresses, uint64_t offset, uint32_t mask,
                             uint8_t** pointers) {
  if (!warp_.launch().extents.empty()) {
    extent_ = warp_.launch().extents[warp_.launch().recent_extent];
  }
  bool ok = true;
  ForLanes(mask, [&](int lane) {
    if (!ok) return;
    pointers[lane] = One(lane, addresses[lane] + offset);
    ok = pointers[lane] != nullptr;
  });
  if (!ok) return false;
  Count(mask);
  return true;
}

bool Warp::ResolveAt(const MemoryUse& use, uint32_t slot, uint64_t offset, uint32_t mask,
                     uint8_t** pointers) {
  const int32_t statement = frame_->code->instrs[static_cast<size_t>(pc_)].statement;
  const int line = frame_->code->sources[static_cast<size_t>(statement)].line;
  MemoryResolver resolver(*this, use, line);
  // A strong access may be a loop that polls for another thread.
  if (use.strong && use.access != Access::kWrite) {
    Spend(use.access == Access::kAtomic ? 20 : 100);
  }
  return resolver.Resolve(Lanes<uint64_t>(slot), offset, mask, pointers);
}

bool Warp::Resolve(const Instr& in, uint32_t mask, uint8_t** pointers) {
  return ResolveAt(in.memory, in.a, in.value, mask, pointers);
}

}  // namespace cooper::ptx
