#ifndef COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
#define COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_

// Where cases run: their graphs, modules and optimizers.

#include "ndarray/base/context.h"

namespace cooper::conformance {

// Where what is on cpu(0) in the cases is bound.
inline Context& CaseContext() {
  static Context context;
  return context;
}

// Whether nodes without a kernel there run on the CPU.
inline bool& CaseFallback() {
  static bool fallback = false;
  return fallback;
}

// Where what a case has on `context` is bound: if CaseContext() is a GPU, cpu(i) is gpu(i) where
// there are as many.
Context ContextOfCase(Context context);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
