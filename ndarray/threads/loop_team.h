#ifndef COOPER_NDARRAY_THREADS_LOOP_TEAM_H_
#define COOPER_NDARRAY_THREADS_LOOP_TEAM_H_

// The threads of loops whose pieces wait for each other (parallel_steps.h, parallel_wavefront.h).

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace cooper::internal_parallel {

// Runs pieces that become ready as others are done, on the calling thread (0) and on up to
// `threads` - 1 others, until is_done(). run_one(self) runs one piece, if one is ready, and says
// whether it has; it is called by several threads at a time. Who finds none looks again for a few
// microseconds before it lets others run, and a thread that finds none for long does not come back:
// the caller waits for nobody that has not come or has left. Not to be called within a loop.
void RunTeam(int64_t threads, absl::FunctionRef<bool(int64_t self)> run_one,
             absl::FunctionRef<bool()> is_done);

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_THREADS_LOOP_TEAM_H_
