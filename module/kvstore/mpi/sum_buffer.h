#ifndef COOPER_MODULE_KVSTORE_MPI_SUM_BUFFER_H_
#define COOPER_MODULE_KVSTORE_MPI_SUM_BUFFER_H_

// The buffer in which the gradients of all processes are added. Processes of one machine share
// memory, and each adds up a part for all; over several machines MPI adds.
//
// MPI could add on one machine too, but is slower: for 3 million float32 of two processes Open MPI
// 4.1.4 takes 16 ms in MPI_Iallreduce, and as long in an exchange of parts with MPI_Ialltoallv and
// MPI_Iallgatherv; this takes 9 ms. A training step of W1 (benchmarks/data_parallel.py) is 1.10
// times as fast with it (medians on two busy cores).

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "module/kvstore/mpi/mpi_world.h"
#include "module/kvstore/mpi/shared_memory.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Used by one thread at a time.
class SumBuffer {
 public:
  // `world` must outlive this object. Without `use_shared_memory`, MPI adds on one machine too.
  explicit SumBuffer(MpiWorld* world, bool use_shared_memory = true)
      : world_(*world), tries_sharing_(use_shared_memory) {}

  // Returns an array of `size` float32 for this process to fill. Collective: all must pass the same
  // size. The array is valid until the next call. Shared memory takes (processes + 1) * size * 4
  // bytes in all. Errors: kUnavailable if a process is gone, kResourceExhausted without memory.
  absl::StatusOr<NDArray> Reserve(int64_t size);

  // Returns the sum over all processes of their arrays of the last Reserve, with the same bits on
  // each. Collective. The array is valid until the next call of either; it must not be written to,
  // since other processes may read it. kUnavailable if a process is gone.
  absl::StatusOr<NDArray> Sum();

  bool is_shared() const { return memory_ != nullptr; }

 private:
  // Returns a memory that all processes can access, or null if there is none.
  absl::StatusOr<std::shared_ptr<SharedMemory>> Share(int64_t bytes);
  absl::StatusOr<NDArray> Region(int64_t index) const;

  MpiWorld& world_;
  bool tries_sharing_;
  int64_t size_ = 0;
  int64_t capacity_ = 0;  // of a region, in elements
  // A region for each process, by rank, and behind them one for the sum.
  std::shared_ptr<SharedMemory> memory_;
  NDArray own_;  // used if nothing is shared
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_SUM_BUFFER_H_
