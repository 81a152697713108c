#ifndef COOPER_TESTS_CONFORMANCE_IO_DATA_H_
#define COOPER_TESTS_CONFORMANCE_IO_DATA_H_

// Compares iterators and their batches with the JSON of the cases.

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

// Reads nested lists of numbers as a float32 array.
absl::StatusOr<NDArray> ArrayFromJson(const Json& json);

// Compares a batch with {"data": [...], "label": [...], "pad": 0}. The last `pad` rows are compared
// only if `compare_padding`.
absl::Status CompareBatch(const std::string& what, const DataBatch& got, const Json& expected,
                          bool compare_padding = true);

// Compares every batch up to the end of the epoch.
absl::Status CompareEpoch(const std::string& what, DataIter& iter, const Json& expected,
                          bool compare_padding = true);

// Compares several epochs, with Reset() between them.
absl::Status CompareEpochs(DataIter& iter, const Json& expected, bool compare_padding = true);

// Compares descriptions with [["data", [3, 3]], ...]: name, shape, and optionally layout and dtype.
absl::Status CompareDescs(const std::string& what, const std::vector<DataDesc>& got,
                          const Json& expected);
// Compares the iterator's descriptions with the case's "provide_data" and "provide_label".
absl::Status CompareProvided(const DataIter& iter, const Json& json);

}  // namespace cooper::conformance

#endif  // COOPER_TESTS_CONFORMANCE_IO_DATA_H_
