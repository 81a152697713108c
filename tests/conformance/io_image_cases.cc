// Runs io/image_record_iter.json, io/image_det_record_iter.json, io/image_iter.json and
// io/image_det_iter.json: batches of images, compared bit for bit.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "io/images/image_det_iter.h"
#include "io/images/image_det_record_iter.h"
#include "io/images/image_iter.h"
#include "io/images/image_record_iter.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/scratch_folder.h"

namespace cooper::conformance {
namespace {

// Sets an option from a case; one that is not there has its default.
template <typename T>
void Get(const Json& json, const char* name, T* option) {
  if (json.contains(name)) *option = json.at(name).get<T>();
}

RecordIterOptions RecordsFromJson(const std::string& folder, const Json& json) {
  RecordIterOptions options;
  const Json& files = json.at("files");
  for (const auto& [name, path] : {std::pair("path_imgrec", &options.path_imgrec),
                                   std::pair("path_imgidx", &options.path_imgidx),
                                   std::pair("path_imglist", &options.path_imglist)}) {
    if (!files.contains(name)) continue;
    *path = absl::StrReplaceAll(folder + files.at(name).get<std::string>(), {{";", ";" + folder}});
  }
  const Json& given = json.at("options");
  Get(given, "batch_size", &options.batch_size);
  Get(given, "num_parts", &options.num_parts);
  Get(given, "part_index", &options.part_index);
  return options;
}

// Sets the options that both kinds of iterators have.
template <typename Options>
void GetImageOptions(const std::string& folder, const Json& json, Options* options) {
  const Json& given = json.at("options");
  Get(given, "label_width", &options->label_width);
  options->image.data_shape = Shape(given.at("data_shape").get<std::vector<int64_t>>());
  auto inter_method = static_cast<int64_t>(options->image.inter_method);
  Get(given, "inter_method", &inter_method);
  options->image.inter_method = static_cast<InterMethod>(inter_method);
  Get(given, "resize", &options->image.resize);
  ImageNormalizeOptions& normalize = options->normalize;
  if (const Json& files = json.at("files"); files.contains("mean_img")) {
    normalize.mean_img = folder + files.at("mean_img").get<std::string>();
  }
  Get(given, "mean_r", &normalize.mean_r);
  Get(given, "mean_g", &normalize.mean_g);
  Get(given, "mean_b", &normalize.mean_b);
  Get(given, "std_r", &normalize.std_r);
  Get(given, "std_g", &normalize.std_g);
  Get(given, "std_b", &normalize.std_b);
  Get(given, "scale", &normalize.scale);
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

absl::Status CompareBatches(const std::string& folder, const Json& json, DataIter& iter) {
  COOPER_ASSIGN_OR_RETURN(const NamedArrays named,
                          LoadNamedArrays(folder + json.at("batches").get<std::string>()));
  const std::map<std::string, NDArray> arrays(named.begin(), named.end());
  int epoch = 0;
  for (const Json& pads : json.at("pads")) {
    if (epoch > 0) COOPER_RETURN_IF_ERROR(iter.Reset());
    int number = 0;
    for (const Json& pad : pads) {
      const std::string what = absl::StrCat(epoch, ":", number++, ":");
      COOPER_ASSIGN_OR_RETURN(const auto batch, iter.Next());
      if (!batch.has_value() || (!pad.is_null() && batch->pad != pad.get<int64_t>())) {
        return absl::UnknownError(
            absl::StrCat(what, " is missing, or its pad is not ", pad.dump()));
      }
      COOPER_RETURN_IF_ERROR(CompareBits(what + "data", batch->data[0], arrays.at(what + "data")));
      COOPER_RETURN_IF_ERROR(
          CompareBits(what + "label", batch->label[0], arrays.at(what + "label")));
    }
    COOPER_ASSIGN_OR_RETURN(const auto end, iter.Next());
    if (end.has_value()) return absl::UnknownError(absl::StrCat("epoch ", epoch, " goes on"));
    ++epoch;
  }
  return absl::OkStatus();
}

// Creates the iterator of a case and compares its batches. If MXNet has made the mean image of the
// case, the iterator makes one too, which has to be equal.
template <typename Iter, typename Options>
absl::Status RunRecords(const std::string& folder, const Json& json, Options options) {
  const std::string expected = options.normalize.mean_img;
  const bool makes_mean = json.value("makes_mean_img", false);
  const ScratchFolder scratch;
  if (makes_mean) options.normalize.mean_img = scratch.path() + "/mean.params";
  COOPER_ASSIGN_OR_RETURN(const auto iter, Iter::Create(options));
  if (makes_mean) {
    COOPER_ASSIGN_OR_RETURN(const NamedArrays made, LoadNamedArrays(options.normalize.mean_img));
    COOPER_ASSIGN_OR_RETURN(const NamedArrays mean, LoadNamedArrays(expected));
    if (made.size() != 1 || made[0].first != mean[0].first) {
      return absl::UnknownError("the mean image is not one array of MXNet's name");
    }
    COOPER_RETURN_IF_ERROR(CompareBits("mean_img", made[0].second, mean[0].second));
  }
  return CompareBatches(folder, json, *iter);
}

absl::Status RunImageRecordIter(const std::string& folder, const Json& json) {
  const Json& given = json.at("options");
  ImageRecordIterOptions options = {.records = RecordsFromJson(folder, json)};
  const std::string dtype = json.at("dtype").get<std::string>();
  if (dtype == "uint8") options.dtype = DType::kUint8;
  if (dtype == "int8") options.dtype = DType::kInt8;
  GetImageOptions(folder, json, &options);
  ImageTransformOptions& image = options.image;
  Get(given, "pad", &image.pad);
  Get(given, "fill_value", &image.fill_value);
  Get(given, "mirror", &image.mirror);
  Get(given, "rotate", &image.rotate);
  Get(given, "min_random_scale", &image.min_random_scale);
  Get(given, "max_random_scale", &image.max_random_scale);
  Get(given, "min_img_size", &image.min_img_size);
  Get(given, "max_img_size", &image.max_img_size);
  Get(given, "max_aspect_ratio", &image.max_aspect_ratio);
  if (given.contains("min_aspect_ratio")) {
    image.min_aspect_ratio = given.at("min_aspect_ratio").get<float>();
  }
  Get(given, "min_crop_size", &image.min_crop_size);
  Get(given, "max_crop_size", &image.max_crop_size);
  return RunRecords<ImageRecordIter>(folder, json, std::move(options));
}

absl::Status RunImageDetRecordIter(const std::string& folder, const Json& json) {
  const Json& given = json.at("options");
  ImageDetRecordIterOptions options = {.records = RecordsFromJson(folder, json)};
  GetImageOptions(folder, json, &options);
  Get(given, "label_pad_width", &options.label_pad_width);
  Get(given, "label_pad_value", &options.label_pad_value);
  Get(given, "rand_mirror_prob", &options.augment.rand_mirror_prob);
  const std::string mode = given.value("resize_mode", "force");
  if (mode == "shrink") options.image.resize_mode = DetResizeMode::kShrink;
  if (mode == "fit") options.image.resize_mode = DetResizeMode::kFit;
  return RunRecords<ImageDetRecordIter>(folder, json, std::move(options));
}

ImageSourceOptions SourceFromJson(const std::string& folder, const Json& json) {
  ImageSourceOptions images;
  const Json& files = json.at("files");
  for (const auto& [name, path] : {std::pair("path_imgrec", &images.path_imgrec),
                                   std::pair("path_imgidx", &images.path_imgidx),
                                   std::pair("path_imglist", &images.path_imglist),
                                   std::pair("path_root", &images.path_root)}) {
    if (files.contains(name)) *path = folder + files.at(name).get<std::string>();
  }
  const Json& given = json.at("options");
  for (const Json& image : given.value("imglist", Json::array())) {
    images.imglist.push_back(
        {.labels = {image.at(0).get<float>()}, .path = image.at(1).get<std::string>()});
  }
  Get(given, "num_parts", &images.num_parts);
  Get(given, "part_index", &images.part_index);
  return images;
}

// Sets the options that ImageIter and ImageDetIter have.
template <typename Options>
absl::Status GetListedOptions(const std::string& folder, const Json& json, Options* options) {
  const Json& given = json.at("options");
  options->images = SourceFromJson(folder, json);
  Get(given, "batch_size", &options->batches.batch_size);
  options->data_shape = Shape(given.at("data_shape").get<std::vector<int64_t>>());
  Get(given, "resize", &options->augment.resize);
  auto inter_method = static_cast<int64_t>(options->augment.inter_method);
  Get(given, "inter_method", &inter_method);
  options->augment.inter_method = static_cast<InterMethod>(inter_method);
  if (given.contains("mean")) {
    options->augment.color.mean = given.at("mean").get<std::array<float, 3>>();
    options->augment.color.std = given.at("std").get<std::array<float, 3>>();
  }
  COOPER_ASSIGN_OR_RETURN(options->batches.last_batch_handle,
                          LastBatchHandleFromName(given.value("last_batch_handle", "pad")));
  return absl::OkStatus();
}

absl::Status RunImageIter(const std::string& folder, const Json& json) {
  ImageIterOptions options;
  COOPER_RETURN_IF_ERROR(GetListedOptions(folder, json, &options));
  Get(json.at("options"), "label_width", &options.label_width);
  COOPER_ASSIGN_OR_RETURN(const auto iter, ImageIter::Create(options));
  return CompareBatches(folder, json, *iter);
}

absl::Status RunImageDetIter(const std::string& folder, const Json& json) {
  ImageDetIterOptions options;
  COOPER_RETURN_IF_ERROR(GetListedOptions(folder, json, &options));
  if (json.at("options").contains("flip")) {
    COOPER_ASSIGN_OR_RETURN(options.aug_list, CreateDetAugmenter(options.data_shape));
    options.aug_list->insert(options.aug_list->begin(), DetHorizontalFlipAug{.p = 1});
  }
  COOPER_ASSIGN_OR_RETURN(const auto iter, ImageDetIter::Create(options));
  return CompareBatches(folder, json, *iter);
}

void RunImages(CaseRunner& runner) {
  const std::string folder = runner.root() + "/io/";
  runner.RunList("io/image_record_iter", ReadJson(folder + "image_record_iter.json").at("cases"),
                 [&](const Json& json) { return RunImageRecordIter(folder, json); });
  runner.RunList("io/image_det_record_iter",
                 ReadJson(folder + "image_det_record_iter.json").at("cases"),
                 [&](const Json& json) { return RunImageDetRecordIter(folder, json); });
  runner.RunList("io/image_iter", ReadJson(folder + "image_iter.json").at("cases"),
                 [&](const Json& json) { return RunImageIter(folder, json); });
  runner.RunList("io/image_det_iter", ReadJson(folder + "image_det_iter.json").at("cases"),
                 [&](const Json& json) { return RunImageDetIter(folder, json); });
}

const CategoryRegistrar registered("io", RunImages);

}  // namespace
}  // namespace cooper::conformance
