#ifndef COOPER_IO_ITERATORS_NPZ_ITER_H_
#define COOPER_IO_ITERATORS_NPZ_ITER_H_

// Serves batches of the rows of arrays in an .npz file of NumPy's.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/iterators/ndarray_iter.h"

namespace cooper {

// Inputs of a network, each with the name of its array in a file: {"data", "x_train"}.
using NpzInputs = std::vector<std::pair<std::string, std::string>>;

// Creates an NDArrayIter over these arrays of the file at `path`, whose first axis is the sample.
// Only they are loaded, and an array that several inputs name only once. NumPy's labels are often
// int64 and its images uint8: NDArrayIterOptions::data_dtype and label_dtype convert them.
//
// Errors: those of NpzFile::Open and Load (ndarray/files/npz_file.h) and of NDArrayIter::Create,
// with the path.
absl::StatusOr<std::unique_ptr<NDArrayIter>> NpzIter(const std::string& path, const NpzInputs& data,
                                                     const NpzInputs& label,
                                                     NDArrayIterOptions options = {});

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_NPZ_ITER_H_
