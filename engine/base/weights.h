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

namespace encdec {

// Memory whose content can be had again from where it came: a mapped file.
class ReloadableMemory {
 public:
  virtual ~ReloadableMemory() = default;
  // These bytes will not be read soon: the system may take back what holds them. Bytes of others are none of its
  // business.
  virtual void release(std::span<const std::byte> bytes) const = 0;
};

// The tensors of a checkpoint by their stored names. Usually views of memory-mapped files that the tensors keep open,
// so a store is cheap to fill and reads from disk only what is used. Readers of file formats fill it; it is read-only
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

  // Where tensors are views of such memory, release() reaches it.
  void add_memory(std::shared_ptr<const ReloadableMemory> memory) { memories_.push_back(std::move(memory)); }
  // What the memories of another store are asked, this one asks them too.
  void add_memories_of(const WeightStore& other);
  // The tensor will not be read soon: its memory hears of it.
  void release(const Tensor& tensor) const;

  const std::string& origin() const { return origin_; }  // the folder or file, for messages
  const Tensor* find(std::string_view name) const;       // null if there is none
  // Null where a tensor is not quantised.
  const Tensor* find_scale(std::string_view name) const;
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }  // by stored name

 private:
  std::string origin_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::map<std::string, Tensor, std::less<>> scales_;
  std::vector<std::shared_ptr<const ReloadableMemory>> memories_;
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

// How layers lay out their weights for the machine that will run them.
struct PackOptions {
  // Column slices of matrices, so that as many threads can work on one row. Results do not depend on it.
  int threads = 1;
  // In what matmuls are computed.
  Precision precision = Precision::float32;
  // Where matrices that were packed once are found again; null if nowhere.
  std::shared_ptr<PackedWeights> packed = nullptr;
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

  // Writes rows [first, first + count).
  void copy_rows(Dim first, Dim count, float* rows) const;
  // These rows were copied and will not be read soon: their pages need not stay in memory.
  void release_rows(Dim first, Dim count) const;
  // Whether both are one matrix in one place.
  bool is_same_as(const WeightMatrix& other) const;

 private:
  friend class WeightScope;
  WeightMatrix() = default;

  std::string name_;
  Tensor stored_;  // [rows, K] or, transposed, [K, rows]; of them [first_, first_ + N)
  Tensor scale_;   // of integers
  bool transposed_ = false;
  Dim first_ = 0;
  Dim outputs_ = 0;
  Dim inputs_ = 0;
  std::shared_ptr<const WeightStore> store_;  // where pages are released; null if nowhere
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
  // extra), stored as float32, float16 or bfloat16, or quantised, and then given as float32. A view of the store where
  // it can be. Throws WeightError naming the stored tensor and its file or folder, what was found and what was
  // expected.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  // A matrix of this scope that has the shape [outputs, inputs], likewise, without copying any of it.
  WeightMatrix matrix(std::string_view name, const Shape& shape) const;
  bool has(std::string_view name) const;  // whether the checkpoint has it
  // The tensor was copied and is not needed any more, as far as this layer knows: its pages need not stay in memory.
  void release(std::string_view name) const;

  // Stored names that no scope of this family has asked for.
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
