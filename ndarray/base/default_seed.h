#ifndef COOPER_NDARRAY_BASE_DEFAULT_SEED_H_
#define COOPER_NDARRAY_BASE_DEFAULT_SEED_H_

// Sets the seed of every random stream that has no seed of its own, as MXNet's mx.random.seed does.

#include <cstdint>

namespace cooper {

// Sets the seed (0 at the start of a process) of streams created later: initial values
// (InitParams), the order of iterators, dropout and other random operators of modules, predictors
// and executors that are bound for the first time, SGLD's noise. Random operators that Invoke runs
// restart their stream. An existing iterator or module keeps its stream, and an explicit seed takes
// precedence. Thread-safe.
void SetDefaultSeed(uint64_t seed);
uint64_t DefaultSeed();

// Returns the number of calls since the last SetDefaultSeed, from 0: the stream of the next single
// operator. Thread-safe.
uint64_t NextDefaultStream();

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_DEFAULT_SEED_H_
