#ifndef COOPER_NDARRAY_IN_LOOP_H_
#define COOPER_NDARRAY_IN_LOOP_H_

// What the loops of parallel.h and those of teams (loop_team.h) know of each other.

namespace cooper::internal_parallel {

// Whether this thread is within a loop's ranges: a loop there is one of many already.
extern thread_local bool in_loop;

}  // namespace cooper::internal_parallel

#endif  // COOPER_NDARRAY_IN_LOOP_H_
