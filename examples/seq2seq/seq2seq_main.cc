// Trains an encoder and a decoder, and prints their accuracy on the words of new sentences.

#include <iostream>

#include "absl/status/status.h"
#include "examples/seq2seq/seq2seq.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Run() {
  COOPER_ASSIGN_OR_RETURN(auto model, TrainSeq2Seq(MakeSentencePairs(4000, 1), 10));
  COOPER_ASSIGN_OR_RETURN(const double accuracy, TokenAccuracy(*model, MakeSentencePairs(500, 2)));
  std::cout << 100 * accuracy << " % of the words are right\n";
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
