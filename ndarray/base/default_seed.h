#ifndef COOPER_NDARRAY_BASE_DEFAULT_SEED_H_
#define COOPER_NDARRAY_BASE_DEFAULT_SEED_H_

// The seed of everything that draws random numbers and is given no seed of its own. MXNet:
// mx.random.seed.

#include <cstdint>

namespace cooper {

// Sets the seed, which is 0 at the start of a process, of what is made from now on: initial values
// (InitParams), the order of iterators, dropout and other random operators of modules, predictors
// and executors that are bound for the first time, SGLD's noise. Random operators that Invoke runs
// begin their stream anew. An iterator or a module that exists keeps its stream, and a seed that is
// given where it is used goes before. Thread-safe.
void SetDefaultSeed(uint64_t seed);
uint64_t DefaultSeed();

// Counts the calls since the last SetDefaultSeed, from 0: the stream of the next single operator.
// Thread-safe.
uint64_t NextDefaultStream();

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_DEFAULT_SEED_H_
