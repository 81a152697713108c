// GPU kernels of updates that divide the gradient by the root of its accumulated squares.

#include "executor/kernels/optimizer/adagrad_functions.h"
#include "executor/kernels/optimizer/update_elements_cuda.h"

namespace cooper {
namespace {

COOPER_REGISTER_CUDA_UPDATE(_adagrad_update, _mp_adagrad_update, AdaGradUpdate);
COOPER_REGISTER_CUDA_UPDATE(rmsprop_update, mp_rmsprop_update, RmsPropUpdate);
COOPER_REGISTER_CUDA_UPDATE(rmspropalex_update, mp_rmspropalex_update, RmsPropAlexUpdate);
COOPER_REGISTER_CUDA_UPDATE(_adadelta_update, _mp_adadelta_update, AdaDeltaUpdate);
COOPER_REGISTER_CUDA_UPDATE(ftrl_update, mp_ftrl_update, FtrlUpdate);

}  // namespace
}  // namespace cooper
