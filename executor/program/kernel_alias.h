#ifndef COOPER_EXECUTOR_PROGRAM_KERNEL_ALIAS_H_
#define COOPER_EXECUTOR_PROGRAM_KERNEL_ALIAS_H_

// Gives an operator the kernels of another one. MXNet's NumPy operators, such as _npi_add, have
// rules of their own for shapes and dtypes, but compute what older operators compute.

namespace cooper {

// Registers from a static initializer that the kernels of operator `base`, on every kind of device,
// compute operator `op`, whose inputs have the same order and whose parameter struct is the same.
// FindKernel then returns them for `op` too. Two aliases of one operator are a bug in cooper and
// end the program. Both names must live as long as the program.
//
//   const KernelAlias kAdd{"_npi_add", "broadcast_add"};
struct KernelAlias {
  KernelAlias(const char* op, const char* base);
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_PROGRAM_KERNEL_ALIAS_H_
