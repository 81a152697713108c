#include "ndarray/files/params_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_format.h"

namespace cooper {
namespace {

// Reads values from the front of a buffer; every read is checked against the remaining bytes.
class ByteReader {
 public:
  explicit ByteReader(absl::string_view bytes) : bytes_(bytes) {}

  // Reads CPU memory that arrays may view.
  explicit ByteReader(std::shared_ptr<Storage> storage)
      : bytes_(static_cast<const char*>(storage->data()), static_cast<size_t>(storage->bytes())),
        storage_(std::move(storage)) {}

  uint64_t remaining() const { return bytes_.size(); }
  absl::string_view rest() const { return bytes_; }

  absl::StatusOr<absl::string_view> Take(uint64_t count, absl::string_view what) {
    if (count > remaining()) {
      return absl::InvalidArgumentError(absl::StrCat(what, " takes ", count, " bytes, but only ",
                                                     remaining(), " are left in the file"));
    }
    const absl::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  template <typename T>
  absl::StatusOr<T> Number(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(sizeof(T), what));
    T value;
    std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  // Reads `rank` extents of type T; an error if fewer are left or no array may have that rank.
  template <typename T>
  absl::StatusOr<Shape> Extents(uint32_t rank, absl::string_view what) {
    if (rank > kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " is of ", rank, " dimensions, expected at most ", kMaxRank));
    }
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(uint64_t{rank} * sizeof(T), what));
    std::vector<int64_t> dims(rank);
    for (uint32_t i = 0; i < rank; ++i) {
      T extent;
      std::memcpy(&extent, raw.data() + i * sizeof(T), sizeof(T));
      dims[i] = static_cast<int64_t>(extent);
    }
    return Shape::Create(dims);
  }

  absl::StatusOr<Shape> ShapeField(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(uint32_t rank, Number<uint32_t>(what));
    return Extents<int64_t>(rank, what);
  }

  absl::StatusOr<DType> DTypeField(absl::string_view what) {
    COOPER_ASSIGN_OR_RETURN(int32_t code, Number<int32_t>(what));
    return DTypeFromCode(code);
  }

