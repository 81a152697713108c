// Batch layouts of random numbers. Each context draws its own.

#include "symbol/schema/batch_layout.h"

namespace cooper {
namespace {

const BatchRuleRegistrar kForEachElement(
    {"_random_uniform_like", "_random_normal_like", "_random_gamma_like",
     "_random_exponential_like", "_random_poisson_like", "_random_negative_binomial_like",
     "_random_generalized_negative_binomial_like", "_sample_uniform", "_sample_normal",
     "_sample_gamma", "_sample_exponential", "_sample_poisson", "_sample_negative_binomial",
     "_sample_generalized_negative_binomial"},
    [](const BatchCall& c) { return c.Map([](int, int axis) { return axis; }); });

}  // namespace
}  // namespace cooper
