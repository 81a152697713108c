#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_

// What a program costs where there is no clock: what its host code asked of the devices, and what
// kernels, products and copies did there. Settings::counters prints both when the program ends.

#include <cstdint>
#include <map>
#include <string>

#include "third_party/cuda/emulator/ptx/counters.h"
#include "third_party/cuda/emulator/ptx/sector_cache.h"

namespace cooper::cuda_emulator {

struct KernelCost {
  int64_t runs = 0;
  int64_t memory_bytes = 0;  // between memory and the cache of SimulateCache, both ways
  ptx::Counters counters;    // sums over the runs
};

struct ByteCount {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t memory_bytes = 0;  // of copies, as KernelCost has them
};

struct Costs {
  // What has run, by name, alone or in a graph. A product of cuBLAS has its extents in its name; of
  // its counters it has flops, and the bytes of its matrices, each once.
  std::map<std::string, KernelCost> kernels;
  // By direction ("host to device", "device to device", ...), and "fill".
  std::map<std::string, ByteCount> copies;
  // What the host put into streams, by kind: "kernel", "copy", "fill", "graph", "host function".
  // What a graph holds is not among it.
  std::map<std::string, int64_t> queued;
  // By call: how often the host waited, or would have on a GPU, for what it has put in.
  std::map<std::string, int64_t> waits;
  std::map<std::string, ByteCount> allocations;  // by call
  int64_t frees = 0;

  int64_t num_kernel_runs() const;
  int64_t num_queued() const;
  int64_t num_waits() const;
  int64_t num_allocations() const;
};

// Since the program began, or the last ResetCosts. What is queued and has not run yet, with
// Settings::lazy, is not in it. Thread-safe, as are the next two.
Costs GetCosts();
void ResetCosts();
// Counts sectors and bank conflicts of what runs from now on, too, which takes some time; always on
// with Settings::counters.
void CountTransactions(bool on);

// Puts a second-level cache of `bytes`, empty, before the memory of all devices together
// (ptx/sector_cache.h); 0: none any more. What it makes of the accesses of kernels, of each matrix
// of a product once, and of copies is in the costs from then on. Kernels that are not PTX have
// none.
void SimulateCache(int64_t bytes);
// Bytes that it has and memory has not, which are written.
int64_t FlushCache();

// For the runtime; callers hold the ApiLock.
bool CountsTransactions();
// Null: none. What crosses between it and memory belongs to the next CountRun or CountCopy.
ptx::SectorCache* TheCache();
void CountRun(const std::string& kernel, const ptx::Counters& counters);
void CountCopy(const char* direction, int64_t bytes);
void CountQueued(const char* kind);
void CountWait(const char* call);
void CountAllocation(const char* call, int64_t bytes);
void CountFree();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
