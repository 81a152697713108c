#ifndef COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
#define COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_

// Holds the context on which golden cases run: their graphs, modules and optimizers.

#include "ndarray/base/context.h"

namespace cooper::conformance {

// Returns the context that replaces cpu(0) of the cases.
inline Context& CaseContext() {
  static Context context;
  return context;
}

// Returns whether nodes without a kernel on that context run on the CPU.
inline bool& CaseFallback() {
  static bool fallback = false;
  return fallback;
}

// Returns the context that replaces `context` of a case: if CaseContext() is a GPU, cpu(i) becomes
// gpu(i) where there are that many GPUs.
Context ContextOfCase(Context context);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
