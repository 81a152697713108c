// Runs io/csv_files.json, io/mnist_iter.json and io/libsvm_iter.json: batches of iterators over
// files.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "io/iterators/csv_iter.h"
#include "io/iterators/libsvm_iter.h"
#include "io/iterators/mnist_iter.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/io_data.h"

namespace cooper::conformance {
namespace {

// Reads the parameters of a case by name; one that is not there has the option's default.
class CaseOptions {
 public:
  CaseOptions(std::string folder, const Json& json)
      : folder_(std::move(folder)), files_(json.at("files")), options_(json.at("options")) {}

  // Sets `paths` to one or several files of the case.
  void GetFiles(const char* name, std::string* paths) const {
    if (!files_.contains(name)) return;
    std::vector<std::string> names = absl::StrSplit(files_.at(name).get<std::string>(), ';');
    for (std::string& file : names) file.insert(0, folder_);
    *paths = absl::StrJoin(names, ";");
  }
  template <typename T>
  void Get(const char* name, T* option) const {
    if (options_.contains(name)) *option = options_.at(name).get<T>();
  }
  void Get(const char* name, Shape* option) const {
    if (options_.contains(name)) *option = Shape(options_.at(name).get<std::vector<int64_t>>());
  }

 private:
  const std::string folder_;
  const Json& files_;
  const Json& options_;
};

absl::Status Compare(DataIter& iter, const Json& json, bool compare_padding = true) {
  COOPER_RETURN_IF_ERROR(CompareProvided(iter, json));
  return CompareEpochs(iter, json.at("epochs"), compare_padding);
}

absl::Status RunCsvFiles(const CaseOptions& given, const Json& json) {
  CsvIterOptions options;
  given.GetFiles("data_csv", &options.data_csv);
  given.GetFiles("label_csv", &options.label_csv);
  given.Get("data_shape", &options.data_shape);
  given.Get("batch_size", &options.batch_size);
  given.Get("round_batch", &options.round_batch);
  COOPER_ASSIGN_OR_RETURN(const auto iter, CsvIter::Create(options));
  return Compare(*iter, json, options.round_batch);
}

absl::Status RunMnistIter(const CaseOptions& given, const Json& json) {
  MnistIterOptions options;
  given.GetFiles("image", &options.image);
  given.GetFiles("label", &options.label);
  given.Get("batch_size", &options.batch_size);
  given.Get("shuffle", &options.shuffle);
  given.Get("seed", &options.seed);
  given.Get("flat", &options.flat);
  given.Get("silent", &options.silent);
  given.Get("num_parts", &options.num_parts);
  given.Get("part_index", &options.part_index);
  COOPER_ASSIGN_OR_RETURN(const auto iter, MnistIter(options));
  return Compare(*iter, json);
}

absl::Status RunLibSvmIter(const CaseOptions& given, const Json& json) {
  LibSvmIterOptions options;
  given.GetFiles("data_libsvm", &options.data_libsvm);
  given.GetFiles("label_libsvm", &options.label_libsvm);
  given.Get("data_shape", &options.data_shape);
  given.Get("label_shape", &options.label_shape);
  given.Get("batch_size", &options.batch_size);
  given.Get("num_parts", &options.num_parts);
  given.Get("part_index", &options.part_index);
  COOPER_ASSIGN_OR_RETURN(const auto iter, LibSvmIter::Create(options));
  return Compare(*iter, json);
}

void RunFileIters(CaseRunner& runner) {
  const std::string folder = runner.root() + "/io/";
  const auto run_list = [&](const char* name, const auto& run) {
    const Json file = ReadJson(absl::StrCat(folder, name, ".json"));
    runner.RunList(absl::StrCat("io/", name), file.at("cases"),
                   [&](const Json& json) { return run(CaseOptions(folder, json), json); });
  };
  run_list("csv_files", RunCsvFiles);
  run_list("mnist_iter", RunMnistIter);
  run_list("libsvm_iter", RunLibSvmIter);
}

const CategoryRegistrar registered("io", RunFileIters);

}  // namespace
}  // namespace cooper::conformance
