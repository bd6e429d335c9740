#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/packed_weights.h"
#include "encdec/engine/base/precision.h"
#include "encdec/engine/base/tensor.h"
#include "encdec/engine/base/weight_memory.h"

namespace encdec {

// A file that tensors are views of. Its bytes are asked for, not looked at, so that a file that others make shorter is
// an error and not a signal, and what was read once does not stay in this process's memory.
class WeightFile {
 public:
  virtual ~WeightFile() = default;
  // Copies these bytes of the file, where the views have them, to `to`; false if they are not of this file. Throws
  // FileError if the file does not have them any more.
  virtual bool read(std::span<const std::byte> bytes, std::byte* to) const = 0;
};

// The tensors of a checkpoint by their stored names. Usually views of files that the tensors keep open, so a store is
// cheap to fill and reads from disk only what is used. Readers of file formats fill it; it is read-only
// afterwards, and then safe to use from many threads.
class WeightStore {
 public:
  // `origin` is the folder or file, for messages.
  explicit WeightStore(std::string origin) : origin_(std::move(origin)) {}

  // Throws WeightError if the name is there already.
  void add(std::string name, Tensor tensor);
  // A tensor of quantised integers, int8 or int16: value = integer / scale. `scale` is float32, one for each row of
  // `tensor` or one for all. Throws WeightError also if the scale does not fit.
  void add(std::string name, Tensor tensor, Tensor scale);

  // Where tensors are views of such a file, they are read from it.
  void add_file(std::shared_ptr<const WeightFile> file) { files_.push_back(std::move(file)); }
  // The files of another store are this one's too.
  void add_files_of(const WeightStore& other);
  // Copies bytes of its tensors. Throws FileError if a file has become shorter.
  void read(std::span<const std::byte> bytes, std::byte* to) const;
  // The same for elements [first, first + count) of one of its tensors, as copy_as_float() makes them.
  void read_as_float(const Tensor& tensor, Dim first, Dim count, float* output) const;

  const std::string& origin() const { return origin_; }  // the folder or file, for messages
  const Tensor* find(std::string_view name) const;       // null if there is none
  // Null where a tensor is not quantised.
  const Tensor* find_scale(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }  // by stored name

 private:
  std::string origin_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, Tensor, std::less<>> scales_;
  std::vector<std::shared_ptr<const WeightFile>> files_;
};

// Where one family stores a tensor: under this name, perhaps together with others, or the other way round.
struct StoredName {
  StoredName() = default;
  StoredName(std::string name_) : name(std::move(name_)) {}  // a whole tensor
  StoredName(const char* name_) : name(name_) {}             // the same

  std::string name;  // in the checkpoint
  // Part number `part` of `parts` equal ones, of the outputs: merged projections of queries, keys and values.
  int part = 0;
  int parts = 1;            // 1: the whole tensor
  bool transposed = false;  // a matrix [K, N], for y = x W

  friend bool operator==(const StoredName& a, const StoredName& b) = default;
};

// How one family of checkpoints names what the layers ask for: candidates of stored names for a canonical one,
// best first. "encoder.0.self_attention.query.weight" -> {{"model.encoder.layers.0.self_attn.q_proj.weight"}}.
using WeightNames = std::function<std::vector<StoredName>(const std::string& canonical)>;

class ThreadTeam;

// How layers lay out their weights for the machine that will run them.
struct PackOptions {
  // Column slices of matrices, so that as many threads can work on one row. Results do not depend on it.
  int threads = 1;
  // In what matmuls are computed.
  Precision precision = Precision::float32;
  // Where matrices that were packed once are found again; null if nowhere.
  std::shared_ptr<PackedWeights> packed = nullptr;
  // Where they are packed; null for memory of its own for each. One thread at a time takes some.
  std::shared_ptr<WeightMemory> memory = nullptr;
  // Whose threads pack, as long as it lives; without one the caller's alone.
  std::weak_ptr<ThreadTeam> team = {};
};

// A matrix [N, K] of weights, one output a row, whatever it is stored as: read as floats a few rows at a time, so that
// a copy of all of it need not exist.
class WeightMatrix {
 public:
  // Throws ShapeError unless it has two dimensions, WeightError unless it is float32, float16 or bfloat16.
  WeightMatrix(const Tensor& tensor);

