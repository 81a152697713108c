#ifndef COOPER_IO_ITERATORS_MNIST_ITER_H_
#define COOPER_IO_ITERATORS_MNIST_ITER_H_

// Serves images and labels from the files of MNIST (idx), as MXNet's MNISTIter.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "io/iterators/ndarray_iter.h"

namespace cooper {

// The names and defaults are MXNet's.
struct MnistIterOptions {
  // Files of bytes (idx3) and of labels (idx1). They may be compressed with gzip, as they are
  // published; MXNet reads them unpacked only.
  std::string image = "./train-images-idx3-ubyte";
  std::string label = "./train-labels-idx1-ubyte";
  int64_t batch_size = 128;
  // Whether the images are shuffled: once, before the first epoch, in another order than MXNet's.
  bool shuffle = true;
  uint64_t seed = 0;
  bool flat = false;    // images of shape (rows * columns,) in place of (1, rows, columns)
  bool silent = false;  // whether nothing is logged about the files
  // The iterator serves the images [floor(n / num_parts * part_index), floor(n / num_parts *
  // (part_index + 1))) of n.
  int64_t num_parts = 1;
  int64_t part_index = 0;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
};

// Reads the files. The iterator serves float32 images, divided by 256, and float32 labels of shape
// (batch_size,). Images that do not fill the last batch are left out, as in MXNet, in each epoch.
//
// kInvalidArgument, with the path, if a file is not of its kind, ends early, or is corrupted; if
// the numbers of images and labels differ; if an option is not as above, or the part has no image.
// Also the errors of opening the files: kNotFound, with the path.
absl::StatusOr<std::unique_ptr<NDArrayIter>> MnistIter(const MnistIterOptions& options);

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_MNIST_ITER_H_
