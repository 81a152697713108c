#include "tests/cuda_emulator/host/grid.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cuda_emulator/host/block.h"
#include "tests/cuda_emulator/host/fiber.h"
#include "tests/cuda_emulator/host/host_launch.h"
#include "tests/cuda_emulator/host/thread.h"
#include "vector_types.h"

namespace cooper::cuda_emulator {
namespace {

// Workers are never freed: LeakSanitizer can reach them, and ThreadSanitizer's fibers are expensive
// to create.
std::vector<std::unique_ptr<Worker>>& Workers() {
  static auto* workers = new std::vector<std::unique_ptr<Worker>>;
  return *workers;
}

Worker& GetWorker(size_t number) {
  while (Workers().size() <= number) {
    Workers().push_back(std::make_unique<Worker>());
    StartWorker(*Workers().back());
  }
  return *Workers()[number];
}

uint3 IndexIn(const dim3& shape, uint64_t number) {
  return {static_cast<unsigned>(number % shape.x),
          static_cast<unsigned>(number / shape.x % shape.y),
          static_cast<unsigned>(number / shape.x / shape.y)};
}

bool SamePlace(const std::source_location& a, const std::source_location& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         std::strcmp(a.file_name(), b.file_name()) == 0;
}

std::string Place(const Thread& thread) {
  return absl::StrCat("thread (", thread.index.x, ", ", thread.index.y, ", ", thread.index.z,
                      ") waits at ", thread.where.file_name(), ":", thread.where.line());
}

class GridRun {
 public:
  GridRun(const HostLaunch& launch, uint32_t seed) : launch_(launch), seed_(seed), random_(seed) {}

  void Run();

 private:
  void ResetBlock(uint64_t number);
  void RunBlock(uint64_t turn);
  void Resume(Thread& thread);
  void Enter(Worker& worker);
  void CompleteMeetings(Warp& warp);
  void CompleteBarrier();
  [[noreturn]] void FailWaiting();

  const HostLaunch& launch_;
  const uint32_t seed_;
  std::mt19937 random_;
  Block& block_ = TheBlock();
};

void GridRun::ResetBlock(uint64_t number) {
  block_.index = IndexIn(launch_.grid, number);
  block_.num_threads = static_cast<int>(launch_.block.x * launch_.block.y * launch_.block.z);
  block_.begun = block_.at_barrier = block_.barriers = 0;
  block_.alive = block_.num_threads;
  for (Warp& warp : block_.warps) warp.alive = warp.num_meetings = 0;
  for (int i = 0; i < block_.num_threads; ++i) {
    Thread& thread = block_.threads[i];
    thread = {.index = IndexIn(launch_.block, i), .number = i};
    block_.warps[i / kLanes].alive |= 1u << i % kLanes;
  }
  std::iota(block_.order, block_.order + block_.num_threads, 0);
  if (seed_ != 0) std::shuffle(block_.order, block_.order + block_.num_threads, random_);
  if (launch_.dynamic_shared > 0) std::memset(block_.dynamic_shared, 0xFF, launch_.dynamic_shared);
}

void GridRun::Enter(Worker& worker) { SwitchFiber(block_.scheduler, worker.fiber); }

void GridRun::Resume(Thread& thread) {
  block_.running = &thread;
  Enter(*thread.worker);
}

// Completes the exchanges that all remaining lanes of their masks have reached.
void GridRun::CompleteMeetings(Warp& warp) {
  for (int i = 0; i < warp.num_meetings; ++i) {
    Meeting& meeting = warp.meetings[i];
    if (meeting.arrived == 0 || meeting.arrived != std::popcount(meeting.mask & warp.alive)) {
      continue;
    }
    const int64_t first = (&warp - block_.warps) * kLanes;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((meeting.mask & warp.alive) >> lane & 1) {
        block_.threads[first + lane].state = ThreadState::kReady;
      }
    }
    meeting.arrived = 0;
    ++meeting.completed;
  }
}

void GridRun::CompleteBarrier() {
  const Thread* first = nullptr;
  for (int i = 0; i < block_.num_threads; ++i) {
    Thread& thread = block_.threads[i];
    if (thread.state != ThreadState::kAtBarrier) continue;
    if (first == nullptr) first = &thread;
    if (!SamePlace(first->where, thread.where)) {
      block_.running = &thread;
      FailThread(absl::StrCat("a barrier that divides the block: ", Place(*first)).c_str(),
                 thread.where);
    }
    thread.state = ThreadState::kReady;
  }
  block_.at_barrier = 0;
  ++block_.barriers;
}

void GridRun::FailWaiting() {
  std::string others;
  Thread* last = nullptr;
  for (int i = 0; i < block_.num_threads; ++i) {
    Thread& thread = block_.threads[i];
    if (thread.state == ThreadState::kEnded) continue;
    if (last == nullptr || !SamePlace(last->where, thread.where)) {
      absl::StrAppend(&others, "\n  ", Place(thread));
    }
    last = &thread;
  }
  block_.running = last;
  FailThread(absl::StrCat("threads wait for others for ever", others).c_str(), last->where);
}

void GridRun::RunBlock(uint64_t turn) {
  for (size_t entered = 0; block_.begun < block_.num_threads; ++entered) {
    // Threads with the same number in consecutive blocks have different fibers, because
    // ThreadSanitizer treats the actions of one fiber as ordered.
    Enter(kOneFiberPerThread ? GetWorker((turn + entered) % (block_.num_threads + 1))
                             : GetWorker(entered));
  }
  while (block_.alive > 0) {
    for (int i = 0; i < block_.num_threads; i += kLanes) CompleteMeetings(block_.warps[i / kLanes]);
    if (block_.at_barrier == block_.alive) CompleteBarrier();
    bool any = false;
    for (int i = 0; i < block_.num_threads; ++i) {
      Thread& thread = block_.threads[block_.order[i]];
      if (thread.state != ThreadState::kReady) continue;
      any = true;
      Resume(thread);
    }
    if (!any) FailWaiting();
  }
}

void GridRun::Run() {
  std::unique_ptr<char[]> dynamic_shared(new char[launch_.dynamic_shared]);
  block_.launch = &launch_;
  g_block_shape = launch_.block;
  g_grid_shape = launch_.grid;
  block_.dynamic_shared = dynamic_shared.get();
  block_.scheduler = RunningFiber();
  // Blocks share this memory, which is reset for each block.
  block_.waited = launch_.dynamic_shared > 0;
  // Creates all fibers before the first release, because this thread writes to their new stacks.
  if (kOneFiberPerThread) GetWorker(launch_.block.x * launch_.block.y * launch_.block.z);
  const uint64_t blocks = uint64_t{launch_.grid.x} * launch_.grid.y * launch_.grid.z;
  for (uint64_t i = 0; i < blocks; ++i) {
    ResetBlock(seed_ % 2 == 1 ? blocks - 1 - i : i);
    if (i == 0 || block_.waited) ReleaseToken(&block_.begin_token);
    RunBlock(i);
    if (i + 1 == blocks || block_.waited) AcquireToken(&block_.end_token);
  }
  block_.launch = nullptr;
}

}  // namespace

void RunGrid(const HostLaunch& launch, uint32_t seed) { GridRun(launch, seed).Run(); }

}  // namespace cooper::cuda_emulator
