#ifndef COOPER_IO_BATCH_ITER_FIXTURES_H_
#define COOPER_IO_BATCH_ITER_FIXTURES_H_

// Helpers for tests of iterators.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "io/batch/data_iter.h"

namespace cooper {

// Returns the remaining batches of the epoch. An error ends the list and fails the test. The
// iterator is at the end of the epoch then: call Reset before the next one.
inline std::vector<DataBatch> Epoch(DataIter& iter) {
  std::vector<DataBatch> batches;
  while (true) {
    absl::StatusOr<std::optional<DataBatch>> batch = iter.Next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    if (!batch.ok() || !*batch) return batches;
    batches.push_back(**std::move(batch));
  }
}

// Returns the sample id of the first row of each remaining batch.
inline std::vector<int64_t> FirstRows(DataIter& iter) {
  std::vector<int64_t> rows;
  for (const DataBatch& batch : Epoch(iter)) rows.push_back(batch.index[0]);
  return rows;
}

}  // namespace cooper

#endif  // COOPER_IO_BATCH_ITER_FIXTURES_H_
