#ifndef COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
#define COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_

#include "ndarray/context.h"

namespace cooper::conformance {

// Where all graphs of cases are bound.
inline Context& CaseContext() {
  static Context context;
  return context;
}

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_CASE_CONTEXT_H_
