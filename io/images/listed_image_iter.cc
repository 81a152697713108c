#include "io/images/listed_image_iter.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "io/batch/key_values.h"
#include "io/images/decode_rows.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

DataDesc Describe(std::string name, int64_t batch_size, const Shape& sample, DType dtype) {
  Shape shape = {batch_size};
  for (const int64_t extent : sample) shape.push_back(extent);
  return {.name = std::move(name), .shape = std::move(shape), .dtype = dtype};
}

// Writes the samples of an image as one plane per channel.
absl::Status WritePlanes(const AnyImage& image, const Shape& data_shape, absl::Span<float> out) {
  return std::visit(
      [&](const auto& any) {
        if (Shape shape = {any.channels, any.height, any.width}; shape != data_shape) {
          return absl::InvalidArgumentError(absl::StrCat("the augmenters return an image of ",
                                                         shape.ToString(), ", data_shape is ",
                                                         data_shape.ToString()));
        }
        float* to = out.data();
        for (int64_t k = 0; k < any.channels; ++k) {
          for (size_t i = static_cast<size_t>(k); i < any.pixels.size(); i += any.channels) {
            *to++ = static_cast<float>(any.pixels[i]);
          }
        }
        return absl::OkStatus();
      },
      image);
}

}  // namespace

ListedImageIter::ListedImageIter(std::string kind, ImageBatchOptions options, ImageSource source,
                                 SampleDesc sample, Decoder decode)
    : kind_(std::move(kind)),
      options_(std::move(options)),
      source_(std::move(source)),
      sample_(std::move(sample)),
      decode_(std::move(decode)),
      provide_data_(
          {Describe(options_.data_name, options_.batch_size, sample_.data_shape, DType::kFloat32)}),
      provide_label_({Describe(sample_.label_name, options_.batch_size, sample_.label_shape,
                               sample_.label_dtype)}) {}

absl::Status ListedImageIter::Start() {
  COOPER_ASSIGN_OR_RETURN(const NDArray rows, NDArray::Zeros({source_.size()}, DType::kUint8));
  COOPER_ASSIGN_OR_RETURN(order_,
                          NDArrayIter::Create({{"number", rows}}, {},
                                              {.batch_size = options_.batch_size,
                                               .shuffle = options_.shuffle,
                                               .last_batch_handle = options_.last_batch_handle,
                                               .seed = options_.seed}));
  return absl::OkStatus();
}

absl::StatusOr<std::optional<DataBatch>> ListedImageIter::Next() {
  COOPER_ASSIGN_OR_RETURN(const std::string before, order_->SaveState());
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, AddContext(order_->Next(), kind_));
  if (!batch.has_value()) return std::nullopt;
  if (const absl::Status status = Fill(&*batch); !status.ok()) {
    COOPER_RETURN_IF_ERROR(order_->LoadState(before));
    return AddContext(status, kind_);
  }
  ++batches_;
  return batch;
}

absl::Status ListedImageIter::Fill(DataBatch* batch) {
  const std::vector<int64_t> numbers = batch->index;
  std::vector<EncodedImage> images;
  for (size_t row = 0; row < numbers.size(); ++row) {
    COOPER_ASSIGN_OR_RETURN(images.emplace_back(), source_.Read(numbers[row]));
    batch->index[row] = images[row].id;
  }
  COOPER_ASSIGN_OR_RETURN(NDArray data, NDArray::Zeros(provide_data_[0].shape));
  COOPER_ASSIGN_OR_RETURN(NDArray label,
                          NDArray::Full(provide_label_[0].shape, sample_.label_fill.value_or(0)));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> all_samples, data.Data<float>());
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> all_labels, label.Data<float>());
  const auto row_of = [&](absl::Span<float> all, size_t row) {
    const size_t width = all.size() / numbers.size();
    return all.subspan(row * width, width);
  };
  const auto decode = [&](size_t row) -> absl::Status {
    RandomGenerator random(options_.seed, batches_ * numbers.size() + row);
    COOPER_ASSIGN_OR_RETURN(const AnyImage image,
                            decode_(images[row], random, row_of(all_labels, row)));
    return WritePlanes(image, sample_.data_shape, row_of(all_samples, row));
  };
  COOPER_RETURN_IF_ERROR(DecodeRows(std::ssize(numbers), [&](int64_t row) {
    const auto i = static_cast<size_t>(row);
    return AddContext(decode(i), source_.Where(numbers[i]));
  }));
  COOPER_ASSIGN_OR_RETURN(label, label.AsType(sample_.label_dtype));
  batch->data = {std::move(data)};
  batch->label = {std::move(label)};
  batch->provide_data = provide_data_;
  batch->provide_label = provide_label_;
  return absl::OkStatus();
}

absl::StatusOr<std::string> ListedImageIter::SaveState() const {
  COOPER_ASSIGN_OR_RETURN(const std::string order, order_->SaveState());
  KeyValues state;
  state.SetString("kind", kind_);
  state.SetUint("batches", batches_);
  state.SetString("order", order);
  // This detects another order of random changes.
  state.SetUint("seed", options_.seed);
  return state.ToString();
}

absl::Status ListedImageIter::LoadState(absl::string_view text) {
  COOPER_ASSIGN_OR_RETURN(const KeyValues state, KeyValues::Parse(text));
  COOPER_RETURN_IF_ERROR(state.Expect("kind", kind_));
  COOPER_ASSIGN_OR_RETURN(const uint64_t batches, state.GetUint("batches"));
  COOPER_ASSIGN_OR_RETURN(const std::string order, state.GetString("order"));
  COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("seed"));
  if (seed != options_.seed) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind_, ": the state is of the seed ", seed, ", expected ", options_.seed));
  }
  COOPER_RETURN_IF_ERROR(AddContext(order_->LoadState(order), kind_));
  batches_ = batches;
  return absl::OkStatus();
}

}  // namespace cooper
