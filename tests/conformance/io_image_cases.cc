// Runs io/image_record_iter.json: batches of images from records, compared bit for bit.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "io/images/image_record_iter.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"

namespace cooper::conformance {
namespace {

// Sets an option from a case; one that is not there has its default.
template <typename T>
void Get(const Json& json, const char* name, T* option) {
  if (json.contains(name)) *option = json.at(name).get<T>();
}

ImageRecordIterOptions OptionsFromJson(const std::string& folder, const Json& json) {
  ImageRecordIterOptions options;
  const Json& files = json.at("files");
  for (const auto& [name, path] : {std::pair("path_imgrec", &options.path_imgrec),
                                   std::pair("path_imgidx", &options.path_imgidx),
                                   std::pair("path_imglist", &options.path_imglist)}) {
    if (files.contains(name)) *path = folder + files.at(name).get<std::string>();
  }
  const Json& given = json.at("options");
  options.dtype = json.at("uint8").get<bool>() ? DType::kUint8 : DType::kFloat32;
  Get(given, "batch_size", &options.batch_size);
  Get(given, "label_width", &options.label_width);
  Get(given, "num_parts", &options.num_parts);
  Get(given, "part_index", &options.part_index);
  ImageTransformOptions& image = options.image;
  image.data_shape = Shape(given.at("data_shape").get<std::vector<int64_t>>());
  int64_t inter_method = static_cast<int64_t>(image.inter_method);
  Get(given, "inter_method", &inter_method);
  image.inter_method = static_cast<InterMethod>(inter_method);
  Get(given, "resize", &image.resize);
  Get(given, "pad", &image.pad);
  Get(given, "fill_value", &image.fill_value);
  Get(given, "mirror", &image.mirror);
  Get(given, "mean_r", &image.mean_r);
  Get(given, "mean_g", &image.mean_g);
  Get(given, "mean_b", &image.mean_b);
  Get(given, "std_r", &image.std_r);
  Get(given, "std_g", &image.std_g);
  Get(given, "std_b", &image.std_b);
  Get(given, "scale", &image.scale);
  return options;
}

absl::Status CompareBits(const std::string& what, const NDArray& got, const NDArray& expected) {
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype()) {
    return absl::UnknownError(
        absl::StrCat(what, " is ", got.shape().ToString(), " ", DTypeName(got.dtype()),
                     ", expected ", expected.shape().ToString(), " ", DTypeName(expected.dtype())));
  }
  const auto* a = static_cast<const uint8_t*>(got.raw_data());
  const auto* b = static_cast<const uint8_t*>(expected.raw_data());
  for (int64_t i = 0; i < got.size_bytes(); ++i) {
    if (a[i] == b[i]) continue;
    return absl::UnknownError(
        absl::StrCat(what, " differs in element ", i / SizeOf(got.dtype()), " of ", got.size()));
  }
  return absl::OkStatus();
}

absl::Status RunImageRecordIter(const std::string& folder, const Json& json) {
  COOPER_ASSIGN_OR_RETURN(const auto iter, ImageRecordIter::Create(OptionsFromJson(folder, json)));
  COOPER_ASSIGN_OR_RETURN(const NamedArrays named,
                          LoadNamedArrays(folder + json.at("batches").get<std::string>()));
  const std::map<std::string, NDArray> arrays(named.begin(), named.end());
  int epoch = 0;
  for (const Json& pads : json.at("pads")) {
    if (epoch > 0) COOPER_RETURN_IF_ERROR(iter->Reset());
    int number = 0;
    for (const Json& pad : pads) {
      const std::string what = absl::StrCat(epoch, ":", number++, ":");
      COOPER_ASSIGN_OR_RETURN(const auto batch, iter->Next());
      if (!batch.has_value() || batch->pad != pad.get<int64_t>()) {
        return absl::UnknownError(
            absl::StrCat(what, " is missing, or its pad is not ", pad.dump()));
      }
      COOPER_RETURN_IF_ERROR(CompareBits(what + "data", batch->data[0], arrays.at(what + "data")));
      COOPER_RETURN_IF_ERROR(
          CompareBits(what + "label", batch->label[0], arrays.at(what + "label")));
    }
    COOPER_ASSIGN_OR_RETURN(const auto end, iter->Next());
    if (end.has_value()) return absl::UnknownError(absl::StrCat("epoch ", epoch, " goes on"));
    ++epoch;
  }
  return absl::OkStatus();
}

void RunImages(CaseRunner& runner) {
  const std::string folder = runner.root() + "/io/";
  const Json file = ReadJson(folder + "image_record_iter.json");
  runner.RunList("io/image_record_iter", file.at("cases"),
                 [&](const Json& json) { return RunImageRecordIter(folder, json); });
}

const CategoryRegistrar registered("io", RunImages);

}  // namespace
}  // namespace cooper::conformance
