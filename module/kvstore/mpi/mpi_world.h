#ifndef COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_
#define COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_

// The processes that mpirun started, and collective calls that always return: if a process dies, a
// call fails with kUnavailable, naming the rank, within 10 seconds.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/kvstore/collective.h"
#include "module/kvstore/mpi/peer_watch.h"

namespace cooper {

// Calls are for one thread at a time, except for dead().
// The processes of one run. A collective call returns when all processes have made the same call,
// in the same order on each; results are then in host memory. After a call was given up, all later
// ones fail with kUnavailable.
class MpiWorld : public CollectiveWorld {
 public:
  // Returns the one world of this process. The first call starts MPI (unless the program has) and
  // connects the processes: it is collective, as are all calls below. MPI ends with the process.
  // The result is valid until the process ends.
  static absl::StatusOr<MpiWorld*> Get();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int dead() const override { return watch_ == nullptr ? -1 : watch_->dead(); }

  // Overwrites `values` with the sum over all processes, with the same bits on each. `values` has
  // the same length on all processes.
  absl::Status AllReduceSum(absl::Span<float> values) override;
  absl::Status AllReduceSum(absl::Span<double> values) override;
  // Returns the values of all processes, in the order of ranks. All must give the same number of
  // values.
  absl::StatusOr<std::vector<uint64_t>> AllGather(absl::Span<const uint64_t> values);
  absl::Status AllGather(absl::Span<const uint32_t> values, absl::Span<uint32_t> all);
  // Returns the texts of all processes, in the order of ranks.
  absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) override;
  // Overwrites `bytes` bytes at `data` with those of rank `root`.
  absl::Status Broadcast(void* data, int64_t bytes, int root);
  // Returns when all processes have called it.
  absl::Status Barrier();

 private:
  MpiWorld() = default;

  absl::Status Start();
  absl::StatusOr<std::string> BroadcastText(std::string text);
  // Waits for a request, passed as a pointer to its MPI_Request to keep mpi.h out of this header.
  absl::Status Wait(void* request, const char* what);
  absl::Status Check(int result, const char* call) const;
  // kUnavailable after a call was abandoned: MPI may write to that call's arrays whenever it is
  // entered.
  absl::Status CheckUsable() const;
  static void Finalize();

  int rank_ = 0;
  int size_ = 1;
  // A call was abandoned: MPI cannot be finalized any more.
  bool broken_ = false;
  bool owns_mpi_ = false;
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_
