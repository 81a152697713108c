#ifndef COOPER_IO_ITERATORS_ROUND_BATCH_ITER_H_
#define COOPER_IO_ITERATORS_ROUND_BATCH_ITER_H_

// Serves numbered rows in batches of one size, as the iterators over files that MXNet builds on its
// BatchLoader. A subclass, such as CsvIter, supplies the rows.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/batch/data_iter.h"
#include "ndarray/array/ndarray.h"

namespace cooper {

// Iterates over the rows that a subclass gathers by number. Not thread-safe.
class RoundBatchIter : public DataIter {
 public:
  // In a batch, `index` holds row numbers, and -1 for rows of zeros.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  absl::Status HardReset() override;

  const std::vector<DataDesc>& provide_data() const override { return rows_.provide_data; }
  const std::vector<DataDesc>& provide_label() const override { return rows_.provide_label; }
  int64_t batch_size() const override { return rows_.batch_size; }
  std::optional<double> invalid_label(absl::string_view) const override { return std::nullopt; }

  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 protected:
  // The properties of a subclass, fixed at construction.
  struct Rows {
    std::string kind;        // MXNet's name of the iterator, for states and errors
    int64_t num_rows = 0;    // at least 1
    int64_t batch_size = 1;  // at least 1
    // If true, the last batch is filled with rows from the start, which `pad` counts, and the next
    // epoch begins after them. If false, it is filled with zeros, and epochs begin at the start.
    bool round_batch = true;
    std::vector<DataDesc> provide_data;   // one input
    std::vector<DataDesc> provide_label;  // one label
  };
  explicit RoundBatchIter(Rows rows);

  // Returns kInvalidArgument, with the kind, unless a batch has at least one row.
  static absl::Status CheckBatchSize(absl::string_view kind, int64_t batch_size);

 private:
  // Return the rows `ids` of data and labels, in this order, as an array with one row per id; an id
  // of -1 gives a row of zeros.
  virtual absl::StatusOr<NDArray> GatherData(absl::Span<const int64_t> ids) const = 0;
  virtual absl::StatusOr<NDArray> GatherLabel(absl::Span<const int64_t> ids) const = 0;

  const Rows rows_;
  int64_t cursor_ = 0;    // the next row; num_rows at the end
  int64_t borrowed_ = 0;  // rows that the last batch took from the start
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_ROUND_BATCH_ITER_H_
