#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_LAUNCH_STATE_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_LAUNCH_STATE_H_

// The state that the blocks of one launch share: memory, constants, counters, the first error.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/program.h"
#include "tests/cuda_emulator/ptx/run.h"

namespace cooper::ptx {

// The registers of lanes that called a function together, including lanes that have diverged since.
struct Frame {
  const Code* code = nullptr;
  std::unique_ptr<uint8_t[]> data;
  Frame* caller = nullptr;
  int return_to = 0;  // instruction of the caller
  const CallSite* call = nullptr;
  uint64_t local_base = 0;  // offset of its local memory in that of its threads
  int depth = 0;
  int lanes = 0;  // lanes that have not returned
};

// A function's constants and frames in one launch.
struct LinkedCode {
  std::vector<uint64_t> constants;           // the values of Code::constants
  std::vector<std::unique_ptr<Frame>> free;  // frames that can be used again
};

// The state of one launch. Refers to the arguments of Run(), which must outlive it. Not
// thread-safe.
struct LaunchState {
  const Module& module;
  const Code& kernel;
  const Launch& launch;
  absl::Span<const uint8_t> params;
  const FindExtent& find_extent;
  const Options& options;
  Counters counters;
  std::mt19937 random;
  uint64_t shared_static = 0;  // where dynamic shared memory starts
  uint64_t shared_total = 0;
  int64_t clock_reads = 0;
  absl::flat_hash_map<const Code*, LinkedCode> linked;
  std::vector<Extent> extents;  // allocations found so far
  size_t recent_extent = 0;
  absl::Status error;  // the first error

  LaunchState(const Module& module, const Code& kernel, const Launch& launch,
              absl::Span<const uint8_t> params, const FindExtent& find_extent,
              const Options& options)
      : module(module),
        kernel(kernel),
        launch(launch),
        params(params),
        find_extent(find_extent),
        options(options),
        random(options.seed) {}

  // Assigns offsets to shared variables and values to constants. Returns kNotFound if a callee is
  // missing.
  absl::Status Link();

  // Returns a frame of `code` with its constants.
  std::unique_ptr<Frame> NewFrame(const Code* code);
  // Keeps a frame for reuse by NewFrame.
  void FreeFrame(std::unique_ptr<Frame> frame);

  // Returns the allocation that holds `address`, or an empty one.
  const Extent& ExtentOf(uint64_t address);
};

// The shared memory of a launch: the offset of each variable, and their end.
struct SharedLayout {
  absl::flat_hash_map<const SharedVariable*, uint64_t> offsets;
  uint64_t static_bytes = 0;
  uint64_t dynamic_begin = 0;
};
// Returns the layout for all functions that a kernel can reach.
SharedLayout LayOutShared(const std::vector<const Code*>& functions);

// Returns `kernel` and all functions that it can call, each once.
std::vector<const Code*> Reachable(const Code& kernel);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_LAUNCH_STATE_H_
