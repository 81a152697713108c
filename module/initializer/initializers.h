#ifndef COOPER_MODULE_INITIALIZER_INITIALIZERS_H_
#define COOPER_MODULE_INITIALIZER_INITIALIZERS_H_

// The kinds of initializers that fill weights by a formula.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "module/initializer/initializer.h"
#include "ndarray/array/fill.h"

namespace cooper::init {

using InitializerPtr = std::unique_ptr<NamePatternInitializer>;

InitializerPtr Zero();
InitializerPtr One();
// Fill with one value, or with one value for each element in row-major order.
InitializerPtr Constant(double value);
InitializerPtr Constant(std::vector<double> values);

// Fills with random values, uniform in [-scale, scale).
InitializerPtr Uniform(double scale = 0.07);
// Fills with random values, normal with mean 0 and standard deviation `sigma`.
InitializerPtr Normal(double sigma = 0.01);

using ::cooper::RandomType;  // kUniform, kGaussian
// The factor of XavierOptions: the mean of the numbers of inputs and outputs, or one of them.
enum class FactorType { kAvg, kIn, kOut };

// Fills with random values, uniform in [-s, s) or normal with mean 0 and standard deviation s,
// where s = sqrt(magnitude / factor). The factor is the number of inputs or outputs, or the mean of
// both: the extents of axes 1 and 0 times all further extents. Init fails for arrays of fewer than
// two dimensions.
struct XavierOptions {
  RandomType rnd_type = RandomType::kUniform;
  FactorType factor_type = FactorType::kAvg;
  double magnitude = 3;
};
InitializerPtr Xavier(const XavierOptions& options = {});

// Fills like Xavier with normal values and magnitude 2 / (1 + slope^2), for rectifiers with that
// slope.
InitializerPtr MsraPrelu(FactorType factor_type = FactorType::kAvg, double slope = 0.25);

// Fills with `scale` times an orthonormal matrix: with the array as a matrix (first extent, product
// of the others), the rows are orthogonal, or the columns if there are more rows than columns.
InitializerPtr Orthogonal(double scale = 1.414, RandomType rand_type = RandomType::kUniform);

// Fills the weights of an interpolation (bilinear_kernel.h).
InitializerPtr Bilinear();

// Fills with zeros, and with `forget_bias` in the second quarter: the forget gate's part of an
// LSTM's bias.
InitializerPtr LstmBias(double forget_bias = 1);

}  // namespace cooper::init

#endif  // COOPER_MODULE_INITIALIZER_INITIALIZERS_H_
