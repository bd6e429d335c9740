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
#include "encdec/models/checkpoint/folder_lock.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/packed_weights_file.h"

namespace encdec {

// What packed matrices depend on beside their names: weights, version of this library, precision, number of slices,
// and what multiplies on this CPU.
ContentHash packed_weights_key(const ContentHash& content, const PackOptions& pack);

// A folder's file of the matrices that one network packs: FOLDER/KEY.encdec-packed. Serves the building of one network
// on one thread, and then finish() writes the file if it was not there, was damaged or lacked a matrix. What is served
// is compared with its hash first. It is a view of the mapped file, which processes share: nobody writes to a file
// under such a name, it is only ever replaced. A name is served and kept once.
//
// Never throws for what it finds or cannot do: without a good file it serves nothing.
class PackedWeightsCache final : public PackedWeights {
 public:
  // Opens the file. Where there is none, the folder is this cache's until finish(): of processes that begin together
  // one packs, and the others wait for its file, for a minute at most.
  PackedWeightsCache(const std::filesystem::path& folder, const ContentHash& key);

  Tensor find(std::string_view name, std::size_t bytes) override;
  void keep(std::string_view name, const Tensor& packed) override;

  // Writes the file where that is called for, under another name first: processes that do the same at once do not
  // disturb each other, and nobody sees half a file. Afterwards this serves and keeps nothing.
  void finish();
  // Whether finish() has written it.
  bool has_written() const { return has_written_; }

  const std::filesystem::path& path() const { return path_; }
  int found() const { return found_; }  // matrices
  int packed() const { return packed_; }
  // What was wrong with the file, and what cannot be written: lines for users.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Matrix {
    std::string name;
    Tensor bytes;
  };
  // What is wrong with the file; empty if nothing is.
  std::string open();
  bool has(std::string_view name) const { return std::ranges::find(matrices_, name, &Matrix::name) != matrices_.end(); }
  void write() const;

  std::filesystem::path path_;
  ContentHash key_;
  std::shared_ptr<const MappedFile> file_;  // null where there is no good one
  std::map<std::string, PackedEntry, std::less<>> entries_;
  std::vector<Matrix> matrices_;  // that were found or kept, in this order
  int found_ = 0;
  int packed_ = 0;
  bool finished_ = false;
  bool has_written_ = false;
  std::optional<FolderLock> lock_;  // of whoever packs
  std::vector<std::string> notes_;
};

}  // namespace encdec
