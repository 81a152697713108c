#ifndef COOPER_NDARRAY_THREADS_RUN_SHARED_H_
#define COOPER_NDARRAY_THREADS_RUN_SHARED_H_

// The threads of a loop: the caller, and oneTBB's workers, which all loops of the process share.

#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"

namespace cooper::internal_parallel {

// Whether this thread is within a loop's ranges: a loop there is one of many already.
extern thread_local bool in_loop;

// Sets in_loop while it lives.
class InLoop {
 public:
  InLoop() : before_(std::exchange(in_loop, true)) {}
  ~InLoop() { in_loop = before_; }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;

 private:
  const bool before_;
};

// What one thread did for a loop.
struct Share {
  int64_t pieces = 0;
  int64_t waited = 0;  // nanoseconds in which it let others run, since no piece was ready
};

// Calls work(0) on this thread and work(i), 0 < i < threads, each at most once, on workers that
// have nothing else to do, and returns when all calls that have begun have ended. Which are made
// depends on who is there in time: work(0) alone must do everything. What the others have done and
// cost goes into the caller's HelperBalance. Within `work` in_loop is set, products count for the
// caller's profile, and subnormals are treated as the caller treats them (subnormals.h). Not to be
// called within a loop. Work that throws ends the program: the others are in the loop, which is on
// the caller's stack.
void RunShared(int64_t threads, absl::FunctionRef<Share(int64_t self)> work);

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_RUN_SHARED_H_
