// Runs io/ndarray_iter.json, io/wrapping_iters.json and io/csv_iter.json: batches of every epoch.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/iterators/csv_iter.h"
#include "io/iterators/ndarray_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "io/iterators/resize_iter.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/io_data.h"

namespace cooper::conformance {
namespace {

// Returns factor * array + offset.
absl::StatusOr<NDArray> Affine(const NDArray& array, float factor, float offset) {
  COOPER_ASSIGN_OR_RETURN(std::vector<float> values, array.ToVector<float>());
  for (float& value : values) value = factor * value + offset;
  return NDArray::FromVector(array.shape(), values);
}

struct Source {
  NDArray data;
  NDArray label;
};

absl::StatusOr<Source> SourceFromJson(const Json& file) {
  Source source;
  COOPER_ASSIGN_OR_RETURN(source.data, ArrayFromJson(file.at("data")));
  COOPER_ASSIGN_OR_RETURN(source.label, ArrayFromJson(file.at("label")));
  return source;
}

absl::StatusOr<NDArrayIterOptions> OptionsFromJson(const Json& json) {
  NDArrayIterOptions options;
  options.batch_size = json.at("batch_size").get<int64_t>();
  COOPER_ASSIGN_OR_RETURN(options.last_batch_handle,
                          LastBatchHandleFromName(json.value("last_batch_handle", "pad")));
  return options;
}

absl::StatusOr<std::unique_ptr<NDArrayIter>> MakeNDArrayIter(Source source, const Json& json) {
  COOPER_ASSIGN_OR_RETURN(NDArrayIterOptions options, OptionsFromJson(json));
  if (json.contains("rows")) {
    const int64_t rows = json.at("rows").get<int64_t>();
    COOPER_ASSIGN_OR_RETURN(source.data, source.data.Slice(0, rows));
    COOPER_ASSIGN_OR_RETURN(source.label, source.label.Slice(0, rows));
  }
  if (json.value("dict", false)) {
    COOPER_ASSIGN_OR_RETURN(NDArray doubled, Affine(source.data, 2, 0));
    return NDArrayIter::Create(
        NameArrays(std::map<std::string, NDArray>{{"b", source.data}, {"a", doubled}}),
        NameArrays(std::map<std::string, NDArray>{{"l", source.label}}), options);
  }
  std::vector<NDArray> data = {source.data}, label = {source.label};
  if (json.value("list", false)) {
    COOPER_ASSIGN_OR_RETURN(data.emplace_back(), Affine(source.data, 1, 1));
    COOPER_ASSIGN_OR_RETURN(label.emplace_back(), Affine(source.label, 1, 1));
  }
  if (json.value("no_label", false)) label.clear();
  return NDArrayIter::Create(NameArrays(data, "data"), NameArrays(label, "softmax_label"), options);
}

absl::Status TakeOne(DataIter& iter) {
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, iter.Next());
  return batch ? absl::OkStatus() : absl::UnknownError("the first epoch is empty");
}

absl::Status RunNDArrayIter(const Source& given, const Json& given_json) {
  Json json = given_json;
  const std::string name = json.at("name").get<std::string>();
  Source source = given;
  if (name == "label_length") {  // one label less than there are rows
    COOPER_ASSIGN_OR_RETURN(source.label, source.label.Slice(0, source.label.shape()[0] - 1));
  }
  if (name == "roll_over_reset_in_the_middle") json["last_batch_handle"] = "roll_over";
  absl::StatusOr<std::unique_ptr<NDArrayIter>> made = MakeNDArrayIter(source, json);
  if (json.value("expect", "ok") == "error") {
    return made.ok() ? absl::UnknownError("made, expected an error") : absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<NDArrayIter> iter, std::move(made));
  if (json.contains("provide_data")) COOPER_RETURN_IF_ERROR(CompareProvided(*iter, json));
  if (name == "reset_in_the_middle") {
    COOPER_RETURN_IF_ERROR(TakeOne(*iter));
    COOPER_RETURN_IF_ERROR(iter->HardReset());
    COOPER_RETURN_IF_ERROR(CompareEpoch("after HardReset", *iter, json.at("after_hard_reset")));
    COOPER_RETURN_IF_ERROR(iter->Reset());
    COOPER_RETURN_IF_ERROR(TakeOne(*iter));
    COOPER_RETURN_IF_ERROR(iter->Reset());
    return CompareEpoch("after Reset", *iter, json.at("after_reset"));
  }
  if (name == "roll_over_reset_in_the_middle") {
    COOPER_RETURN_IF_ERROR(TakeOne(*iter));
    COOPER_RETURN_IF_ERROR(iter->Reset());
  }
  return CompareEpochs(*iter, json.at("epochs"));
}

// Returns an iterator over two sources under different names; the data of the second one has an
// offset.
absl::StatusOr<std::unique_ptr<DataIter>> MakePrefetchingTwo(const Source& source,
                                                             const Json& json) {
  COOPER_ASSIGN_OR_RETURN(NDArray moved,
                          Affine(source.data, 1, json.at("second_data_offset").get<float>()));
  std::vector<std::unique_ptr<DataIter>> iters;
  PrefetchingIterOptions options;
  const NDArrayIterOptions inner = {.batch_size =
                                        json.at("provide_data").at(0).at(1).at(0).get<int64_t>()};
  for (size_t i = 0; i < 2; ++i) {
    COOPER_ASSIGN_OR_RETURN(
        iters.emplace_back(),
        NDArrayIter::Create(NameArrays({i == 0 ? source.data : moved}, "data"),
                            NameArrays({source.label}, "softmax_label"), inner));
    options.rename_data.push_back(
        {{"data", json.at("provide_data").at(i).at(0).get<std::string>()}});
    options.rename_label.push_back(
        {{"softmax_label", json.at("provide_label").at(i).at(0).get<std::string>()}});
  }
  return PrefetchingIter::Create(std::move(iters), std::move(options));
}

absl::StatusOr<std::unique_ptr<DataIter>> MakeWrappingIter(const Source& source, const Json& json) {
  if (json.contains("second_data_offset")) return MakePrefetchingTwo(source, json);
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<DataIter> base, MakeNDArrayIter(source, json.at("base")));
  if (json.contains("size")) {
    return std::make_unique<ResizeIter>(std::move(base), json.at("size").get<int64_t>(),
                                        json.at("reset_internal").get<bool>());
  }
  std::vector<std::unique_ptr<DataIter>> iters;
  iters.push_back(std::move(base));
  return PrefetchingIter::Create(std::move(iters));
}

