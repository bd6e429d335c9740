#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/backend_choice.h"
#include "encdec/engine/base/mutex.h"
#include "encdec/engine/base/packed_weights.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/base/weight_memory.h"

namespace encdec {

// A file mapped into memory, with tensors as views of the mapping. The library reads such tensors
// with read(), never through the view. If another process truncates the file, the result is
// therefore an exception, not a signal, and data that was read once does not stay in this process's
// memory.
class WeightFile {
 public:
  virtual ~WeightFile() = default;
  // Copies `bytes` from the file to `to`. `bytes` are addresses in the views. Returns false if the
  // addresses do not belong to this file. Throws FileError if the file is now too short.
  virtual bool read(std::span<const std::byte> bytes, std::byte* to) const = 0;
};

// A checkpoint's tensors by stored name. They are usually views of open files, so filling a store
// is cheap, and only tensors that are used are read from disk. Readers of file formats fill the
// store. Afterwards it is read-only and thread-safe.
class WeightStore {
 public:
  // `origin` is the checkpoint's folder or file, for messages.
  explicit WeightStore(std::string origin) : origin_(std::move(origin)) {}

  // Adds a tensor. Throws WeightError if the name is taken.
  void add(std::string name, Tensor tensor);
  // Adds int8 or int16 integers with value = integer / scale. `scale` is float32 and has one element per row of
  // `tensor`, or a single element. Throws WeightError if the name is taken, or if types or sizes do not fit.
  void add(std::string name, Tensor tensor, Tensor scale);

  // Adds a file. Tensors that are views of the file are then read with WeightFile::read().
  void add_file(std::shared_ptr<const WeightFile> file) { files_.push_back(std::move(file)); }
  // Adds the files of another store, so that its tensors can be added here, too.
  void add_files_of(const WeightStore& other);
  // Copies bytes of this store's tensors. Throws FileError if a file is now too short.
  void read(std::span<const std::byte> bytes, std::byte* to) const;
  // Converts elements [first, first + count) like copy_as_float(). `tensor` belongs to this store.
  // Throws FileError if a file is now too short.
  void read_as_float(const Tensor& tensor, Dim first, Dim count, float* output) const;

  const std::string& origin() const { return origin_; }
  const Tensor* find(std::string_view name) const;  // null if absent
  // Returns null if the tensor is not quantised.
  const Tensor* find_scale(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }  // by stored name

 private:
  std::string origin_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, Tensor, std::less<>> scales_;
  std::vector<std::shared_ptr<const WeightFile>> files_;
};

// Names a tensor in the checkpoints of one family. The stored tensor may be transposed, or may
// merge several tensors.
struct StoredName {
  StoredName() = default;
  StoredName(std::string name_) : name(std::move(name_)) {}  // a whole tensor
  StoredName(const char* name_) : name(name_) {}             // a whole tensor

  std::string name;  // name in the checkpoint
  // The wanted part, if the stored outputs are split into `parts` equal parts. Example: queries,
  // keys and values in one merged projection are parts 0, 1 and 2 of 3.
  int part = 0;
  int parts = 1;            // 1 for the whole tensor
  bool transposed = false;  // true for a matrix stored as [K, N], for y = x W

  friend bool operator==(const StoredName& a, const StoredName& b) = default;
};

// Returns the stored names that one family may use for a canonical name, in order of preference.
// "encoder.0.self_attention.query.weight" -> {{"model.encoder.layers.0.self_attn.q_proj.weight"}}.
using WeightNames = std::function<std::vector<StoredName>(const std::string& canonical)>;

class ThreadTeam;

// Options for packing weights.
struct PackOptions {
  // Number of slices per matrix, so that this many threads can share one row.
  int threads = 1;
  Precision precision = Precision::float32;
  BackendChoice backend = BackendChoice::automatic;
  // A store that is searched before a matrix is packed, and extended afterwards; may be null.
  std::shared_ptr<PackedWeights> packed = nullptr;
  // Memory for packed matrices, used by one thread at a time. If null, each matrix allocates its own memory.
  std::shared_ptr<WeightMemory> memory = nullptr;
  // Matrices are packed on the threads of this team while it exists, otherwise on the calling thread.
  std::weak_ptr<ThreadTeam> team = {};
};

// A weight matrix [N, K], one row per output, in any storage type. Rows are read as floats, a few
// at a time, so no full copy is needed.
class WeightMatrix {
 public:
  // Throws ShapeError unless there are two dimensions, and WeightError unless is_weight_type().
  WeightMatrix(const Tensor& tensor);

