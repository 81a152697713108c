#ifndef COOPER_NDARRAY_THREADS_RUN_SHARED_H_
#define COOPER_NDARRAY_THREADS_RUN_SHARED_H_

// Runs a loop's work on the caller and on oneTBB's workers, which all loops of the process share.

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"

namespace cooper::internal_parallel {

// Whether this thread runs a range of a loop; a loop within it runs on this thread alone.
extern thread_local bool in_loop;

// Sets in_loop for a scope and restores it.
class InLoop {
 public:
  InLoop() : before_(std::exchange(in_loop, true)) {}
  ~InLoop() { in_loop = before_; }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

 private:
  const bool before_;
};

// The part of a loop that one thread has done.
struct Share {
  int64_t pieces = 0;
  int64_t waited = 0;  // nanoseconds in which the thread yielded because no piece was ready
};

// Calls work(0) on this thread and work(i), 0 < i < threads, each at most once, on idle workers;
// returns when all calls that have begun have ended. Which calls happen depends on which workers
// arrive in time: work(0) alone must be able to do everything. Records the helpers' gain and cost
// in the caller's HelperBalance. Within `work` in_loop is set, products count for the caller's
// profile, and subnormals are treated as on the caller (subnormals.h). Must not be called within a
// loop. An exception from `work` ends the program, since the helpers use the caller's stack.
void RunShared(int64_t threads, absl::FunctionRef<Share(int64_t self)> work);

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_RUN_SHARED_H_
