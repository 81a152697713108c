#include "tests/cuda_emulator/runtime/counters.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda_emulator/ptx/counters.h"
#include "tests/cuda_emulator/runtime/api_state.h"
#include "tests/cuda_emulator/runtime/settings.h"

namespace cooper::cuda_emulator {
namespace {

long long Printed(int64_t number) { return static_cast<long long>(number); }

void PrintRow(const char* name, const KernelCost& cost) {
  const ptx::Counters& c = cost.counters;
  std::fprintf(stderr, "%9lld %14lld %12lld %13lld %13lld %10lld %8lld  %s\n", Printed(cost.runs),
               Printed(c.instructions), Printed(c.flops), Printed(c.global_read_bytes),
               Printed(c.global_written_bytes), Printed(c.shared_bank_conflicts),
               Printed(c.barriers), name);
}

// Prints the kernels, those with the most instructions first.
void PrintKernels(const Costs& costs) {
  std::vector<std::pair<std::string, KernelCost>> rows(costs.kernels.begin(), costs.kernels.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second.counters.instructions > b.second.counters.instructions;
  });
  std::fprintf(stderr, "cuda emulator: what kernels did\n%9s %14s %12s %13s %13s %10s %8s  %s\n",
               "runs", "instructions", "flops", "bytes read", "bytes written", "conflicts",
               "barriers", "kernel");
  KernelCost sum;
  for (const auto& [name, cost] : rows) {
    PrintRow(name.c_str(), cost);
    sum.runs += cost.runs;
    sum.counters += cost.counters;
  }
  PrintRow("all", sum);
}

void PrintCounts(const char* what, const std::map<std::string, int64_t>& counts) {
  for (const auto& [name, count] : counts) {
    std::fprintf(stderr, "%9lld %14s  %s %s\n", Printed(count), "", what, name.c_str());
  }
}

void PrintBytes(const char* what, const std::map<std::string, ByteCount>& counts) {
  for (const auto& [name, count] : counts) {
    std::fprintf(stderr, "%9lld %14lld  %s %s\n", Printed(count.count), Printed(count.bytes), what,
                 name.c_str());
  }
}

void Print(const Costs& costs) {
  PrintKernels(costs);
  std::fprintf(stderr, "cuda emulator: what the program asked for\n%9s %14s  %s\n", "times",
               "bytes", "what");
  PrintCounts("queued:", costs.queued);
  PrintCounts("waited in", costs.waits);
  PrintBytes("copied:", costs.copies);
  PrintBytes("allocated by", costs.allocations);
  std::fprintf(stderr, "%9lld %14s  freed\n", Printed(costs.frees), "");
}

Costs& TheCosts() {
  static auto* costs = [] {
    if (GetSettings().counters) std::atexit([] { Print(TheCosts()); });
    return new Costs;
  }();
  return *costs;
}

bool& TransactionsAreOn() {
  static bool on = GetSettings().counters;
  return on;
}

std::unique_ptr<ptx::SectorCache>& CacheSlot() {
  static auto* cache = new std::unique_ptr<ptx::SectorCache>;
  return *cache;
}

int64_t& SectorsTold() {
  static int64_t sectors = 0;
  return sectors;
}

// Returns the bytes moved between cache and memory since the last call.
int64_t TakeMemoryBytes() {
  const ptx::SectorCache* const cache = TheCache();
  if (cache == nullptr) return 0;
  const int64_t sectors = cache->read_sectors() + cache->written_sectors();
  return static_cast<int64_t>(ptx::kSectorBytes) *
         (sectors - std::exchange(SectorsTold(), sectors));
}

}  // namespace

int64_t Costs::num_kernel_runs() const {
  int64_t sum = 0;
  for (const auto& [name, cost] : kernels) sum += cost.runs;
  return sum;
}

int64_t Costs::num_queued() const {
  int64_t sum = 0;
  for (const auto& [kind, count] : queued) sum += count;
  return sum;
}

int64_t Costs::num_waits() const {
  int64_t sum = 0;
  for (const auto& [call, count] : waits) sum += count;
  return sum;
}

int64_t Costs::num_allocations() const {
  int64_t sum = 0;
  for (const auto& [call, count] : allocations) sum += count.count;
  return sum;
}

Costs GetCosts() {
  const ApiLock lock;
  return TheCosts();
}

void ResetCosts() {
  const ApiLock lock;
  TheCosts() = {};
}

void CountTransactions(bool on) {
  const ApiLock lock;
  TransactionsAreOn() = on || GetSettings().counters;
}

void SimulateCache(int64_t bytes) {
  const ApiLock lock;
  CacheSlot() = bytes > 0 ? std::make_unique<ptx::SectorCache>(bytes) : nullptr;
  SectorsTold() = 0;
}

int64_t FlushCache() {
  const ApiLock lock;
  if (TheCache() == nullptr) return 0;
  TheCache()->Flush();
  return TakeMemoryBytes();
}

ptx::SectorCache* TheCache() { return CacheSlot().get(); }

bool CountsTransactions() { return TransactionsAreOn(); }

void CountRun(const std::string& kernel, const ptx::Counters& counters) {
  KernelCost& cost = TheCosts().kernels[kernel];
  ++cost.runs;
  cost.counters += counters;
  cost.memory_bytes += TakeMemoryBytes();
}

void CountCopy(const char* direction, int64_t bytes) {
  ByteCount& count = TheCosts().copies[direction];
  ++count.count;
  count.bytes += bytes;
  count.memory_bytes += TakeMemoryBytes();
}

void CountQueued(const char* kind) { ++TheCosts().queued[kind]; }

void CountWait(const char* call) { ++TheCosts().waits[call]; }

void CountAllocation(const char* call, int64_t bytes) {
  ByteCount& count = TheCosts().allocations[call];
  ++count.count;
  count.bytes += bytes;
}

void CountFree() { ++TheCosts().frees; }

}  // namespace cooper::cuda_emulator
