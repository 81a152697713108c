// Checks the options and inputs of a BucketIter before it assigns samples to buckets. CheckInputs
// also sets the default layouts.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_desc.h"
#include "io/batch/exact_integers.h"
#include "io/buckets/bucket_iter.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::Status BucketIter::CheckOptions() const {
  const int64_t index = options_.common.part_index;
  const int64_t parts = options_.common.num_parts;
  if (options_.batch_size < 1) {
    return Error(absl::StrCat("batch_size is ", options_.batch_size, ", expected at least 1"));
  }
  if (parts < 1) return Error(absl::StrCat("num_parts is ", parts, ", expected at least 1"));
  if (index < 0 || index >= parts) {
    return Error(absl::StrCat("part_index is ", index, ", not in [0, ", parts,
                              "), num_parts being ", parts));
  }
  if (parts > 1 && options_.common.last_batch == BucketIterOptions::LastBatch::kSmaller) {
    return Error("LastBatch::kSmaller gives parts batches of different sizes: use kPad");
  }
  if (options_.common.sort_batches < 0) {
    return Error(
        absl::StrCat("sort_batches is ", options_.common.sort_batches, ", expected at least 0"));
  }
  return CheckBucketOptions();
}

absl::Status BucketIter::CheckBucketOptions() const {
  std::vector<absl::string_view> given;
  if (!options_.buckets.empty()) given.push_back("buckets");
  if (options_.key != nullptr) given.push_back("key");
  if (options_.common.max_buckets != 0) given.push_back("max_buckets");
  if (given.empty()) return Error("give buckets, key or max_buckets");
  if (given.size() > 1) {
    return Error(absl::StrCat(absl::StrJoin(given, " and "), " are given, expected one of them"));
  }
  if (options_.common.max_buckets < 0) {
    return Error(
        absl::StrCat("max_buckets is ", options_.common.max_buckets, ", expected at least 1"));
  }
  const bool is_choice = options_.common.bucket_cost != 0 || options_.common.multiple_of != 1 ||
                         !options_.max_extents.empty() || options_.step_cost != nullptr;
  if (is_choice && options_.common.max_buckets == 0) {
    return Error(
        "bucket_cost, step_cost, multiple_of and max_extents (max_length) need max_buckets");
  }
  return absl::OkStatus();
}

absl::Status BucketIter::CheckInputs() {
  static constexpr const char* kLayouts[] = {"N", "NT", "NTC", "NCHW"};
  if (num_data_ == 0) return Error("no data");
  std::set<std::string> names;
  for (Input& input : inputs_) {
    BucketInput& spec = input.spec;
    if (spec.name.empty()) return Error("an input has no name");
    for (const std::string* name : {&spec.name, &spec.length_name}) {
      if (!name->empty() && !names.insert(*name).second) {
        return Error(absl::StrCat("two inputs are called '", *name, "'"));
      }
    }
    const auto wrong = [&](auto... what) {
      return Error(absl::StrCat("input '", spec.name, "': ", what...));
    };
    if (!spec.values.status().ok()) return wrong(spec.values.status().message());
    const absl::Status exact = CheckIntegersAreExact(spec.values, spec.dtype);
    if (!exact.ok()) return wrong(exact.message());
    if (!IsExactIn(spec.dtype, spec.pad_value)) {
      return wrong("pad_value (invalid_label) is ", absl::StrFormat("%.17g", spec.pad_value),
                   ", which ", DTypeName(spec.dtype), " does not hold");
    }
    const int rank = spec.values.rank();
    if (spec.values.size() != inputs_[0].spec.values.size()) {
      return wrong("has ", spec.values.size(), " samples, '", inputs_[0].spec.name, "' has ",
                   inputs_[0].spec.values.size());
    }
    if (spec.layout.empty() && rank < 4) {
      spec.layout = rank == 1 && spec.values.is_rows() ? "NC" : kLayouts[rank];
    }
    if (static_cast<int>(spec.layout.size()) != rank + 1 ||
        std::count(spec.layout.begin(), spec.layout.end(), 'N') != 1) {
      return wrong("layout is '", spec.layout, "', expected ", rank + 1,
                   " letters, one of them N, for samples of ", rank, " axes");
    }
    if (spec.shift < 0 || (spec.shift > 0 && rank == 0)) {
      return wrong("shift is ", spec.shift, ", expected at least 0, and 0 for numbers");
    }
    if (!spec.length_name.empty() && rank == 0) {
      return wrong("numbers have no length for '", spec.length_name, "'");
    }
    if (static_cast<int>(spec.pad_to.size()) > rank) {
      return wrong("pad_to is of ", spec.pad_to.size(), " axes, samples have ", rank);
    }
    if (std::any_of(spec.pad_to.begin(), spec.pad_to.end(), [](int e) { return e < kFree; })) {
      return wrong("pad_to holds elements of the key, from 0 on, or kFree");
    }
    input.batch_axis = BatchAxis(spec.layout);
  }
  return absl::OkStatus();
}

}  // namespace cooper
