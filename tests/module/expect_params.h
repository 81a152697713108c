#ifndef COOPER_TESTS_MODULE_EXPECT_PARAMS_H_
#define COOPER_TESTS_MODULE_EXPECT_PARAMS_H_

// Compares the parameters of two modules.

#include "module/interface/base_module.h"

namespace cooper {

// Expects that both have the same arguments, and that no element differs by more than `tolerance`;
// 0 means equal.
void ExpectSameParams(const BaseModule& a, const BaseModule& b, float tolerance = 0);

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_EXPECT_PARAMS_H_
