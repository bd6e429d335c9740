#include "encdec/models/checkpoint/marian_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/checkpoint/marian_binary.h"
#include "encdec/models/checkpoint/unpacked_file.h"
#include "encdec/models/checkpoint/yaml.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Names of the file with the decoder's options: first OPUS-MT's name, then translateLocally's name.
constexpr const char* kOptionsFiles[] = {"decoder.yml", "config.intgemm8bitalpha.yml"};

}  // namespace

MarianFiles::MarianFiles(const fs::path& folder) : folder_(folder), file_names_(list_files(folder)) {
  for (const char* name : kOptionsFiles) {
    if (options_ || !std::ranges::binary_search(file_names_, name)) continue;
    options_ = read_yaml_object(folder / name);
  }
}

bool MarianFiles::is_release() const {
  return options_ || (!found("", ".spm").empty() && !found("model", ".bin").empty());
}

// Returns the file names that begin with `prefix` and end with `ending`, or with `ending` plus .gz or .zst.
std::vector<std::string> MarianFiles::found(std::string_view prefix, std::string_view ending) const {
  std::vector<std::string> result;
  for (const std::string& name : file_names_) {
    if (name.starts_with(prefix) && without_packing(name).ends_with(ending)) result.push_back(name);
  }
  return result;
}

// Returns `name`, or the name of the compressed file if the folder contains only the compressed file.
std::string MarianFiles::stored(const std::string& name) const {
  if (std::ranges::binary_search(file_names_, name)) return name;
  for (const std::string_view ending : kPackedEndings) {
    if (std::string packed = name + std::string(ending); std::ranges::binary_search(file_names_, packed)) return packed;
  }
  return name;
}

// Returns the name of a file that the options specify. Throws FileError unless `name` is a plain file name.
std::string MarianFiles::named(const nlohmann::json& name, std::string_view key) const {
  if (!name.is_string()) refuse(options_->file(), "{} has a {}, expected the name of a file", key, name.type_name());
  const auto& text = name.get_ref<const std::string&>();
  if (!is_plain_file_name(text)) {
    refuse(options_->file(), "{} has '{}', expected the name of a file in this folder", key, printable(text));
  }
  return stored(text);
}

std::optional<fs::path> MarianFiles::model() const {
  // Returns the only file of `files`; nullopt if there is none. Throws FileError if there are several files.
  const auto only = [&](const std::vector<std::string>& files, std::string_view kind) -> std::optional<fs::path> {
    if (files.size() > 1) {
      refuse(folder_.string(), "{} {} files, such as {} and {}, expected one, or decoder.yml to name one", files.size(),
             kind, printable(files[0]), printable(files[1]));
    }
    return files.empty() ? std::nullopt : std::optional(folder_ / files.front());
  };
  if (options_ && options_->has("models")) {
    const auto models = options_->strings("models");
    if (models.size() > 1) refuse(options_->file(), "an ensemble of {} models, expected one", models.size());
    if (!models.empty()) return folder_ / named(models.front(), "models");
  }
  if (auto npz = only(found("", ".npz"), ".npz")) return npz;
  std::vector<std::string> binary = found("model", ".bin");
  // An uncompressed model*.bin may belong to another format, such as CTranslate2.
  std::erase_if(binary, [&](const std::string& name) {
    return name == without_packing(name) && !is_marian_binary(MappedFile::open(folder_ / name)->bytes());
  });
  return only(binary, "model*.bin");
}

std::vector<std::string> MarianFiles::vocabularies() const {
  if (options_) {
    const auto fail = [&](std::string_view what) {
      refuse(options_->file(), "vocabs is {}, expected the names of two files in this folder", what);
    };
    if (!options_->has("vocabs")) fail("missing");
    const nlohmann::json& names = options_->value()["vocabs"];
    if (!names.is_array()) fail(names.type_name());
    if (names.size() != 2) fail(fmt::format("a list of {}", names.size()));
    return {named(names[0], "vocabs"), named(names[1], "vocabs")};
  }
  // Without options, find a source and a target vocabulary, or one vocabulary for both sides.
  std::vector<std::string> both = found("srcvocab", ".spm"), target = found("trgvocab", ".spm");
  both.insert(both.end(), target.begin(), target.end());
  if (both.empty()) both = found("", ".spm");
  if (both.size() == 1) both.push_back(both.front());
  if (both.size() == 2) return both;
  refuse(folder_.string(), "{} files .spm, expected one vocab*.spm, or srcvocab*.spm and trgvocab*.spm", both.size());
}

std::optional<fs::path> MarianFiles::shortlist() const {
  if (options_) {
    const auto given = options_->value().find("shortlist");
    if (given == options_->value().end() || !given->is_array() || given->empty()) return std::nullopt;
    return folder_ / named(given->front(), "shortlist");
  }
  const std::vector<std::string> files = found("lex", ".bin");
  return files.size() == 1 ? std::optional(folder_ / files.front()) : std::nullopt;
}

}  // namespace encdec
