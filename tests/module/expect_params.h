#ifndef COOPER_TESTS_MODULE_EXPECT_PARAMS_H_
#define COOPER_TESTS_MODULE_EXPECT_PARAMS_H_

// What tests of training say about two modules.

#include "module/interface/base_module.h"

namespace cooper {

// Both have the same arguments, of which no element differs by more than `tolerance`: with 0 they
// are equal.
void ExpectSameParams(const BaseModule& a, const BaseModule& b, float tolerance = 0);

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_EXPECT_PARAMS_H_
