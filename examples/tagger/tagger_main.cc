// Trains a tagger and prints how many of 301 new sentences it tags without an error.

#include <iostream>

#include "absl/status/status.h"
#include "examples/tagger/tagger.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Run() {
  COOPER_ASSIGN_OR_RETURN(auto model, TrainTagger(MakeTaggedSentences(1000, 1), 8));
  const TaggedSentences test = MakeTaggedSentences(301, 2);
  COOPER_ASSIGN_OR_RETURN(const auto tags, TagSentences(*model, test));
  int right = 0;
  for (size_t i = 0; i < tags.size(); ++i) right += tags[i] == test.tags[i];
  std::cout << right << " of " << tags.size() << " sentences are tagged without a fault\n";
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main() {
  cooper::InitLogging();
  const absl::Status status = cooper::Run();
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
