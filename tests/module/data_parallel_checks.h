#ifndef COOPER_TESTS_MODULE_DATA_PARALLEL_CHECKS_H_
#define COOPER_TESTS_MODULE_DATA_PARALLEL_CHECKS_H_

// Checks that modules on several contexts compute what a module on one context computes from the
// whole batch, except for the order of sums. The contexts are CPUs or GPUs; tests on GPUs link the
// kernels that TwoLayers and their own networks need.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "module/bucketing/bucketing_module.h"
#include "module/interface/base_module.h"
#include "module/network/module.h"
#include "ndarray/base/context.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// The difference allowed between parameters. Gradients are sums over 32 rows of values below 1,
// computed in another order. The error of such a sum is below 32 * 2^-24, and 20 steps with
// momentum 0.9 and rate 0.1 apply at most 20 of them.
inline constexpr float kSumOrderTolerance = 4e-5F;

// Returns SGD with momentum 0.9 and rate 0.1.
InitOptimizerOptions Momentum(const std::string& kvstore = "local");

// Returns the shapes of the inputs of TwoLayers (module_fixtures.h), and a random batch of them.
ModuleBindOptions BatchShapes(int64_t rows);
DataBatch RandomBatch(int64_t rows, uint64_t seed);

// Returns a module that is ready to train. Errors are failures of the current test.
std::unique_ptr<Module> MakeTrainable(const Symbol& symbol, ModuleOptions options,
                                      const ModuleBindOptions& shapes,
                                      const InitOptimizerOptions& optimizer = Momentum());

// Trains with random batches; the first has seed 0.
void Train(BaseModule& module, int64_t rows, int steps);

// Expects that every parameter is on each of the contexts, with the same bits.
void ExpectSameOnAll(const Module& module, const std::vector<Context>& contexts);

// Trains TwoLayers for 20 steps on one context and then on several, with each list of work loads,
// type of store and place of the update, and expects the same parameters.
void CheckTwentySteps(const Context& one, const std::vector<Context>& several,
                      const std::vector<std::vector<double>>& work_loads);

// Runs one batch, whose rows the contexts cannot share equally, and expects the outputs, the
// gradients and the metric of one context. Outputs and gradients of the data may differ by
// `tolerance`.
void CheckWholeBatch(const Context& one, const std::vector<Context>& several, float tolerance);

// Trains buckets of lengths 2, 3 and 4 in turn.
std::unique_ptr<BucketingModule> TrainBuckets(const SymGen& sym_gen,
                                              const std::vector<Context>& contexts,
                                              const InitOptimizerOptions& optimizer);

}  // namespace cooper

#endif  // COOPER_TESTS_MODULE_DATA_PARALLEL_CHECKS_H_
