#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COUNTERS_H_

// Counts the cost of a program without a clock: the host's requests to the devices, and the work of
// kernels, products and copies. Settings::counters prints both when the program ends.

#include <cstdint>
#include <map>
#include <string>

#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/ptx/sector_cache.h"

namespace cooper::cuda_emulator {

// The runs of one kernel, or of other work of one name.
struct KernelCost {
  int64_t runs = 0;
  int64_t memory_bytes = 0;  // between memory and the cache of SimulateCache, in both directions
  ptx::Counters counters;    // sums over the runs
};

// The number of operations of one kind, and their bytes.
struct ByteCount {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t memory_bytes = 0;  // for copies, as in KernelCost
};

// All counts since the last reset.
struct Costs {
  // Completed work by name, alone or in a graph. The name of a cuBLAS product includes its extents;
  // its counters have only flops, and the bytes of its matrices, each once.
  std::map<std::string, KernelCost> kernels;
  // Copies by direction ("host to device", "device to device", ...), and "fill".
  std::map<std::string, ByteCount> copies;
  // Work that the host put into streams, by kind: "kernel", "copy", "fill", "graph", "host
  // function". The operations of a graph are not counted separately.
  std::map<std::string, int64_t> queued;
  // How often the host waited, or would have waited on a GPU, by call.
  std::map<std::string, int64_t> waits;
  std::map<std::string, ByteCount> allocations;  // by call
  int64_t frees = 0;

  // Return sums over all names.
  int64_t num_kernel_runs() const;
  int64_t num_queued() const;
  int64_t num_waits() const;
  int64_t num_allocations() const;
};

// Returns the costs since the program began or the last ResetCosts. Excludes work that is queued
// and has not run yet, with Settings::lazy. Thread-safe, as are the next two functions.
Costs GetCosts();
void ResetCosts();
// Also counts sectors and bank conflicts of later work, which takes some time; always on with
// Settings::counters.
void CountTransactions(bool on);

// Simulates an empty L2 cache of `bytes` in front of the memory of all devices together
// (ptx/sector_cache.h); 0 disables it. From then on the costs include the memory traffic of
// kernels, of each matrix of a product once, and of copies. Kernels that are not PTX have none.
void SimulateCache(int64_t bytes);
// Writes back the cache's dirty bytes, and returns their number.
int64_t FlushCache();

// Functions for the runtime; callers hold the ApiLock.
bool CountsTransactions();
// Returns the simulated cache, or null. The next CountRun or CountCopy is charged with its traffic.
ptx::SectorCache* TheCache();
void CountRun(const std::string& kernel, const ptx::Counters& counters);
void CountCopy(const char* direction, int64_t bytes);
void CountQueued(const char* kind);
void CountWait(const char* call);
void CountAllocation(const char* call, int64_t bytes);
void CountFree();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_COUNTERS_H_
