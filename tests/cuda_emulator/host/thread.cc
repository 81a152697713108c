#include "tests/cuda_emulator/host/thread.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>

#include "absl/base/attributes.h"
#include "tests/cuda_emulator/host/block.h"
#include "tests/cuda_emulator/host/fiber.h"
#include "vector_types.h"

// ThreadSanitizer should check the accesses of kernels, not of the scheduler.
#define FIBER_SIDE ABSL_ATTRIBUTE_NO_SANITIZE_THREAD

namespace cooper::cuda_emulator {
namespace {

Block g_block;

FIBER_SIDE Warp& WarpOf(const Thread& thread) { return g_block.warps[thread.number / kLanes]; }

FIBER_SIDE void RunNextThread(Worker& worker) {
  Block& block = g_block;
  Thread& thread = block.threads[block.order[block.begun++]];
  thread.worker = &worker;
  block.running = &thread;
  AcquireToken(&block.begin_token);
  block.launch->thread();
  ReleaseToken(&block.end_token);
  thread.state = ThreadState::kEnded;
  WarpOf(thread).alive &= ~(1u << thread.number % kLanes);
  --block.alive;
}

FIBER_SIDE void RunThreads(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  for (;;) {
    do {
      RunNextThread(worker);
    } while (!kOneFiberPerThread && g_block.begun < g_block.num_threads);
    SwitchFiber(worker.fiber, g_block.scheduler);
  }
}

// Waits until the scheduler resumes `thread`.
FIBER_SIDE void Wait(Thread& thread, ThreadState state, std::source_location where) {
  thread.state = state;
  thread.where = where;
  g_block.waited = true;
  SwitchFiber(thread.worker->fiber, g_block.scheduler);
}

FIBER_SIDE Meeting& MeetingOf(Warp& warp, unsigned mask, std::source_location where) {
  for (int i = 0; i < warp.num_meetings; ++i) {
    if (warp.meetings[i].mask == mask) return warp.meetings[i];
  }
  if (warp.num_meetings == kMaxMasks) FailThread("more than 8 masks in one warp", where);
  Meeting& meeting = warp.meetings[warp.num_meetings++];
  meeting.mask = mask;
  meeting.arrived = meeting.completed = 0;
  return meeting;
}

}  // namespace

dim3 g_block_shape;
dim3 g_grid_shape;

FIBER_SIDE Block& TheBlock() { return g_block; }

void StartWorker(Worker& worker) { StartFiber(worker.fiber, RunThreads, &worker); }

FIBER_SIDE uint3 ThreadIndex() { return g_block.running->index; }

FIBER_SIDE uint3 BlockIndex() { return g_block.index; }

FIBER_SIDE int LaneIndex() { return g_block.running->number % kLanes; }

FIBER_SIDE void* DynamicShared() { return g_block.dynamic_shared; }

FIBER_SIDE void WaitForBlock(std::source_location where) {
  char* token = &g_block.barrier_tokens[g_block.barriers % 2];
  ++g_block.at_barrier;
  ReleaseToken(token);
  Wait(*g_block.running, ThreadState::kAtBarrier, where);
  AcquireToken(token);
}

FIBER_SIDE const uint64_t* ExchangeInWarp(unsigned mask, uint64_t value,
                                          std::source_location where) {
  Thread& thread = *g_block.running;
  const int lane = thread.number % kLanes;
  if ((mask >> lane & 1) == 0) FailThread("a mask that leaves the calling lane out", where);
  Meeting& meeting = MeetingOf(WarpOf(thread), mask, where);
  const int turn = meeting.completed % 2;
  meeting.values[turn][lane] = value;
  ++meeting.arrived;
  thread.meeting = &meeting;
  ReleaseToken(&meeting.tokens[turn]);
  Wait(thread, ThreadState::kInWarp, where);
  AcquireToken(&meeting.tokens[turn]);
  return meeting.values[turn];
}

FIBER_SIDE void FailThread(const char* why, std::source_location where) {
  const uint3 block = g_block.index;
  const uint3 thread = g_block.running->index;
  std::fprintf(stderr,
               "cuda emulator: %s: %s\n  block (%u, %u, %u), thread (%u, %u, %u), at %s:%u\n",
               g_block.launch->kernel.c_str(), why, block.x, block.y, block.z, thread.x, thread.y,
               thread.z, where.file_name(), static_cast<unsigned>(where.line()));
  std::abort();
}

}  // namespace cooper::cuda_emulator
