#include "io/images/image_source.h"

#include <filesystem>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "io/batch/check_part.h"
#include "io/batch/invalid.h"
#include "io/records/indexed_records.h"
#include "io/records/ir_header.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status CheckKind(const ImageSourceOptions& options) {
  if (!options.imglist.empty() && !(options.path_imgrec.empty() && options.path_imglist.empty())) {
    return Invalid("imglist excludes path_imgrec and path_imglist");
  }
  if (options.path_imgrec.empty() && options.path_imglist.empty() && options.imglist.empty()) {
    return Invalid("no images: path_imgrec, path_imglist or imglist is needed");
  }
  if (options.path_imgrec.empty() && !options.path_imgidx.empty()) {
    return Invalid("path_imgidx is '", options.path_imgidx, "', but there is no path_imgrec");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ListedImage>> ListFiles(const ImageSourceOptions& options,
                                                   std::optional<int64_t> label_width) {
  std::vector<ListedImage> files = options.imglist;
  if (!options.path_imglist.empty()) {
    COOPER_ASSIGN_OR_RETURN(files, ReadImageList(options.path_imglist, label_width));
  }
  for (ListedImage& file : files) {
    if (label_width.has_value() && std::ssize(file.labels) != *label_width) {
      return Invalid("'", file.path, "' has ", file.labels.size(), " labels in imglist, expected ",
                     *label_width);
    }
    file.path = (std::filesystem::path(options.path_root) / file.path).string();
  }
  return files;
}

}  // namespace

absl::StatusOr<ImageSource> ImageSource::Open(const ImageSourceOptions& options,
                                              std::optional<int64_t> label_width) {
  COOPER_RETURN_IF_ERROR(CheckKind(options));
  COOPER_RETURN_IF_ERROR(CheckPart(options.part_index, options.num_parts));
  ImageSource source;
  if (options.path_imgrec.empty()) {
    COOPER_ASSIGN_OR_RETURN(source.files_, ListFiles(options, label_width));
    source.places_.resize(source.files_.size());
    std::iota(source.places_.begin(), source.places_.end(), 0);
  } else {
    COOPER_ASSIGN_OR_RETURN(source.reader_, RecordReader::Open(options.path_imgrec));
    COOPER_ASSIGN_OR_RETURN(source.labels_, ImageLabels::Create(options.path_imglist, label_width));
    COOPER_RETURN_IF_ERROR(source.FindRecords(options.path_imgidx));
  }
  std::vector<int64_t>& places = source.places_;
  const int64_t size = std::ssize(places) / options.num_parts;
  if (size == 0) {
    return Invalid("there are ", places.size(), " images, none for part ", options.part_index,
                   " of ", options.num_parts);
  }
  places.erase(places.begin() + size * (options.part_index + 1), places.end());
  places.erase(places.begin(), places.begin() + size * options.part_index);
  return source;
}

absl::Status ImageSource::FindRecords(const std::string& path_imgidx) {
  if (!path_imgidx.empty()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<RecordEntry> entries, ReadRecordIndex(path_imgidx));
    for (const RecordEntry& entry : entries) places_.push_back(entry.offset);
    return absl::OkStatus();
  }
  while (true) {
    const int64_t offset = reader_->Tell();
    COOPER_ASSIGN_OR_RETURN(const std::optional<int64_t> length, reader_->ReadLength());
    if (!length.has_value()) return absl::OkStatus();
    places_.push_back(offset);
  }
}

absl::StatusOr<EncodedImage> ImageSource::Read(int64_t number) {
  const int64_t place = places_[static_cast<size_t>(number)];
  if (reader_ != nullptr) return AddContext(ReadRecord(place), Where(number));
  const ListedImage& file = files_[static_cast<size_t>(place)];
  COOPER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(file.path));
  return EncodedImage{.id = file.id, .bytes = std::move(bytes), .labels = file.labels};
}

absl::StatusOr<std::vector<float>> ImageSource::ReadLabels(int64_t number) {
  const int64_t place = places_[static_cast<size_t>(number)];
  if (reader_ == nullptr) return files_[static_cast<size_t>(place)].labels;
  COOPER_ASSIGN_OR_RETURN(EncodedImage image, Read(number));
  return std::move(image.labels);
}

absl::StatusOr<EncodedImage> ImageSource::ReadRecord(int64_t offset) {
  std::string record;
  COOPER_RETURN_IF_ERROR(reader_->Seek(offset));
  COOPER_ASSIGN_OR_RETURN(const bool found, reader_->Read(&record));
  if (!found) return absl::DataLossError("no record begins at the end of the file");
  COOPER_ASSIGN_OR_RETURN(const UnpackedRecord unpacked, Unpack(record));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<const float> labels, labels_.Find(unpacked.header));
  std::string bytes(unpacked.payload);
  return EncodedImage{.id = static_cast<int64_t>(unpacked.header.id),
                      .bytes = std::move(bytes),
                      .labels = {labels.begin(), labels.end()}};
}

std::string ImageSource::Where(int64_t number) const {
  const int64_t place = places_[static_cast<size_t>(number)];
  if (reader_ == nullptr) {
    return absl::StrCat("'", files_[static_cast<size_t>(place)].path, "'");
  }
  return absl::StrCat("'", reader_->path(), "', offset ", place);
}

}  // namespace cooper
