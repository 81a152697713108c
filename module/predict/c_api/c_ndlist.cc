// The C interface's lists of arrays, in which programs have mean images, for example.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "module/predict/c_api/c_predict_api.h"
#include "module/predict/c_api/c_predict_call.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"

namespace cooper {
namespace {

struct ArrayList {
  struct Entry {
    std::string name;
    std::vector<uint32_t> shape;
    std::vector<float> values;
  };
  std::vector<Entry> entries;
};

absl::StatusOr<std::unique_ptr<ArrayList>> ReadList(absl::string_view bytes) {
  COOPER_ASSIGN_OR_RETURN(const ParamsList list, ParseParams(bytes));
  auto arrays = std::make_unique<ArrayList>();
  for (const ParamsEntry& entry : list.entries) {
    if (entry.sparse != nullptr || entry.array.is_null()) {
      return absl::UnimplementedError(
          absl::StrCat("array '", entry.name, "' is sparse or has no shape"));
    }
    COOPER_ASSIGN_OR_RETURN(std::vector<float> values, entry.array.ToVector<float>());
    arrays->entries.push_back(
        {.name = entry.name, .shape = Dims(entry.array.shape()), .values = std::move(values)});
  }
  return arrays;
}

}  // namespace
}  // namespace cooper

// NOLINTBEGIN(readability-identifier-naming): the names are MXNet's.

using cooper::Call;

int MXNDListCreate(const char* nd_file_bytes, int nd_file_size, NDListHandle* out,
                   uint32_t* out_length) {
  return Call([&]() -> absl::Status {
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(nd_file_bytes, "nd_file_bytes"));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(out, "out"));
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(out_length, "out_length"));
    if (nd_file_size < 0) {
      return absl::InvalidArgumentError(absl::StrCat("nd_file_size is ", nd_file_size));
    }
    COOPER_ASSIGN_OR_RETURN(auto list,
                            cooper::ReadList({nd_file_bytes, static_cast<size_t>(nd_file_size)}));
    *out_length = static_cast<uint32_t>(list->entries.size());
    *out = list.release();
    return absl::OkStatus();
  });
}

int MXNDListGet(NDListHandle handle, uint32_t index, const char** out_key, const float** out_data,
                const uint32_t** out_shape, uint32_t* out_ndim) {
  return Call([&]() -> absl::Status {
    COOPER_RETURN_IF_ERROR(cooper::CheckPointer(handle, "the list"));
    const auto& entries = static_cast<const cooper::ArrayList*>(handle)->entries;
    if (index >= entries.size()) {
      return absl::OutOfRangeError(absl::StrCat("array ", index, " of a list of ", entries.size()));
    }
    for (const void* out :
         {static_cast<const void*>(out_key), static_cast<const void*>(out_data),
          static_cast<const void*>(out_shape), static_cast<const void*>(out_ndim)}) {
      COOPER_RETURN_IF_ERROR(cooper::CheckPointer(out, "a place for results"));
    }
    const cooper::ArrayList::Entry& entry = entries[index];
    *out_key = entry.name.c_str();
    *out_data = entry.values.data();
    *out_shape = entry.shape.data();
    *out_ndim = static_cast<uint32_t>(entry.shape.size());
    return absl::OkStatus();
  });
}

int MXNDListFree(NDListHandle handle) {
  delete static_cast<cooper::ArrayList*>(handle);
  return 0;
}

// NOLINTEND(readability-identifier-naming)
