// io/ndarray_iter.json, io/wrapping_iters.json, io/csv_iter.json: batches of every epoch.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/ndarray_iter.h"
#include "ndarray/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/io_data.h"

namespace cooper::conformance {
namespace {

// factor * array + offset.
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

absl::Status RunNDArrayIter(const Source& given, Json json) {
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
  if (json.contains("provide_data")) {
    COOPER_RETURN_IF_ERROR(
        CompareDescs("provide_data", iter->provide_data(), json.at("provide_data")));
    COOPER_RETURN_IF_ERROR(
        CompareDescs("provide_label", iter->provide_label(), json.at("provide_label")));
  }
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

void RunIo(CaseRunner& runner) {
  const std::string folder = runner.root() + "/io/";
  const Json arrays = ReadJson(folder + "ndarray_iter.json");
  const absl::StatusOr<Source> source = SourceFromJson(arrays);
  for (const Json& json : arrays.at("cases")) {
    runner.Run("io/ndarray_iter/" + json.at("name").get<std::string>(), [&]() -> absl::Status {
      COOPER_RETURN_IF_ERROR(source.status());
      return RunNDArrayIter(*source, json);
    });
  }
}

const CategoryRegistrar registered("io", RunIo);

void RunOthers(CaseRunner& runner) {
  for (const std::string file : {"encode_sentences", "wrapping_iters", "csv_iter"}) {
    const Json json = ReadJson(absl::StrCat(runner.root(), "/io/", file, ".json"));
    for (const Json& c : json.at("cases")) {
      runner.Run(
          absl::StrCat("io/", file, "/", c.at("name").get<std::string>()),
          [] { return absl::UnimplementedError("nothing runs this"); }, c.contains("quirk"));
    }
  }
}

const CategoryRegistrar others("io", RunOthers);

}  // namespace
}  // namespace cooper::conformance
