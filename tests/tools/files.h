#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/engine/base/tensor.h"

namespace encdec {

// An empty folder that is deleted with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  // Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const;
  std::string read(std::string_view name) const;
  bool has(std::string_view name) const { return std::filesystem::exists(folder_ / name); }
  // Returns the name of the unfinished output file in the folder; empty if there is none.
  std::string partial() const;
  // Returns the names of all entries, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path folder_;
};

std::string read_file(const std::filesystem::path& path);

// Data of tests/golden/marian.
std::filesystem::path golden_folder(std::string_view name);
std::string golden_model(std::string_view name);
std::vector<std::string> golden_names();
nlohmann::json golden_tokenizer(std::string_view name);

// Reads a tensor of a .safetensors file. Throws if the tensor does not exist.
Tensor read_tensor(const std::filesystem::path& file, std::string_view name);

// Returns the rows of an int32 matrix as lines of ids. -1 ends a row.
std::vector<std::string> id_lines(const Tensor& ids);

std::string join_lines(const std::vector<std::string>& lines);
std::vector<std::string> split_lines(const std::string& text);

}  // namespace encdec
