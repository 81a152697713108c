"""The compiler's flag for a file with OpenMP pragmas, which must work without it too."""

# For `copts`. Label(), so that it is cooper's own setting when cooper is a dependency.
OPENMP_COPTS = select({
    str(Label("//third_party/openmp:enabled")): ["-fopenmp"],
    "//conditions:default": [],
})
