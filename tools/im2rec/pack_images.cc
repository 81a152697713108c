#include "tools/im2rec/pack_images.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "io/images/codec/image.h"
#include "io/images/codec/record_image.h"
#include "io/images/imgproc/resize_image.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxExtent = int64_t{1} << 20;  // of a resized image

class Lister {
 public:
  Lister(std::string root, const ListOptions& options)
      : root_(std::move(root)), options_(options) {}

  absl::Status List(const std::string& folder) {
    std::vector<std::string> files, folders;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      std::error_code unknown;  // neither, then
      if (it->is_directory(unknown)) {
        folders.push_back(it->path().string());
      } else if (it->is_regular_file(unknown) && IsImage(it->path())) {
        files.push_back(it->path().string());
      }
    }
    if (error) {
      return absl::NotFoundError(absl::StrCat("cannot read '", folder, "': ", error.message()));
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      images_.push_back({.id = std::ssize(images_),
                         .labels = {static_cast<float>(label_)},
                         .path = fs::path(file).lexically_relative(root_).string()});
    }
    if (!options_.recursive) return absl::OkStatus();
    label_ += files.empty() ? 0 : 1;
    std::sort(folders.begin(), folders.end());
    for (const std::string& below : folders) COOPER_RETURN_IF_ERROR(List(below));
    return absl::OkStatus();
  }

  std::vector<ListedImage> Take() { return std::move(images_); }

 private:
  bool IsImage(const fs::path& path) const {
    const std::string ext = absl::AsciiStrToLower(path.extension().string());
    return std::any_of(options_.exts.begin(), options_.exts.end(),
                       [&](const std::string& own) { return absl::EqualsIgnoreCase(own, ext); });
  }

  const std::string root_;
  const ListOptions& options_;
  std::vector<ListedImage> images_;
  int64_t label_ = 0;
};

absl::Status WriteList(const std::string& path, absl::Span<const ListedImage> images) {
  std::string text;
  for (const ListedImage& image : images) {
    absl::StrAppend(&text, image.id, "\t");
    for (const float label : image.labels) absl::StrAppendFormat(&text, "%f\t", label);
    absl::StrAppend(&text, image.path, "\n");
  }
  return WriteFileAtomically(path, text);
}

Image CropToSquare(const Image& image) {
  const int64_t edge = std::min(image.height, image.width);
  const int64_t top = (image.height - edge) / 2, left = (image.width - edge) / 2;
  Image square = {.height = edge, .width = edge, .channels = image.channels};
  square.pixels.reserve(static_cast<size_t>(edge * edge * image.channels));
  for (int64_t row = 0; row < edge; ++row) {
    const uint8_t* const begin = image.at(top + row, left);
    square.pixels.insert(square.pixels.end(), begin, begin + edge * image.channels);
  }
  return square;
}

absl::StatusOr<std::string> MakeRecord(const ListedImage& listed, const std::string& root,
                                       const PackOptions& options) {
  IRHeader header = {.label = listed.labels[0], .id = static_cast<uint64_t>(listed.id)};
  if (options.pack_label && listed.labels.size() > 1) header.labels = listed.labels;
  COOPER_ASSIGN_OR_RETURN(const std::string bytes,
                          ReadFile((fs::path(root) / listed.path).string()));
  if (options.pass_through) return Pack(header, bytes);
  COOPER_ASSIGN_OR_RETURN(Image image, DecodeImage(bytes, options.color));
  if (options.center_crop) image = CropToSquare(image);
  if (options.resize > 0) {
    const int64_t shorter = std::min(image.height, image.width);
    COOPER_ASSIGN_OR_RETURN(image, ResizeImage(image, image.height * options.resize / shorter,
                                               image.width * options.resize / shorter));
  }
  const bool is_png = options.encoding == ".png";
  return PackImg(header, image,
                 {.quality = is_png ? std::min(options.quality, 9) : options.quality,
                  .img_fmt = options.encoding});
}