  Dim outputs() const { return outputs_; }  // N
  Dim inputs() const { return inputs_; }    // K

  // Which weights of which stored tensor these are; empty where they do not come from a store.
  const std::string& name() const { return name_; }

  // Writes rows [first, first + count). Throws FileError if the file has become shorter.
  void copy_rows(Dim first, Dim count, float* rows) const;
  // Those rows as a matrix of their own, in memory where they are scattered in the file: for who reads all of them.
  WeightMatrix part(Dim first, Dim count) const;
  // Whether both are one matrix in one place.
  bool is_same_as(const WeightMatrix& other) const;

 private:
  friend class WeightScope;
  WeightMatrix() = default;
  void copy(Dim first, Dim count, float* output) const;

  std::string name_;
  Tensor stored_;  // [rows, K] or, transposed, [K, rows]; of them [first_, first_ + N)
  Tensor scale_;   // of integers
  bool transposed_ = false;
  Dim first_ = 0;
  Dim outputs_ = 0;
  Dim inputs_ = 0;
  std::shared_ptr<const WeightStore> store_;  // that stored_ is read through; null where it is in memory
};

// A prefix into a WeightStore: "encoder.0." and then "encoder.0.self_attention.". A layer's constructor takes a scope
// and asks it for its tensors by canonical names; errors give the names as stored. Copies share one record of which
// tensors were used, so that the rest can be reported.
class WeightScope {
 public:
  // All of a store, whose family calls its tensors so; layers lay them out as `pack` says.
  WeightScope(std::shared_ptr<const WeightStore> store, WeightNames names, const PackOptions& pack = {});
  // Names as stored are the canonical names.
  explicit WeightScope(std::shared_ptr<const WeightStore> store);

  // The scope one level deeper.
  WeightScope operator/(std::string_view name) const;
  WeightScope operator/(int index) const { return *this / std::to_string(index); }  // a layer of a stack

  // Without the final dot: "encoder.0.self_attention". Also the name of the node built from this scope.
  const std::string& path() const { return path_; }

  const PackOptions& pack() const { return pack_; }  // how layers lay out their weights

  // A tensor of this scope that has the given shape (leading dimensions of 1 may be missing or extra, trailing ones
  // extra), stored as float32, float16 or bfloat16, or quantised: a copy as float32. Throws WeightError naming the
  // stored tensor and its file or folder, what was found and what was expected, and FileError if a file has become
  // shorter.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  // A matrix of this scope that has the shape [outputs, inputs], likewise, without copying any of it.
  WeightMatrix matrix(std::string_view name, const Shape& shape) const;
  bool has(std::string_view name) const;  // whether the checkpoint has it

  // All tensors, under the names that they are stored with.
  const WeightStore& store() const { return *store_; }
  // Stored names that no scope of this family has asked for, in order.
  std::vector<std::string> unused() const;

 private:
  // What is stored for a name, checked.
  struct Located {
    const Tensor* tensor = nullptr;
    const Tensor* scale = nullptr;
    StoredName stored;
    Shape shape;  // without leading ones, before it is cut or turned
    bool transposed = false;
  };
  const Tensor* find(std::string_view name, StoredName& stored) const;
  Located locate(std::string_view name, const Shape& shape) const;
  WeightMatrix matrix_of(const Located& found, const Shape& shape) const;

  struct Usage {
    std::mutex mutex;
    std::set<std::string, std::less<>> names;
  };

  std::shared_ptr<const WeightStore> store_;
  WeightNames names_;
  PackOptions pack_;
  std::shared_ptr<Usage> used_;
  std::string path_;
};

}  // namespace encdec
