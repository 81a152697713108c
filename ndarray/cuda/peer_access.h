#ifndef COOPER_NDARRAY_CUDA_PEER_ACCESS_H_
#define COOPER_NDARRAY_CUDA_PEER_ACCESS_H_

// Enables direct copies between GPUs.

namespace cooper {

// Enables peer access between two devices where the hardware supports it, so that copies between
// them bypass host memory. Runs once per pair. A refusal is not an error: copies work without peer
// access. Thread-safe.
void EnablePeerAccess(int device_id, int other_id);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_PEER_ACCESS_H_
