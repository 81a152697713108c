// Sums one number per process: what mpi_test starts are processes of one MPI world.

#include <cstdio>

#include "mpi.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int mine = rank + 1;
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  std::printf("process %d of %d: sum %d\n", rank, size, sum);
  MPI_Finalize();
  return size == 3 && sum == 6 ? 0 : 1;
}