absl::Status CheckOptions(const PackOptions& options) {
  const std::string& encoding = options.encoding;
  if (encoding != ".jpg" && encoding != ".jpeg" && encoding != ".png") {
    return absl::InvalidArgumentError(
        absl::StrCat("encoding is '", encoding, "', expected .jpg, .jpeg or .png"));
  }
  const int lowest = encoding == ".png" ? 0 : 1;
  if (options.quality < lowest || options.quality > 100) {
    return absl::InvalidArgumentError(
        absl::StrCat("quality is ", options.quality, ", expected ", lowest, " to 100"));
  }
  if (options.resize < 0 || options.resize > kMaxExtent) {
    return absl::InvalidArgumentError(
        absl::StrCat("resize is ", options.resize, ", expected 0 to ", kMaxExtent));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<ListedImage>> ListImages(const std::string& root,
                                                    const ListOptions& options) {
  Lister lister(root, options);
  COOPER_RETURN_IF_ERROR(lister.List(root));
  std::vector<ListedImage> images = lister.Take();
  if (options.shuffle) RandomGenerator(options.seed).Shuffle(images);
  return images;
}

absl::Status WriteLists(const std::string& prefix, const std::vector<ListedImage>& images,
                        const SplitOptions& options) {
  if (options.chunks < 1 || !(options.train_ratio >= 0) || !(options.test_ratio >= 0) ||
      options.train_ratio + options.test_ratio > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chunks is ", options.chunks, ", train_ratio ", options.train_ratio, ", test_ratio ",
        options.test_ratio, ", expected at least 1, 0 and 0, and ratios of 1 together at most"));
  }
  const int64_t count = std::ssize(images);
  const int64_t chunk_size = (count + options.chunks - 1) / options.chunks;
  for (int64_t c = 0; c < options.chunks; ++c) {
    const std::string name = options.chunks == 1 ? prefix : absl::StrCat(prefix, "_", c);
    const auto chunk = absl::MakeConstSpan(images).subspan(
        static_cast<size_t>(std::min(count, c * chunk_size)), static_cast<size_t>(chunk_size));
    if (options.train_ratio == 1) {
      COOPER_RETURN_IF_ERROR(WriteList(name + ".lst", chunk));
      continue;
    }
    const auto size = static_cast<double>(chunk_size);
    const auto test = std::min(chunk.size(), static_cast<size_t>(size * options.test_ratio));
    const auto train = static_cast<size_t>(size * options.train_ratio);
    if (options.test_ratio > 0) {
      COOPER_RETURN_IF_ERROR(WriteList(name + "_test.lst", chunk.subspan(0, test)));
    }
    if (options.train_ratio + options.test_ratio < 1) {
      const size_t end = std::min(chunk.size(), test + train);
      COOPER_RETURN_IF_ERROR(WriteList(name + "_val.lst", chunk.subspan(end)));
    }
    COOPER_RETURN_IF_ERROR(WriteList(name + "_train.lst", chunk.subspan(test, train)));
  }
  return absl::OkStatus();
}

absl::StatusOr<PackedImages> PackImages(const std::vector<ListedImage>& images,
                                        const std::string& root, const std::string& path,
                                        const PackOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  COOPER_ASSIGN_OR_RETURN(const auto writer,
                          IndexedRecordWriter::Create(path + ".idx", path + ".rec"));
  PackedImages result;
  const int64_t block = 16 * NumThreads();  // records that are held
  for (int64_t begin = 0; begin < std::ssize(images); begin += block) {
    const int64_t count = std::min(block, std::ssize(images) - begin);
    std::vector<absl::StatusOr<std::string>> records(static_cast<size_t>(count));
    ParallelForRanges(count, 1, 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) records[i] = MakeRecord(images[begin + i], root, options);
    });
    for (int64_t i = 0; i < count; ++i) {
      const ListedImage& image = images[begin + i];
      if (!records[i].ok()) {
        result.failures.push_back(absl::StrCat(image.path, ": ", records[i].status().message()));
        continue;
      }
      COOPER_RETURN_IF_ERROR(writer->WriteIdx(image.id, *records[i]));
      ++result.packed;
    }
  }
  COOPER_RETURN_IF_ERROR(writer->Close());
  return result;
}

}  // namespace cooper
