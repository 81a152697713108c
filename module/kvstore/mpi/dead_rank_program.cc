// Trains until it is stopped: dead_rank_program FOLDER WAY. Rank 1 ends after a few steps, killed
// (WAY is kill) or with an error of its own (error). Each of the others writes the error that it
// gets to FOLDER/RANK and exits with 1.

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <memory>
#include <string>

#include "module/kvstore/mpi/kvstore_mpi.h"
#include "module/network/module.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

constexpr int kLastStep = 5;

absl::Status Train(const MpiWorld& world, const std::string& way) {
  COOPER_ASSIGN_OR_RETURN(auto module, Module::Create(TwoLayers()));
  COOPER_RETURN_IF_ERROR(module->Bind({.data_shapes = {{.name = "data", .shape = {4, 6}}},
                                       .label_shapes = {{.name = "softmax_label", .shape = {4}}}}));
  COOPER_RETURN_IF_ERROR(module->InitParams());
  COOPER_RETURN_IF_ERROR(module->InitOptimizer({.kvstore = "dist_sync"}));
  for (int step = 0;; ++step) {
    if (step == kLastStep && world.rank() == 1) {
      if (way == "kill") kill(getpid(), SIGKILL);
      return absl::AbortedError("an error of this process");
    }
    COOPER_RETURN_IF_ERROR(module->ForwardBackward(
        {.data = {RandomArray({4, 6}, step)}, .label = {Classes(4, 3, step)}}));
    COOPER_RETURN_IF_ERROR(module->Update());
  }
}

}  // namespace
}  // namespace cooper

int main(int, char** argv) {
  // mpirun would terminate the other processes of a run in which one died; here each must notice by
  // itself.
  std::signal(SIGTERM, SIG_IGN);
  const auto world = cooper::MpiWorld::Get();
  if (!world.ok()) return 2;
  const absl::Status status = cooper::Train(**world, argv[2]);
  std::cerr << status << "\n";
  const std::string path = std::string(argv[1]) + "/" + std::to_string((*world)->rank());
  return cooper::WriteFileAtomically(path, status.ToString()).ok() ? 1 : 3;
}