  absl::StatusOr<NDArray> Elements(const Shape& shape, DType dtype, absl::string_view what) {
    // Shape::Create has left room for the element size.
    const int64_t bytes = shape.num_elements() * SizeOf(dtype);
    COOPER_ASSIGN_OR_RETURN(absl::string_view raw, Take(static_cast<uint64_t>(bytes), what));
    if (CanView(raw, dtype)) {
      return NDArray::View(storage_, raw.data() - static_cast<const char*>(storage_->data()), shape,
                           dtype);
    }
    COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, dtype));
    char* out = static_cast<char*>(array.raw_data());
    std::copy(raw.begin(), raw.end(), out);
    if (dtype == DType::kBool) {  // a bool that is neither 0 nor 1 must not exist
      std::transform(out, out + bytes, out, [](char c) { return static_cast<char>(c != 0); });
    }
    return array;
  }

 private:
  // MXNet's files do not align arrays: an array follows headers, multiples of 4 bytes, and the
  // elements of earlier arrays, which may take any number of bytes.
  bool CanView(absl::string_view raw, DType dtype) const {
    return storage_ != nullptr && dtype != DType::kBool &&
           reinterpret_cast<uintptr_t>(raw.data()) % static_cast<uintptr_t>(SizeOf(dtype)) == 0;
  }

  absl::string_view bytes_;
  std::shared_ptr<Storage> storage_;  // null: everything is copied
};

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
absl::Status ReadCurrent(ByteReader& reader, bool np_shape, ParamsEntry* entry) {
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
  if (rank == (np_shape ? ~uint32_t{0} : 0)) {
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

absl::Status ReadArray(ByteReader& reader, ParamsEntry* entry) {
  COOPER_ASSIGN_OR_RETURN(uint32_t magic, reader.Number<uint32_t>("its beginning"));
  if (magic == kArrayV2Magic || magic == kArrayV3Magic) {
    return ReadCurrent(reader, magic == kArrayV3Magic, entry);
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

// The bytes of the smallest array that is not null: V0 with one dimension and no elements.
constexpr uint64_t kMinArrayBytes = 20;
// A list of more arrays than this must not consist of null arrays alone.
constexpr uint64_t kFewArrays = 1 << 16;

// Reads the number of items that take at least `least_bytes` each.
absl::StatusOr<uint64_t> ReadCount(ByteReader& reader, uint64_t least_bytes,
                                   absl::string_view what) {
  COOPER_ASSIGN_OR_RETURN(uint64_t count, reader.Number<uint64_t>(what));
  if (count > reader.remaining() / least_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is ", count, ", but only ", reader.remaining(), " bytes are left"));
  }
  return count;
}

}  // namespace

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

namespace {

// Reads and checks the magic number of a list.
absl::Status TakeMagic(ByteReader& reader) {
  const std::string foreign = DescribeForeignFile(reader.rest(), FileKind::kParams);
  if (!foreign.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("not a list of arrays (.params)", foreign,
                                                   " (expected 0x", absl::Hex(kParamsListMagic),
                                                   " at its beginning)"));
  }
  COOPER_ASSIGN_OR_RETURN(const uint64_t magic, reader.Number<uint64_t>("the header"));
  if (magic == kParamsListMagic) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("not a list of arrays (.params): it begins with 0x", absl::Hex(magic),
                   ", expected 0x", absl::Hex(kParamsListMagic)));
}

absl::StatusOr<ParamsList> ReadList(ByteReader reader) {
  COOPER_RETURN_IF_ERROR(TakeMagic(reader));
  COOPER_RETURN_IF_ERROR(reader.Take(8, "the header").status());
  COOPER_ASSIGN_OR_RETURN(uint64_t count, ReadCount(reader, 4, "the number of arrays"));
  // A null array takes 4 bytes of the file and thirty times as many in memory, so that a large list
  // may not consist of them.
  if (count > kFewArrays && count > reader.remaining() / kMinArrayBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the number of arrays is ", count, ", but only ",
                                                   reader.remaining(),
                                                   " bytes are left: most arrays are null"));
  }
  ParamsList list;
  list.entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(ReadArray(reader, &list.entries.emplace_back()), "array ", i, " of ", count));
  }
  COOPER_ASSIGN_OR_RETURN(uint64_t names, ReadCount(reader, 8, "the number of names"));
  if (names != 0 && names != count) {
    return absl::InvalidArgumentError(absl::StrCat(names, " names for ", count, " arrays"));
  }
  list.named = names != 0;
  for (uint64_t i = 0; i < names; ++i) {
    const std::string what = absl::StrCat("name ", i, " of ", names);
    COOPER_ASSIGN_OR_RETURN(uint64_t length, reader.Number<uint64_t>(what));
    COOPER_ASSIGN_OR_RETURN(absl::string_view name, reader.Take(length, what));
    list.entries[i].name.assign(name.data(), name.size());
  }
  return list;
}

absl::StatusOr<NamedArrays> DenseByName(ParamsList list) {
  if (!list.named && !list.entries.empty()) {
    return absl::InvalidArgumentError("its arrays have no names");
  }
  NamedArrays arrays;
  for (ParamsEntry& entry : list.entries) {
    if (entry.sparse != nullptr) {
      return absl::UnimplementedError(absl::StrCat("array '", entry.name, "' has storage type ",
                                                   StorageTypeName(entry.sparse->type),
                                                   "; only dense arrays are loaded by name"));
    }
    if (entry.array.is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("array '", entry.name,
                       "' is null: it was saved before it had a shape and elements; give it some, "
                       "or leave it out, and save the file again"));
    }
    arrays.emplace_back(std::move(entry.name), std::move(entry.array));
  }
  return arrays;
}

}  // namespace

absl::StatusOr<ParamsList> ParseParams(absl::string_view bytes) {
  return ReadList(ByteReader(bytes));
}

absl::StatusOr<ParamsList> ReadParamsFile(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return AddContext(ParseParams(bytes), "'", path, "'");
}

absl::StatusOr<NamedArrays> LoadNamedArrays(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(ParamsList list, ReadParamsFile(path));
  return AddContext(DenseByName(std::move(list)), "'", path, "'");
}

absl::Status CheckParamsFile(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const MappedFile file, MapFile(path));
  ByteReader reader(absl::string_view(static_cast<const char*>(file.data.get()),
                                      static_cast<size_t>(file.bytes)));
  return AddContext(TakeMagic(reader), "'", path, "'");
}

absl::StatusOr<NamedArrays> MapNamedArrays(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(MappedFile file, MapFile(path));
  std::shared_ptr<Storage> storage =
      Storage::Wrap(file.data.get(), file.bytes, Context::Cpu(0), file.data);
  COOPER_ASSIGN_OR_RETURN(ParamsList list,
                          AddContext(ReadList(ByteReader(std::move(storage))), "'", path, "'"));
  return AddContext(DenseByName(std::move(list)), "'", path, "'");
}

}  // namespace cooper