absl::Status RunWrappingIter(const Source& source, const Json& json) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<DataIter> iter, MakeWrappingIter(source, json));
  if (json.contains("provide_data")) COOPER_RETURN_IF_ERROR(CompareProvided(*iter, json));
  return CompareEpochs(*iter, json.at("epochs"));
}

// Checks an epoch of a CSV file. The padding of the last batch is specified only if it comes from
// the data.
absl::Status RunCsvIter(const std::string& folder, const Json& file, const Json& json) {
  CsvIterOptions options;
  options.data_csv = folder + file.at("data_csv").get<std::string>();
  options.data_shape = Shape(json.at("data_shape").get<std::vector<int64_t>>());
  if (json.at("label").get<bool>()) {
    options.label_csv = folder + file.at("label_csv").get<std::string>();
  }
  options.batch_size = json.at("batch_size").get<int64_t>();
  options.round_batch = json.at("round_batch").get<bool>();
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<CsvIter> iter, CsvIter::Create(options));
  return CompareEpochs(*iter, json.at("epochs"), options.round_batch);
}

void RunIters(CaseRunner& runner) {
  const std::string folder = runner.root() + "/io/";
  const auto run_list = [&](const char* name, const auto& run) {
    const Json file = ReadJson(absl::StrCat(folder, name, ".json"));
    runner.RunList(absl::StrCat("io/", name), file.at("cases"),
                   [&](const Json& json) { return run(file, json); });
  };
  const auto with_source = [](absl::Status (*run)(const Source&, const Json&)) {
    return [run](const Json& file, const Json& json) -> absl::Status {
      COOPER_ASSIGN_OR_RETURN(const Source source, SourceFromJson(file));
      return run(source, json);
    };
  };
  run_list("ndarray_iter", with_source(RunNDArrayIter));
  run_list("wrapping_iters", with_source(RunWrappingIter));
  run_list("csv_iter",
           [&](const Json& file, const Json& json) { return RunCsvIter(folder, file, json); });
}

const CategoryRegistrar registered("io", RunIters);

}  // namespace
}  // namespace cooper::conformance
