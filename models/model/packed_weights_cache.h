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

// Returns the key of a file of packed weights: a hash of the weights (`content`), the version of
// this library, the precision, the number of threads, and the code that multiplies on this CPU.
ContentHash packed_weights_key(const ContentHash& content, const PackOptions& pack);

// The file FOLDER/KEY.encdec-packed, with the packed matrices of one network. find() returns
// matrices from the file; keep() collects matrices that had to be packed. If matrices had to be packed because the file
// is missing, damaged or incomplete, finish() writes a new file.
//
// find() checks the hash of a matrix and returns a view of the mapped file, which processes share.
// A file is never modified, only replaced. Not thread-safe.
// Problems are never thrown: find() returns an empty tensor, and notes() describes the problem.
// Order of calls: (find keep?)* finish
class PackedWeightsCache final : public PackedWeights {
 public:
  // Opens the file. If it is missing or damaged, locks the folder until finish(). So if several processes start
  // together, one process packs, and the others wait at most a minute for its file.
  PackedWeightsCache(const std::filesystem::path& folder, const ContentHash& key);

  bool contains(std::string_view name) const override { return entries_.contains(name); }
  Tensor find(std::string_view name, std::size_t bytes) override;
  void keep(std::string_view name, const Tensor& packed) override;

  // If a matrix was packed, writes the file under another name and then renames the file, so that concurrent writers do
  // not collide and no reader sees an unfinished file. Afterwards find() returns an empty tensor and keep() does
  // nothing.
  void finish();
  bool has_written() const { return has_written_; }

  const std::filesystem::path& path() const { return path_; }
  int found() const { return found_; }    // number of matrices that find() has returned
  int packed() const { return packed_; }  // number of matrices that keep() has collected
  // Returns lines for users about problems with reading or writing the file.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Matrix {
    std::string name;
    Tensor bytes;
  };
  // Opens the file. Returns a description of the problem, or "" if the file is intact or does not exist.
  std::string open();
  bool has(std::string_view name) const { return std::ranges::find(matrices_, name, &Matrix::name) != matrices_.end(); }
  void write() const;

  std::filesystem::path path_;
  ContentHash key_;
  std::shared_ptr<const MappedFile> file_;  // null if the file is missing or damaged
  std::map<std::string, PackedEntry, std::less<>> entries_;
  std::vector<Matrix> matrices_;  // matrices returned by find() or kept by keep(), in order of first use
  int found_ = 0;
  int packed_ = 0;
  bool finished_ = false;
  bool has_written_ = false;
  std::optional<FolderLock> lock_;  // held while this process packs
  std::vector<std::string> notes_;
};

}  // namespace encdec
