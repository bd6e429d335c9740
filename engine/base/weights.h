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

// A file that tensors are views of. The library reads such tensors with read(), never through the view. So if another
// process truncates the file, the result is an exception and not a signal, and data that was read once does not stay in
// this process's memory.
class WeightFile {
 public:
  virtual ~WeightFile() = default;
  // Copies `bytes`, given as addresses in the views, from the file to `to`. Returns false if the addresses are not of
  // this file. Throws FileError if the file has become too short.
  virtual bool read(std::span<const std::byte> bytes, std::byte* to) const = 0;
};

// The tensors of a checkpoint by stored name. Usually they are views of files that the tensors keep open, so filling a
// store is cheap and only tensors that are used are read from disk. Readers of file formats fill the store. Afterwards
// it is read-only, and any number of threads may use it.
class WeightStore {
 public:
  // `origin` is the checkpoint's folder or file, used in messages.
  explicit WeightStore(std::string origin) : origin_(std::move(origin)) {}

  // Adds a tensor. Throws WeightError if the name is taken.
  void add(std::string name, Tensor tensor);
  // Adds a tensor of quantised integers, int8 or int16, with value = integer / scale. `scale` is float32 and has one
  // element for each row of `tensor`, or one for all rows. Throws WeightError if the name is taken or the types or
  // sizes do not fit.
  void add(std::string name, Tensor tensor, Tensor scale);

  // Adds a file. Tensors that are views of it are read with WeightFile::read().
  void add_file(std::shared_ptr<const WeightFile> file) { files_.push_back(std::move(file)); }
  // Adds all files of another store.
  void add_files_of(const WeightStore& other);
  // Copies bytes of this store's tensors. Throws FileError if a file has become too short.
  void read(std::span<const std::byte> bytes, std::byte* to) const;
  // Copies elements [first, first + count) of one of this store's tensors, converted like copy_as_float(). Throws
  // FileError if a file has become too short.
  void read_as_float(const Tensor& tensor, Dim first, Dim count, float* output) const;

  const std::string& origin() const { return origin_; }  // folder or file, used in messages
  const Tensor* find(std::string_view name) const;       // null if it does not exist
  // Returns the scale of a quantised tensor; null for other tensors.
  const Tensor* find_scale(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }  // by stored name

 private:
  std::string origin_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, Tensor, std::less<>> scales_;
  std::vector<std::shared_ptr<const WeightFile>> files_;
};

// The place in which one family of checkpoints stores a tensor. The stored tensor may be merged from several or
// transposed.
struct StoredName {
  StoredName() = default;
  StoredName(std::string name_) : name(std::move(name_)) {}  // a whole tensor
  StoredName(const char* name_) : name(name_) {}             // a whole tensor

  std::string name;  // name in the checkpoint
  // Number of the wanted part, if the outputs of the stored tensor are cut into `parts` equal parts. For example
  // queries, keys and values in one merged projection are parts 0, 1 and 2 of 3.
  int part = 0;
  int parts = 1;            // 1 for the whole tensor
  bool transposed = false;  // true for a matrix stored as [K, N], for y = x W

  friend bool operator==(const StoredName& a, const StoredName& b) = default;
};

// Returns where one family of checkpoints may store a tensor: candidates for a canonical name, best first.
// "encoder.0.self_attention.query.weight" -> {{"model.encoder.layers.0.self_attn.q_proj.weight"}}.
using WeightNames = std::function<std::vector<StoredName>(const std::string& canonical)>;

class ThreadTeam;

// Options for packing weights.
struct PackOptions {
  // Number of slices that a matrix's outputs are cut into, so that this many threads can work on one row. Results do
  // not depend on it.
  int threads = 1;
  // Precision of matmuls, and what multiplies in it.
  Precision precision = Precision::float32;
  BackendChoice backend = BackendChoice::automatic;
  // Store in which packed matrices are looked up and kept; null for none.
  std::shared_ptr<PackedWeights> packed = nullptr;
  // Memory for the packed matrices; if null, each matrix has its own. One thread at a time may take memory.
  std::shared_ptr<WeightMemory> memory = nullptr;
  // Team whose threads pack, while it exists; otherwise the calling thread packs alone.
  std::weak_ptr<ThreadTeam> team = {};
};

