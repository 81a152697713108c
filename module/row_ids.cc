#include "module/row_ids.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/gather_rows.h"
#include "ndarray/on_cpu.h"
#include "ndarray/status_macros.h"

namespace cooper {

absl::Status SortRowsById(std::vector<int64_t>* ids, std::vector<NDArray>* arrays) {
  if (std::is_sorted(ids->begin(), ids->end())) return absl::OkStatus();
  std::vector<int64_t> order(ids->size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return (*ids)[a] < (*ids)[b]; });
  for (NDArray& array : *arrays) {
    COOPER_ASSIGN_OR_RETURN(NDArray rows, OnCpu(array));
    COOPER_ASSIGN_OR_RETURN(rows, GatherRows(rows, order));
    if (rows.context() != array.context()) {
      COOPER_ASSIGN_OR_RETURN(rows, rows.CopyTo(array.context()));
    }
    array = std::move(rows);
  }
  std::sort(ids->begin(), ids->end());
  return absl::OkStatus();
}

}  // namespace cooper
