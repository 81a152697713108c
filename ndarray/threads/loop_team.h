#ifndef COOPER_NDARRAY_THREADS_LOOP_TEAM_H_
#define COOPER_NDARRAY_THREADS_LOOP_TEAM_H_

// Runs the threads of loops whose pieces wait for each other (parallel_steps.h,
// parallel_wavefront.h).

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper::internal_parallel {

// Runs pieces that become ready as others finish, on the calling thread (0) and up to `threads` - 1
// others, until is_done(). run_one(self) runs one piece if one is ready and returns whether it did;
// several threads call it concurrently. A thread that finds no piece retries for a few microseconds
// before it yields, and leaves for good after finding none for long: the caller never waits for a
// thread that has not arrived or has left. Must not be called within a loop.
void RunTeam(int64_t threads, absl::FunctionRef<bool(int64_t self)> run_one,
             absl::FunctionRef<bool()> is_done);

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_LOOP_TEAM_H_
