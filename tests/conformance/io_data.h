#ifndef COOPER_TESTS_CONFORMANCE_IO_DATA_H_
#define COOPER_TESTS_CONFORMANCE_IO_DATA_H_

// Iterators and their batches against the JSON of the cases.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/batch/data_iter.h"
#include "ndarray/array/ndarray.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {

// Nested lists of numbers as a float32 array.
absl::StatusOr<NDArray> ArrayFromJson(const Json& json);

// {"data": [...], "label": [...], "pad": 0}. Of the rows that `pad` counts, the last ones are only
// compared if `compare_padding`.
absl::Status CompareBatch(const std::string& what, const DataBatch& got, const Json& expected,
                          bool compare_padding = true);

// Every batch up to the end of the epoch.
absl::Status CompareEpoch(const std::string& what, DataIter& iter, const Json& expected,
                          bool compare_padding = true);

// Epochs with Reset() between them.
absl::Status CompareEpochs(DataIter& iter, const Json& expected, bool compare_padding = true);

// [["data", [3, 3]], ...]: name, shape, and where given layout and dtype.
absl::Status CompareDescs(const std::string& what, const std::vector<DataDesc>& got,
                          const Json& expected);
// What the iterator provides, with the case's "provide_data" and "provide_label".
absl::Status CompareProvided(const DataIter& iter, const Json& json);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_IO_DATA_H_
