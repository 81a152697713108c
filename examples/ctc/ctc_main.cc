// Trains a reader of lines of digits and prints how many of 300 new lines it reads without an
// error. With an argument, writes its output for one of them as JSON, which tools/charts.py draws.

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "examples/ctc/ctc.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

std::string Name(int digit) { return digit == 0 ? "blank" : std::to_string(digit - 1); }

// Returns the image and the probability of each class in each column, by rows.
std::string Reading(const NDArray& image, const std::vector<float>& probabilities,
                    const std::vector<int>& digits) {
  const std::vector<float> dots = *image.ToVector<float>();
  const size_t width = image.shape()[1], classes = probabilities.size() / width;
  nlohmann::ordered_json json = {{"kind", "line_reading"}};
  for (const int digit : digits) json["read"].push_back(Name(digit));
  for (size_t k = 0; k < classes; ++k) json["classes"].push_back(Name(static_cast<int>(k)));
  for (size_t i = 0; i < dots.size(); ++i) json["image"][i / width].push_back(dots[i]);
  for (size_t i = 0; i < probabilities.size(); ++i) {
    json["probabilities"][i % classes].push_back(probabilities[i]);
  }
  return json.dump() + "\n";
}

absl::Status Run(const std::string& path) {
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", path));
  COOPER_ASSIGN_OR_RETURN(auto model, TrainLineReader(MakeTextLines(1500, 1), 8));
  const TextLines test = MakeTextLines(300, 2);
  COOPER_ASSIGN_OR_RETURN(const ReadLines read, ReadTextLines(*model, test));
  int right = 0;
  for (size_t i = 0; i < read.digits.size(); ++i) right += read.digits[i] == test.digits[i];
  std::cout << right << " of " << read.digits.size() << " lines are read without a fault\n";
  if (path.empty()) return absl::OkStatus();
  const auto widest = std::max_element(
      test.images.begin(), test.images.end(),
      [](const NDArray& a, const NDArray& b) { return a.shape()[1] < b.shape()[1]; });
  const size_t i = widest - test.images.begin();
  return WriteFileAtomically(path, Reading(test.images[i], read.probabilities[i], read.digits[i]));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
