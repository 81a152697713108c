#ifndef COOPER_NDARRAY_CUDA_PEER_ACCESS_H_
#define COOPER_NDARRAY_CUDA_PEER_ACCESS_H_

namespace cooper {

// Lets two devices reach each other's memory, where they can, so that copies between them need not
// go through memory of the host. Done once for each pair. That it is refused is no error: copies
// work without. Thread-safe.
void EnablePeerAccess(int device_id, int other_id);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_PEER_ACCESS_H_
