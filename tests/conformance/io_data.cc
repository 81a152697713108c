#include "tests/conformance/io_data.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"

namespace cooper::conformance {
namespace {

void Flatten(const Json& json, std::vector<float>* values) {
  if (!json.is_array()) {
    values->push_back(static_cast<float>(NumberFromJson(json)));
    return;
  }
  for (const Json& element : json) Flatten(element, values);
}

// Compares the arrays as float32, for every dtype of the iterator.
absl::Status CompareList(const std::string& what, const std::vector<NDArray>& got,
                         const Json& expected, int64_t unspecified_rows) {
  if (got.size() != expected.size()) {
    return absl::UnknownError(
        absl::StrCat(what, " has ", got.size(), " arrays, expected ", expected.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(NDArray a, got[i].AsType(DType::kFloat32));
    COOPER_ASSIGN_OR_RETURN(NDArray b, ArrayFromJson(expected[i]));
    if (unspecified_rows > 0 && a.shape() == b.shape()) {
      COOPER_ASSIGN_OR_RETURN(a, a.Slice(0, a.shape()[0] - unspecified_rows));
      COOPER_ASSIGN_OR_RETURN(b, b.Slice(0, b.shape()[0] - unspecified_rows));
    }
    COOPER_RETURN_IF_ERROR(
        CompareArrays(absl::StrCat(what, " ", i), a, b, {.rtol = 1e-6, .atol = 0}));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NDArray> ArrayFromJson(const Json& json) {
  Shape shape;
  for (const Json* level = &json; level->is_array(); level = &level->at(0)) {
    shape.push_back(static_cast<int64_t>(level->size()));
    if (level->empty()) break;
  }
  std::vector<float> values;
  Flatten(json, &values);
  return NDArray::FromVector(shape, values);
}

absl::Status CompareBatch(const std::string& what, const DataBatch& got, const Json& expected,
                          bool compare_padding) {
  COOPER_RETURN_IF_ERROR(CompareTexts(absl::StrCat("pad of ", what), absl::StrCat(got.pad),
                                      expected.at("pad").dump()));
  const int64_t unspecified = compare_padding ? 0 : got.pad;
  COOPER_RETURN_IF_ERROR(
      CompareList(absl::StrCat(what, " data"), got.data, expected.at("data"), unspecified));
  return CompareList(absl::StrCat(what, " label"), got.label, expected.at("label"), unspecified);
}

absl::Status CompareEpoch(const std::string& what, DataIter& iter, const Json& expected,
                          bool compare_padding) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string name = absl::StrCat(what, " batch ", i);
    COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter.Next());
    if (!batch) return absl::UnknownError(absl::StrCat("the epoch ends before ", name));
    COOPER_RETURN_IF_ERROR(CompareBatch(name, *batch, expected[i], compare_padding));
  }
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> more, iter.Next());
  if (more) {
    return absl::UnknownError(absl::StrCat(what, " has more than ", expected.size(), " batches"));
  }
  return absl::OkStatus();
}

absl::Status CompareEpochs(DataIter& iter, const Json& expected, bool compare_padding) {
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i > 0) COOPER_RETURN_IF_ERROR(iter.Reset());
    COOPER_RETURN_IF_ERROR(
        CompareEpoch(absl::StrCat("epoch ", i), iter, expected[i], compare_padding));
  }
  return absl::OkStatus();
}

absl::Status CompareDescs(const std::string& what, const std::vector<DataDesc>& got,
                          const Json& expected) {
  Json list = Json::array();
  for (size_t i = 0; i < got.size(); ++i) {
    Json desc = {got[i].name, std::vector<int64_t>(got[i].shape.begin(), got[i].shape.end()),
                 got[i].layout, DTypeName(got[i].dtype)};
    // Compares only the fields that the case gives.
    const size_t known = i < expected.size() ? expected[i].size() : desc.size();
    while (desc.size() > known) desc.erase(desc.size() - 1);
    list.push_back(desc);
  }
  return CompareTexts(what, list.dump(), expected.dump());
}

absl::Status CompareProvided(const DataIter& iter, const Json& json) {
  COOPER_RETURN_IF_ERROR(
      CompareDescs("provide_data", iter.provide_data(), json.at("provide_data")));
  return CompareDescs("provide_label", iter.provide_label(), json.at("provide_label"));
}

}  // namespace cooper::conformance
