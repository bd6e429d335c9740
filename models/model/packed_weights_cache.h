#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/packed_weights.h"
#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/new_file.h"
#include "encdec/models/checkpoint/packed_weights_file.h"

namespace encdec {

// Returns the key of a file of packed weights: a hash of everything that packed matrices depend on, except their names.
// That is the weights (`content`), the version of this library, the precision, the number of slices, and the code that
// multiplies on this CPU.
ContentHash packed_weights_key(const ContentHash& content, const PackOptions& pack);

// A file of the packed matrices of one network: FOLDER/KEY.encdec-packed. find() serves matrices from the file. keep()
// collects the matrices that had to be packed. finish() then writes a new file if the old one did not exist, was
// damaged or lacked a matrix.
//
// Each served matrix is first compared with its hash, and is a view of the mapped file, which processes share. A file
// of this name is never modified, only replaced. For one network, built by one thread.
//
// Problems never throw. Without a good file find() returns nothing; notes() says what was wrong.
// Order of calls: (find keep?)* finish
class PackedWeightsCache final : public PackedWeights {
 public:
  // Opens the file. If there is no good file, locks the folder until finish(): of several processes that start
  // together, one packs while the others wait for its file, for a minute at most.
  PackedWeightsCache(const std::filesystem::path& folder, const ContentHash& key);

  bool contains(std::string_view name) const override { return entries_.contains(name); }
  Tensor find(std::string_view name, std::size_t bytes) override;
  void keep(std::string_view name, const Tensor& packed) override;

  // Writes the file if a matrix was packed. The file is written under another name and then renamed, so that processes
  // that write at the same time do not disturb each other and no reader sees half a file. Afterwards find() returns
  // nothing and keep() does nothing.
  void finish();
  // Returns whether finish() has written the file.
  bool has_written() const { return has_written_; }

  const std::filesystem::path& path() const { return path_; }
  int found() const { return found_; }  // number of matrices that find() has served
  int packed() const { return packed_; }
  // Returns lines for users: what was wrong with the file, and what could not be written.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Matrix {
    std::string name;
    Tensor bytes;
  };
  // Opens the file. Returns what is wrong with it; empty if it is good or does not exist.
  std::string open();
  bool has(std::string_view name) const { return std::ranges::find(matrices_, name, &Matrix::name) != matrices_.end(); }
  void write() const;

  std::filesystem::path path_;
  ContentHash key_;
  std::shared_ptr<const MappedFile> file_;  // null if there is no good file
  std::map<std::string, PackedEntry, std::less<>> entries_;
  std::vector<Matrix> matrices_;  // served or kept, in order of first use
  int found_ = 0;
  int packed_ = 0;
  bool finished_ = false;
  bool has_written_ = false;
  std::optional<FolderLock> lock_;  // held while this process packs
  std::vector<std::string> notes_;
};

}  // namespace encdec
