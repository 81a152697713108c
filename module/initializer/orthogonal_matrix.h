#ifndef COOPER_MODULE_INITIALIZER_ORTHOGONAL_MATRIX_H_
#define COOPER_MODULE_INITIALIZER_ORTHOGONAL_MATRIX_H_

// Orthonormalizes a random matrix.

#include <cstdint>

#include "absl/types/span.h"

namespace cooper {

// Overwrites `matrix`, row-major with `rows` rows: its rows become orthonormal, or its columns if
// it has more rows than columns. Requires that rows > 0 divides the size and that these vectors are
// linearly independent, as random ones are.
void Orthonormalize(int64_t rows, absl::Span<float> matrix);

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_ORTHOGONAL_MATRIX_H_
