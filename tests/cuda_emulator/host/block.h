#ifndef COOPER_TESTS_CUDA_EMULATOR_HOST_BLOCK_H_
#define COOPER_TESTS_CUDA_EMULATOR_HOST_BLOCK_H_

// The running block: shared by the scheduler (grid.cc) and the fibers of its threads (thread.cc).
//
// Uses plain arrays: functions of the standard library that run on a fiber are instrumented, and
// ThreadSanitizer would report the accesses of scheduler and fibers as races. There is one block at
// a fixed address, so that a sanitizer's state for its addresses stays valid.

#include <cstdint>
#include <source_location>

#include "tests/cuda_emulator/host/fiber.h"
#include "tests/cuda_emulator/host/host_launch.h"
#include "vector_types.h"

namespace cooper::cuda_emulator {

inline constexpr int kLanes = 32;
inline constexpr int kMaxThreads = 1024;
inline constexpr int kMaxMasks = 8;  // different masks that one warp of a block may use

// A fiber that runs threads, one after another.
struct Worker {
  Fiber fiber;
};

// The exchange among the lanes of one mask. values and tokens are double-buffered: the first lane
// to continue may store its next value before the last lane has read this one.
struct Meeting {
  unsigned mask = 0;
  int arrived = 0;
  int completed = 0;
  uint64_t values[2][kLanes] = {};
  char tokens[2] = {};
};

// The state of a warp of the running block.
struct Warp {
  unsigned alive = 0;  // lanes whose threads have not ended
  int num_meetings = 0;
  Meeting meetings[kMaxMasks];
};

enum class ThreadState { kReady, kAtBarrier, kInWarp, kEnded };

// The state of a thread of the running block.
struct Thread {
  uint3 index = {};
  int number = 0;  // in the block
  ThreadState state = ThreadState::kReady;
  Worker* worker = nullptr;  // null before it begins
  Meeting* meeting = nullptr;
  std::source_location where;  // where it waits
};

// The state of the running block.
struct Block {
  const HostLaunch* launch = nullptr;
  uint3 index = {};
  void* dynamic_shared = nullptr;
  int num_threads = 0;
  Thread threads[kMaxThreads];
  int order[kMaxThreads] = {};  // in which threads take turns
  Warp warps[kMaxThreads / kLanes];

  int begun = 0;  // threads of `order` that have begun
  int alive = 0;
  int at_barrier = 0;
  int barriers = 0;     // barriers that all threads have passed
  bool waited = false;  // whether any thread of the launch has waited
  Thread* running = nullptr;
  Fiber scheduler;

  // Tokens for ThreadSanitizer. Barriers are double-buffered for the same reason as Meeting.
  char begin_token = 0;
  char end_token = 0;
  char barrier_tokens[2] = {};
};

// Returns the only block, which has static storage.
Block& TheBlock();

// Starts `worker`, which runs threads whenever the scheduler switches to it.
void StartWorker(Worker& worker);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_HOST_BLOCK_H_
