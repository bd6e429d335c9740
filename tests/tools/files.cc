#include "tests/tools/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "encdec/engine/base/weights.h"
#include "encdec/models/checkpoint/safetensors.h"

namespace encdec {

TemporaryFolder::TemporaryFolder() {
  std::string name = testing::TempDir() + "encdec-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

std::string TemporaryFolder::write(std::string_view name, std::string_view content) const {
  std::ofstream file(folder_ / name, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path(name));
  return path(name);
}

std::string TemporaryFolder::read(std::string_view name) const {
  return read_file(folder_ / name);
}

std::string TemporaryFolder::partial() const {
  for (const std::string& name : names()) {
    if (name.ends_with(".partial")) return name;
  }
  return "";
}

std::vector<std::string> TemporaryFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

std::filesystem::path golden_folder(std::string_view name) {
  return std::filesystem::path(ENCDEC_GOLDEN_DIR) / "marian" / name;
}

std::string golden_model(std::string_view name) {
  return (golden_folder(name) / "model").string();
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder(""))) {
    names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

nlohmann::json golden_tokenizer(std::string_view name) {
  return nlohmann::json::parse(read_file(golden_folder(name) / "expected_tokenizer.json"));
}

Tensor read_tensor(const std::filesystem::path& file, std::string_view name) {
  const auto content = std::make_shared<const std::string>(read_file(file));
  const auto store = parse_safetensors({std::as_bytes(std::span(*content)), content, file.string()});
  const Tensor* tensor = store->find(name);
  if (tensor == nullptr) throw std::runtime_error(file.string() + " has no tensor " + std::string(name));
  return *tensor;
}

std::vector<std::string> id_lines(const Tensor& ids) {
  std::vector<std::string> lines;
  for (std::int64_t row = 0; row < ids.rows(); ++row) {
    const std::int32_t* first = ids.data<std::int32_t>() + row * ids.width();
    const std::int32_t* last = std::find(first, first + ids.width(), -1);
    lines.push_back(fmt::format("{}", fmt::join(first, last, " ")));
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace encdec
