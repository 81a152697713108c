#include "io/images/image_list.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<ListedImage>> ReadImageList(const std::string& path,
                                                       std::optional<int64_t> label_width) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  std::vector<ListedImage> images;
  int64_t number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const absl::string_view stripped = absl::StripAsciiWhitespace(line);
    if (stripped.empty()) continue;
    const std::vector<absl::string_view> columns = absl::StrSplit(stripped, '\t');
    const int64_t width = label_width.value_or(std::ssize(columns) - 2);
    ListedImage image;
    bool is_valid =
        width >= 1 && width <= std::ssize(columns) - 2 && absl::SimpleAtoi(columns[0], &image.id);
    for (int64_t i = 0; is_valid && i < width; ++i) {
      is_valid =
          absl::SimpleAtof(columns[static_cast<size_t>(i) + 1], &image.labels.emplace_back());
    }
    if (!is_valid) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "', line ", number, ": expected an id, ",
                       label_width.has_value() ? absl::StrCat(*label_width) : "one or more",
                       " labels and a path, separated by tabs: '", stripped.substr(0, 80), "'"));
    }
    image.path = std::string(absl::StripAsciiWhitespace(columns.back()));
    images.push_back(std::move(image));
  }
  return images;
}

absl::StatusOr<ImageLabels> ImageLabels::Create(const std::string& path_imglist,
                                                std::optional<int64_t> label_width) {
  ImageLabels labels;
  labels.path_imglist_ = path_imglist;
  labels.label_width_ = label_width;
  if (path_imglist.empty()) return labels;
  COOPER_ASSIGN_OR_RETURN(std::vector<ListedImage> images,
                          ReadImageList(path_imglist, label_width));
  for (ListedImage& image : images) {
    labels.listed_[static_cast<uint64_t>(image.id)] = std::move(image.labels);
  }
  return labels;
}

absl::StatusOr<absl::Span<const float>> ImageLabels::Find(const IRHeader& header) const {
  if (has_list()) {
    const auto found = listed_.find(header.id);
    if (found != listed_.end()) return found->second;
    return absl::InvalidArgumentError(
        absl::StrCat("'", path_imglist_, "' has no labels for the id ", header.id));
  }
  const absl::Span<const float> labels =
      header.labels.empty() ? absl::MakeConstSpan(&header.label, 1) : header.labels;
  if (label_width_.has_value() && static_cast<int64_t>(labels.size()) != *label_width_) {
    return absl::InvalidArgumentError(
        absl::StrCat("the record has ", labels.size(), " labels, label_width is ", *label_width_));
  }
  return labels;
}

int64_t ImageLabels::MaxListed() const {
  size_t width = 0;
  for (const auto& [id, labels] : listed_) width = std::max(width, labels.size());
  return static_cast<int64_t>(width);
}

}  // namespace cooper
