#include "ndarray/files/params_entry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_format.h"
#include "ndarray/files/read_array.h"

namespace cooper {
namespace {

absl::Status SkipContext(ByteReader& reader) { return reader.Take(8, "the context").status(); }

// Reads the fields that follow the magic number or the rank in V0 and V1.
absl::StatusOr<NDArray> ReadDenseBody(ByteReader& reader, const Shape& shape) {
  COOPER_RETURN_IF_ERROR(SkipContext(reader));
  COOPER_ASSIGN_OR_RETURN(DType dtype, reader.DTypeField("the dtype"));
  return reader.Elements(shape, dtype, "the data");
}

absl::StatusOr<NDArray> ReadIndices(ByteReader& reader, DType dtype, const Shape& shape,
                                    const char* what) {
  if (dtype != DType::kInt64 && dtype != DType::kInt32) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " are ", DTypeName(dtype), ", expected int64"));
  }
  COOPER_ASSIGN_OR_RETURN(NDArray indices, reader.Elements(shape, dtype, what));
  return indices.AsType(DType::kInt64);
}

// Checks that the parts of a sparse array fit together; ToDense checks the values of the indices.
absl::Status CheckLayout(const SparseLayout& layout, const Shape& stored) {
  const auto fail = [&](absl::string_view expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a ", StorageTypeName(layout.type), " array of shape ", layout.shape.ToString(),
        " stores elements of shape ", stored.ToString(), ", indices of shape ",
        layout.indices.shape().ToString(), ": expected ", expected));
  };
  const Shape& shape = layout.shape;
  if (layout.indices.shape().rank() != 1) return fail("one-dimensional indices");
  if (layout.type == StorageType::kRowSparse) {
    Shape rows = shape;
    if (shape.rank() == 0) return fail("at least one dimension");
    rows[0] = layout.indices.size();
    if (stored != rows) return fail(absl::StrCat("stored elements of shape ", rows.ToString()));
    return absl::OkStatus();
  }
  if (shape.rank() != 2) return fail("two dimensions");
  if (stored != layout.indices.shape()) return fail("as many stored elements as indices");
  if (layout.indptr.shape() != Shape{shape[0] + 1}) {
    return fail(absl::StrCat("indptr of shape (", shape[0] + 1, ",), got ",
                             layout.indptr.shape().ToString()));
  }
  return absl::OkStatus();
}

// Reads a sparse array from its shape on.
absl::Status ReadSparseBody(ByteReader& reader, const Shape& stored, ParamsEntry* entry) {
  SparseLayout& layout = *entry->sparse;
  COOPER_RETURN_IF_ERROR(SkipContext(reader));
  COOPER_ASSIGN_OR_RETURN(DType dtype, reader.DTypeField("the dtype"));
  const bool is_csr = layout.type == StorageType::kCsr;
  DType indptr_dtype = DType::kInt64;
  Shape indptr_shape;
  if (is_csr) {
    COOPER_ASSIGN_OR_RETURN(indptr_dtype, reader.DTypeField("indptr's dtype"));
    COOPER_ASSIGN_OR_RETURN(indptr_shape, reader.ShapeField("indptr's shape"));
  }
  COOPER_ASSIGN_OR_RETURN(DType indices_dtype, reader.DTypeField("the indices' dtype"));
  COOPER_ASSIGN_OR_RETURN(Shape indices_shape, reader.ShapeField("the indices' shape"));
  COOPER_ASSIGN_OR_RETURN(entry->array, reader.Elements(stored, dtype, "the data"));
  if (is_csr) {
    COOPER_ASSIGN_OR_RETURN(layout.indptr,
                            ReadIndices(reader, indptr_dtype, indptr_shape, "indptr"));
  }
  COOPER_ASSIGN_OR_RETURN(layout.indices,
                          ReadIndices(reader, indices_dtype, indices_shape, "the indices"));
  return CheckLayout(layout, stored);
}

// Reads an array of V2 or V3 after its magic number.
absl::Status ReadCurrent(ByteReader& reader, ParamsEntry* entry) {
  COOPER_ASSIGN_OR_RETURN(int32_t stype, reader.Number<int32_t>("the storage type"));
  if (stype < 0 || stype > 2) {
    return absl::InvalidArgumentError(absl::StrCat("unknown storage type ", stype));
  }
  Shape stored;
  if (stype != 0) {
    entry->sparse = std::make_unique<SparseLayout>();
    entry->sparse->type = static_cast<StorageType>(stype);
    COOPER_ASSIGN_OR_RETURN(stored, reader.ShapeField("the shape of the stored elements"));
  }
  COOPER_ASSIGN_OR_RETURN(uint32_t rank, reader.Number<uint32_t>("the shape"));
  if (rank == (entry->np_shape ? ~uint32_t{0} : 0)) {
    entry->sparse.reset();
    return absl::OkStatus();
  }
  COOPER_ASSIGN_OR_RETURN(Shape shape, reader.Extents<int64_t>(rank, "the shape"));
  if (stype != 0) {
    entry->sparse->shape = std::move(shape);
    return ReadSparseBody(reader, stored, entry);
  }
  COOPER_ASSIGN_OR_RETURN(entry->array, ReadDenseBody(reader, shape));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadArray(ByteReader& reader, ParamsEntry* entry) {
  COOPER_ASSIGN_OR_RETURN(uint32_t magic, reader.Number<uint32_t>("its beginning"));
  if (magic == kArrayV2Magic || magic == kArrayV3Magic) {
    entry->np_shape = magic == kArrayV3Magic;
    return ReadCurrent(reader, entry);
  }
  Shape shape;
  if (magic == kArrayV1Magic) {
    COOPER_ASSIGN_OR_RETURN(shape, reader.ShapeField("the shape"));
  } else {  // V0 begins with its rank
    COOPER_ASSIGN_OR_RETURN(shape, reader.Extents<uint32_t>(magic, "the shape"));
  }
  if (shape.rank() == 0) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(entry->array, ReadDenseBody(reader, shape));
  return absl::OkStatus();
}

const char* StorageTypeName(StorageType type) {
  switch (type) {
    case StorageType::kDefault:
      return "default";
    case StorageType::kRowSparse:
      return "row_sparse";
    case StorageType::kCsr:
      return "csr";
  }
  return "invalid";
}

absl::StatusOr<ParamsEntry> ParseArray(absl::string_view bytes) {
  ByteReader reader(bytes);
  ParamsEntry entry;
  COOPER_RETURN_IF_ERROR(ReadArray(reader, &entry));
  if (reader.remaining() == 0) return entry;
  return absl::InvalidArgumentError(
      absl::StrCat(reader.remaining(), " bytes follow the array of ", bytes.size(), " bytes"));
}

}  // namespace cooper
