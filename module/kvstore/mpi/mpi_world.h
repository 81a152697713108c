#ifndef COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_
#define COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_

// The processes that mpirun started, and collective calls on them that end: a call fails with
// kUnavailable, naming the rank, within 10 seconds after a process is gone.

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

class MpiWorld : public CollectiveWorld {
 public:
  // The one world of this process. The first call starts MPI (unless the program has) and connects
  // the processes: it is collective, as all calls below are. MPI ends with the process.
  static absl::StatusOr<MpiWorld*> Get();

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int dead() const override { return watch_ == nullptr ? -1 : watch_->dead(); }

  // Overwrites `values` with the sum over all processes, which is the same to the last bit on each.
  absl::Status AllReduceSum(absl::Span<float> values) override;
  absl::Status AllReduceSum(absl::Span<double> values) override;
  // The values of all processes, in the order of ranks. All give equally many.
  absl::StatusOr<std::vector<uint64_t>> AllGather(absl::Span<const uint64_t> values);
  absl::Status AllGather(absl::Span<const uint32_t> values, absl::Span<uint32_t> all);
  // The texts of all processes.
  absl::StatusOr<std::vector<std::string>> AllGatherText(const std::string& text) override;
  // Overwrites `bytes` bytes with those of rank `root`.
  absl::Status Broadcast(void* data, int64_t bytes, int root);
  absl::Status Barrier();

 private:
  MpiWorld() = default;

  absl::Status Start();
  absl::StatusOr<std::string> BroadcastText(std::string text);
  // Waits for a request, which is passed as the pointer that mpi.h makes of it.
  absl::Status Wait(void* request, const char* what);
  absl::Status Check(int result, const char* call) const;
  // A call that was given up may still write to its arrays whenever MPI is entered: it is not.
  absl::Status CheckUsable() const;
  static void Finalize();

  int rank_ = 0;
  int size_ = 1;
  // A call that was given up: MPI cannot be ended in order any more.
  bool broken_ = false;
  bool owns_mpi_ = false;
  std::unique_ptr<PeerWatch> watch_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_MPI_WORLD_H_
