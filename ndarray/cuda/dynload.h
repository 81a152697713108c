#ifndef COOPER_NDARRAY_CUDA_DYNLOAD_H_
#define COOPER_NDARRAY_CUDA_DYNLOAD_H_

// Opens CUDA's libraries at run time, so that a program that could use cuBLAS or cuDNN also starts
// on machines without them. Linking @local_config_cuda//:cublas instead is simpler, but then the
// program does not start without the library.

namespace cooper {

// Opens a library by its soname ("libcublas.so.13"): in each folder of $COOPER_CUDA_LIB_PATH
// (separated by colons), then by the loader's rules, then in /usr/local/cuda/lib64. Returns null if
// it is in none of these. A library is never closed.
void* LoadCudaLibrary(const char* soname);

// Returns the address of a symbol, or null if the library or the symbol is missing.
void* CudaSymbol(const char* soname, const char* symbol);

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_DYNLOAD_H_
