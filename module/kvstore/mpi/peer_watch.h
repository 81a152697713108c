#ifndef COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_
#define COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_

// Detects that another process of a run is gone. MPI does not: a collective call waits forever for
// a process that was killed. Each process holds a TCP connection to rank 0, which the kernel closes
// when the process ends for whatever reason; rank 0 tells the others. TCP's keep-alive detects
// within 10 seconds that a machine vanished. A process that computes for a long time is never taken
// for dead.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper {

// Watches the connections on a thread of its own. The const functions and Leave are thread-safe.
class PeerWatch {
 public:
  // Connects all processes. `broadcast` is a collective call that returns rank 0's text on all.
  // kUnavailable if the connections cannot be made within 30 s.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Create(
      int rank, int size,
      const std::function<absl::StatusOr<std::string>(const std::string&)>& broadcast);

  // Closes the connections: for the others, this process is gone.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // The rank of the first process that was found dead; -1 while there is none.
  int dead() const { return dead_.load(); }
  // The rank of a process that is dead or has left; -1 while all are present.
  int gone() const { return dead() >= 0 ? dead() : left_.load(); }

  // Tells the others that this process takes part in no further call.
  void Leave();

 private:
  PeerWatch(int rank, int size) : rank_(rank), peers_(size, -1), has_left_(size) {}

  absl::Status Listen(uint64_t token, std::string* address);
  absl::Status AcceptAll(uint64_t token);
  absl::Status ConnectTo(const std::string& address);
  absl::Status Start();
  void Watch();
  void MarkDead(int rank);
  void MarkLeft(int rank);
  // Sends a message to rank 0, or from rank 0 to the others.
  void Notify(int kind, int rank);

  const int rank_;
  // Connections by rank: rank 0 has one to each process, the others one to rank 0. -1: none. From
  // Start to the destructor they stay open and unchanged, even if the other end has closed, because
  // both the thread and Leave use them.
  std::vector<int> peers_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};      // ends the thread
  std::vector<bool> has_left_;  // by rank; used by the thread alone
  std::atomic<int> dead_ = -1;
  std::atomic<int> left_ = -1;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_