  Dim outputs() const { return outputs_; }  // N
  Dim inputs() const { return inputs_; }    // K

  // Identifies the stored tensor and the range of its weights; empty without a store.
  const std::string& name() const { return name_; }

  // Writes rows [first, first + count) to `rows`. Throws FileError if the file is now too short.
  void copy_rows(Dim first, Dim count, float* rows) const;
  // Returns the factor from weights to stored integers (weight * factor = integer); 0 unless int8 integers are stored.
  float integer_factor(Dim row) const;
  // Returns true if the weights are stored in this type without scales.
  bool is_stored_as(DataType type) const { return scale_.empty() && stored_.type() == type; }
  // Returns rows [first, first + count), for callers that read all of them. Rows that are scattered
  // in the file (in a transposed matrix) are copied to memory.
  WeightMatrix part(Dim first, Dim count) const;
  // Returns true if both are the same range of the same stored tensor.
  bool is_same_as(const WeightMatrix& other) const;

 private:
  friend class WeightScope;
  WeightMatrix() = default;
  void copy(Dim first, Dim count, float* output) const;

  std::string name_;
  Tensor stored_;  // [rows, K] or, transposed, [K, rows]; this matrix is rows [first_, first_ + N)
  Tensor scale_;   // empty unless the weights are quantised
  bool transposed_ = false;
  Dim first_ = 0;
  Dim outputs_ = 0;
  Dim inputs_ = 0;
  std::shared_ptr<const WeightStore> store_;  // reads stored_; null if stored_ is in memory
};

// A prefix of canonical names in a WeightStore, such as "encoder.0.self_attention". A layer's constructor takes a scope
// and requests its tensors by canonical name. Errors show the stored names. Scopes that are derived from one scope
// share a record of the tensors in use; unused() returns the others.
class WeightScope {
 public:
  // The scope of a whole store. `names` maps canonical names to stored names of the checkpoint's family. `pack`
  // contains options for the layers that pack weights.
  WeightScope(std::shared_ptr<const WeightStore> store, WeightNames names, const PackOptions& pack = {});
  // For a store with canonical names.
  explicit WeightScope(std::shared_ptr<const WeightStore> store);

  // Return a nested scope: scope / "encoder" / 0 is "encoder.0".
  WeightScope operator/(std::string_view name) const;
  // Returns this scope with another precision for the matrix products.
  WeightScope in(Precision precision) const {
    WeightScope scope = *this;
    scope.pack_.precision = precision;
    return scope;
  }
  WeightScope operator/(int index) const { return *this / std::to_string(index); }

  // Returns the prefix without a final dot. The node built from this scope has the same name.
  const std::string& path() const { return path_; }

  // How layers of this scope pack their weights.
  const PackOptions& pack() const { return pack_; }

  // Returns a float32 copy of a tensor of this scope, which may be stored in any type with
  // is_weight_type(), or quantised. The stored shape must be `shape`. Leading dimensions of 1 may
  // be missing or extra; trailing ones may only be extra.
  // Throws WeightError, naming the stored tensor and its file or folder, if the tensor is missing
  // or does not fit, and FileError if a file is now too short.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  // Like tensor() for a matrix [outputs, inputs], but does not copy it.
  WeightMatrix matrix(std::string_view name, const Shape& shape) const;
  // Returns true if the checkpoint has the tensor.
  bool has(std::string_view name) const;

  // The whole store, not only this scope.
  const WeightStore& store() const { return *store_; }
  // Returns the stored names, in alphabetical order, that no scope with the same record has used.
  std::vector<std::string> unused() const;

 private:
  // A stored tensor that passed all checks.
  struct Located {
    const Tensor* tensor = nullptr;
    const Tensor* scale = nullptr;
    StoredName stored;
    Shape shape;  // expected shape of the whole stored tensor
    bool transposed = false;
  };
  const Tensor* find(std::string_view name, StoredName& stored) const;
  // Finds a stored tensor, checks its type and shape, and records its name as used.
  Located locate(std::string_view name, const Shape& shape) const;
  WeightMatrix matrix_of(const Located& found, const Shape& shape) const;

  // Names of the stored tensors that scopes with the same record have used.
  struct Usage {
    Mutex mutex;
    std::set<std::string, std::less<>> names ENCDEC_GUARDED_BY(mutex);
  };

  std::shared_ptr<const WeightStore> store_;
  WeightNames names_;
  PackOptions pack_;
  std::shared_ptr<Usage> used_;
  std::string path_;
};

}  // namespace encdec
