#ifndef COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_
#define COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_

// Notices that another process of a run is gone. MPI does not: a collective call waits for ever for
// a process that was killed. Each process holds a TCP connection to rank 0, which the kernel closes
// when the process ends, however it ends; rank 0 tells the others. A machine that vanishes is
// noticed by TCP's keep-alive within 10 seconds. A process that only computes for long is never
// taken for a dead one.

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

class PeerWatch {
 public:
  // Connects all processes. `broadcast` is a collective call that gives rank 0's text to all. Fails
  // with kUnavailable if the connections cannot be made within 30 s.
  static absl::StatusOr<std::unique_ptr<PeerWatch>> Create(
      int rank, int size,
      const std::function<absl::StatusOr<std::string>(const std::string&)>& broadcast);

  // Closes the connections: to the others, this process is gone.
  ~PeerWatch();
  PeerWatch(const PeerWatch&) = delete;
  PeerWatch& operator=(const PeerWatch&) = delete;

  // The rank of a process that is dead, the first that was noticed; -1 while none is.
  int dead() const { return dead_.load(); }
  // The rank of a process that is dead or has left in good order; -1 while all are there.
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
  void NoteDead(int rank);
  void NoteLeft(int rank);
  // What rank 0 is told, or tells the others.
  void Tell(int kind, int rank);

  const int rank_;
  // Connections by rank: rank 0 has one to each, the others to rank 0 alone. -1: none. From Start
  // to the destructor they stay as they are, also those that the other end has closed: both the
  // thread and Leave use them.
  std::vector<int> peers_;
  int listener_ = -1;
  int wake_[2] = {-1, -1};      // ends the thread
  std::vector<bool> has_left_;  // by rank; of the thread alone
  std::atomic<int> dead_ = -1;
  std::atomic<int> left_ = -1;
  std::thread thread_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_MPI_PEER_WATCH_H_
