#include "module/network/batch_feed.h"

#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// The array that belongs to the i-th bound input. Batches that describe themselves are matched by
// name; others by position, as are those that know none of the names. Null if there is none.
const NDArray* ArrayFor(const std::vector<DataDesc>& descs, size_t i,
                        const std::vector<DataDesc>& provided, const std::vector<NDArray>& arrays) {
  if (provided.size() == arrays.size()) {
    for (size_t k = 0; k < provided.size(); ++k) {
      if (provided[k].name == descs[i].name) return &arrays[k];
    }
  }
  return i < arrays.size() ? &arrays[i] : nullptr;
}

bool HasName(const std::vector<DataDesc>& descs, const std::string& name) {
  return absl::c_any_of(descs, [&name](const DataDesc& desc) { return desc.name == name; });
}

// kInvalidArgument if the batch's descriptions lack an input or contradict the arrays' shapes.
absl::Status CheckProvided(const std::vector<DataDesc>& descs,
                           const std::vector<DataDesc>& provided,
                           const std::vector<NDArray>& arrays, const char* kind) {
  if (provided.size() != arrays.size()) return absl::OkStatus();
  const bool by_name = absl::c_any_of(
      descs, [&provided](const DataDesc& desc) { return HasName(provided, desc.name); });
  for (const DataDesc& desc : descs) {
    if (!by_name || HasName(provided, desc.name)) continue;
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has no ", kind, " '",
                                                   desc.name, "', but ", DescsToString(provided)));
  }
  for (size_t k = 0; k < provided.size(); ++k) {
    if (arrays[k].shape() == provided[k].shape) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "Forward: ", kind, " '", provided[k].name, "' has shape ", arrays[k].shape().ToString(),
        ", expected ", provided[k].shape.ToString(), " as the batch's provide_", kind, " says"));
  }
  return absl::OkStatus();
}

// Sets inputs of `bound` from `first_input` on.
absl::Status Feed(size_t first_input, const std::vector<DataDesc>& descs,
                  const std::vector<DataDesc>& provided, const std::vector<NDArray>& arrays,
                  const char* kind, DataParallelExecutorGroup& bound) {
  for (size_t i = 0; i < descs.size(); ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(bound.SetInput(first_input + i, ArrayFor(descs, i, provided, arrays)),
                   "Forward: ", kind, " '", descs[i].name, "'"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBatch(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
                        const DataBatch& batch) {
  if (batch.data.size() != data.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has ", batch.data.size(),
                                                   " data arrays, expected ", DescsToString(data)));
  }
  if (!batch.label.empty() && batch.label.size() < label.size()) {
    return absl::InvalidArgumentError(absl::StrCat("Forward: the batch has ", batch.label.size(),
                                                   " label arrays, expected ",
                                                   DescsToString(label)));
  }
  COOPER_RETURN_IF_ERROR(CheckProvided(data, batch.provide_data, batch.data, "data"));
  return CheckProvided(label, batch.provide_label, batch.label, "label");
}

bool HasShapes(const std::vector<DataDesc>& data, const std::vector<DataDesc>& label,
               const DataBatch& batch) {
  for (size_t i = 0; i < data.size(); ++i) {
    if (ArrayFor(data, i, batch.provide_data, batch.data)->shape() != data[i].shape) return false;
  }
  for (size_t i = 0; i < label.size() && !batch.label.empty(); ++i) {
    if (ArrayFor(label, i, batch.provide_label, batch.label)->shape() != label[i].shape) {
      return false;
    }
  }
  return true;
}

void TakeShapes(const DataBatch& batch, std::vector<DataDesc>& data, std::vector<DataDesc>& label) {
  for (size_t i = 0; i < data.size(); ++i) {
    data[i].shape = ArrayFor(data, i, batch.provide_data, batch.data)->shape();
  }
  for (size_t i = 0; i < label.size(); ++i) {
    if (!batch.label.empty()) {
      label[i].shape = ArrayFor(label, i, batch.provide_label, batch.label)->shape();
      continue;
    }
    // Without labels their batch size still has to follow the data's.
    if (data.empty()) continue;
    const int from = std::max(0, BatchAxis(data[0].layout));
    const int to = std::max(0, BatchAxis(label[i].layout));
    if (from < data[0].shape.rank() && to < label[i].shape.rank()) {
      label[i].shape[to] = data[0].shape[from];
    }
  }
}

absl::Status FeedBatch(const DataBatch& batch, DataParallelExecutorGroup& bound) {
  COOPER_RETURN_IF_ERROR(
      Feed(0, bound.data_shapes(), batch.provide_data, batch.data, "data", bound));
  return Feed(bound.data_shapes().size(), bound.label_shapes(), batch.provide_label, batch.label,
              "label", bound);
}

}  // namespace cooper