// A matrix [N, K] of weights, one row per output, whatever its stored form. Its rows are read as floats, a few at a
// time, so a full copy need not exist.
class WeightMatrix {
 public:
  // Throws ShapeError unless `tensor` has two dimensions, WeightError unless it is float32, float16 or bfloat16.
  WeightMatrix(const Tensor& tensor);

  Dim outputs() const { return outputs_; }  // N
  Dim inputs() const { return inputs_; }    // K

  // Name that says which weights of which stored tensor this matrix holds; empty if it does not come from a store.
  const std::string& name() const { return name_; }

  // Writes rows [first, first + count) to `rows`. Throws FileError if the file has become too short.
  void copy_rows(Dim first, Dim count, float* rows) const;
  // Returns the factor of a row: weight * factor = the int8 integer that is stored for it; 0 if weights are stored in
  // another form.
  float integer_factor(Dim row) const;
  // Returns true if the weights are stored in this type, without scales.
  bool is_stored_as(DataType type) const { return scale_.empty() && stored_.type() == type; }
  // Returns rows [first, first + count) as a matrix, for callers that read all of them. If these rows are scattered in
  // the file (a transposed matrix), they are copied to memory.
  WeightMatrix part(Dim first, Dim count) const;
  // Returns true if both matrices have the same weights at the same address.
  bool is_same_as(const WeightMatrix& other) const;

 private:
  friend class WeightScope;
  WeightMatrix() = default;
  void copy(Dim first, Dim count, float* output) const;

  std::string name_;
  Tensor stored_;  // [rows, K] or, transposed, [K, rows]; the matrix is rows [first_, first_ + N)
  Tensor scale_;   // scales of quantised integers; empty for other types
  bool transposed_ = false;
  Dim first_ = 0;
  Dim outputs_ = 0;
  Dim inputs_ = 0;
  std::shared_ptr<const WeightStore> store_;  // the store through which stored_ is read; null if stored_ is in memory
};

// A prefix into a WeightStore: first "encoder.0", then "encoder.0.self_attention". A layer's constructor takes a scope
// and asks it for tensors by canonical names. Errors contain the stored names. All scopes that come from one scope
// share one record of the tensors that were used, so that the unused tensors can be reported.
class WeightScope {
 public:
  // The scope of all tensors of a store. `names` gives the stored names of the checkpoint's family. `pack` says how
  // layers pack their weights.
  WeightScope(std::shared_ptr<const WeightStore> store, WeightNames names, const PackOptions& pack = {});
  // For a store whose names are the canonical names.
  explicit WeightScope(std::shared_ptr<const WeightStore> store);

  // Returns the scope one level deeper.
  WeightScope operator/(std::string_view name) const;
  // Returns this scope for layers whose matrix products are in another precision than pack().precision.
  WeightScope in(Precision precision) const {
    WeightScope scope = *this;
    scope.pack_.precision = precision;
    return scope;
  }
  WeightScope operator/(int index) const { return *this / std::to_string(index); }  // the scope of a layer in a stack

  // Returns the prefix without a final dot: "encoder.0.self_attention". It is also the name of the node that is built
  // from this scope.
  const std::string& path() const { return path_; }

  const PackOptions& pack() const { return pack_; }  // how layers pack their weights

  // Returns a float32 copy of a tensor of this scope. The stored tensor may be float32, float16, bfloat16 or quantised.
  // Its shape must be `shape`, but leading dimensions of 1 may be missing or extra, and trailing dimensions of 1 may be
  // extra.
  // Throws WeightError, naming the stored tensor and its file or folder, if the tensor is missing or does not fit.
  // Throws FileError if a file has become too short.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  // Returns a matrix of this scope of shape [outputs, inputs], under the same conditions, without copying it.
  WeightMatrix matrix(std::string_view name, const Shape& shape) const;
  bool has(std::string_view name) const;  // true if the checkpoint has it

  // All tensors by stored name.
  const WeightStore& store() const { return *store_; }
  // Returns the stored names of the tensors that no scope with the same record has used, in alphabetical order.
  std::vector<std::string> unused() const;

 private:
  // A stored tensor that has been found and checked.
  struct Located {
    const Tensor* tensor = nullptr;
    const Tensor* scale = nullptr;
    StoredName stored;
    Shape shape;  // expected shape of the whole stored tensor
    bool transposed = false;
  };
  const Tensor* find(std::string_view name, StoredName& stored) const;
  Located locate(std::string_view name, const Shape& shape) const;
  WeightMatrix matrix_of(const Located& found, const Shape& shape) const;

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
