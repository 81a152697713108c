#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_BLOCK_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_BLOCK_H_

// The running block: what the scheduler (grid.cc) and the fibers of its threads (thread.cc) share.
//
// Plain arrays: functions of the standard library that run on a fiber are instrumented, and
// ThreadSanitizer would report what the two sides do here. There is one block, which stays where it
// is, so that what a sanitizer knows of an address stays true.

#include <cstdint>
#include <source_location>

#include "third_party/cuda/emulator/host/fiber.h"
#include "third_party/cuda/emulator/host/host_launch.h"
#include "vector_types.h"

namespace cooper::cuda_emulator {

inline constexpr int kLanes = 32;
inline constexpr int kMostThreads = 1024;
inline constexpr int kMostMasks = 8;  // different ones that one warp of a block may use

// A fiber that runs threads, one at a time.
struct Worker {
  Fiber fiber;
};

// What the lanes of one mask exchange. There are two of each, in turn: the first lane that goes on
// may give its next value before the last one has seen this one.
struct Meeting {
  unsigned mask = 0;
  int arrived = 0;
  int completed = 0;
  uint64_t values[2][kLanes] = {};
  char tokens[2] = {};
};

struct Warp {
  unsigned alive = 0;  // lanes whose threads have not ended
  int num_meetings = 0;
  Meeting meetings[kMostMasks];
};

enum class ThreadState { kReady, kAtBarrier, kInWarp, kEnded };

struct Thread {
  uint3 index = {};
  int number = 0;  // in the block
  ThreadState state = ThreadState::kReady;
  Worker* worker = nullptr;  // null before it begins
  Meeting* meeting = nullptr;
  std::source_location where;  // it waits
};

struct Block {
  const HostLaunch* launch = nullptr;
  uint3 index = {};
  void* dynamic_shared = nullptr;
  int num_threads = 0;
  Thread threads[kMostThreads];
  int order[kMostThreads] = {};  // in which threads take turns
  Warp warps[kMostThreads / kLanes];

  int begun = 0;  // of `order`
  int alive = 0;
  int at_barrier = 0;
  int barriers = 0;     // that all have passed
  bool waited = false;  // has any thread of the launch
  Thread* running = nullptr;
  Fiber scheduler;

  // For ThreadSanitizer. A barrier has two in turn, for the reason that a Meeting has.
  char begin_token = 0;
  char end_token = 0;
  char barrier_tokens[2] = {};
};

Block& TheBlock();

// Begins `worker`, which runs threads whenever the scheduler switches to it.
void StartWorker(Worker& worker);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_HOST_BLOCK_H_
