#include "encdec/models/model/hub_cache.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/checkpoint/file_names.h"
#include "encdec/models/model/sentence_embedder.h"
#include "encdec/models/tokenizer/load_tokenizer.h"

namespace fs = std::filesystem;

namespace encdec {
namespace {

// The cache stores OWNER/NAME in the folder models--OWNER--NAME.
constexpr std::string_view kPrefix = "models--", kSeparator = "--";

struct MissingFile : FileError {
  using FileError::FileError;
};

// Returns an environment variable as a path, with "~/" expanded. Returns an empty path if the variable is not set.
fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  if (!text.starts_with("~/")) return text;
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "" : home) / text.substr(2);
}

// Returns whether a word is a valid owner or model name on the hub.
bool is_hub_word(std::string_view word) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !word.empty() && word.size() <= 96 && std::ranges::all_of(word, is_allowed) && word.front() != '.' &&
         word.front() != '-' && word.back() != '.' && word.back() != '-' && word.find("--") == word.npos &&
         word.find("..") == word.npos;
}

// Returns the sorted names in a folder, or no names if there is no such folder. Throws FileError for other errors.
std::vector<std::string> names_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names = list_files(folder, error);
  if (error && error != std::errc::no_such_file_or_directory) refuse(folder.string(), "{}", error.message());
  return names;
}

// Returns a model's snapshot folders: the snapshot that refs/main names, then the other snapshots, newest first.
std::vector<fs::path> snapshots(const fs::path& model) {
  std::vector<std::pair<fs::file_time_type, fs::path>> dated;
  std::array<char, 128> main{};  // commit id of 40 or 64 digits
  std::error_code error;
  const fs::path ref = model / "refs" / "main";
  if (fs::is_regular_file(ref, error)) std::ifstream(ref).getline(main.data(), main.size());
  for (const std::string& commit : names_in(model / "snapshots")) {
    const fs::path snapshot = model / "snapshots" / commit;
    const bool is_main = commit == main.data();
    dated.emplace_back(is_main ? fs::file_time_type::max() : fs::last_write_time(snapshot, error), snapshot);
  }
  std::ranges::stable_sort(dated, std::greater(), [](const auto& each) { return each.first; });
  std::vector<fs::path> folders;
  for (auto& [time, folder] : dated) folders.push_back(std::move(folder));
  return folders;
}

// Returns the file of a model's unfinished download, or an empty path if there is no unfinished download.
fs::path unfinished_download(const fs::path& model) {
  for (const std::string& blob : names_in(model / "blobs")) {
    if (blob.ends_with(".incomplete")) return model / "blobs" / blob;
  }
  return {};
}

// Throws MissingFile or an error of open_checkpoint() unless a snapshot has all necessary files.
void expect_complete(const fs::path& snapshot, const std::string& model, const fs::path& download) {
  // Snapshots consist of symlinks. All of their targets must exist.
  std::error_code error;
  for (fs::recursive_directory_iterator file(snapshot, error), end; !error && file != end; file.increment(error)) {
    std::error_code unreadable;
    if (fs::exists(file->path(), unreadable)) continue;
    if (unreadable) refuse(file->path().string(), "{}", unreadable.message());
    refuse<MissingFile>(file->path().string(), "a symlink to a missing file");
  }
  if (error) refuse(snapshot.string(), "{}", error.message());
  const Checkpoint checkpoint = open_checkpoint(SentenceEmbedder::transformer_folder(snapshot));
  // transformers does not download modules.json. Without this file, these models would compute other vectors.
  const fs::path modules = snapshot / "modules.json";
  if (model.starts_with("sentence-transformers/") && !file_exists(modules)) {
    refuse<MissingFile>(modules.string(), "no such file");
  }
  // The unfinished file may belong to the tokenizer. If the tokenizer loads, accept the snapshot.
  if (download.empty()) return;
  const auto& config = checkpoint.settings.config;
  const auto type = config ? config->string("model_type") : std::nullopt;
  if (load_tokenizer(checkpoint.folder, type.value_or("")) != nullptr) return;
  refuse<MissingFile>(download.string(), "a download that has not finished");
}

}  // namespace

bool is_hub_name(const std::string& model) {
  const std::size_t slash = model.find('/');
  std::error_code error;
  return slash != model.npos && is_hub_word(std::string_view(model).substr(0, slash)) &&
         is_hub_word(std::string_view(model).substr(slash + 1)) && !fs::exists(model, error);
}

fs::path hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const fs::path cache = variable(name); !cache.empty()) return cache;
  }
  if (const fs::path home = variable("HF_HOME"); !home.empty()) return home / "hub";
  fs::path caches = variable("XDG_CACHE_HOME");
  if (caches.empty()) caches = variable("HOME") / ".cache";
  return caches / "huggingface" / "hub";
}

fs::path model_folder(const fs::path& model) {
  const std::string name = model.string();
  if (!is_hub_name(name)) return model;
  const std::size_t slash = name.find('/');
  const fs::path cache = hub_cache();
  const fs::path folder =
      cache / fmt::format("{}{}{}{}", kPrefix, name.substr(0, slash), kSeparator, name.substr(slash + 1));
  const fs::path download = unfinished_download(folder);
  // Return the first complete snapshot. If no snapshot is complete, report the problem of the first snapshot.
  std::string problem;
  for (const fs::path& snapshot : snapshots(folder)) {
    try {
      expect_complete(snapshot, name, download);
      return snapshot;
    } catch (const UnsupportedModelError&) {
      return snapshot;  // loading this snapshot reports a better error
    } catch (const Error& error) {
      if (!problem.empty()) continue;
      const bool is_partial = !download.empty() || dynamic_cast<const MissingFile*>(&error) != nullptr;
      problem = fmt::format("{}: {}", is_partial ? "is not complete" : "does not open", error.what());
    }
  }
  if (!problem.empty()) {
    refuse(name, "the copy in the cache {}; to download what is missing: hf download {}", problem, name);
  }
  // If there is a folder with the owner's name, the user probably meant a path, so do not suggest a download.
  std::error_code unknown;
  const std::string hint =
      fs::exists(name.substr(0, slash), unknown) ? "" : fmt::format("; to download it: hf download {}", name);
  refuse(name, "no such folder, and not in the cache {}{}", cache.string(), hint);
}

std::vector<std::string> cached_models() {
  std::vector<std::string> names;
  for (const std::string& file : names_in(hub_cache())) {
    if (!file.starts_with(kPrefix)) continue;
    const std::string_view words = std::string_view(file).substr(kPrefix.size());
    const std::size_t separator = words.find(kSeparator);
    if (separator == words.npos) continue;
    const std::string_view owner = words.substr(0, separator), name = words.substr(separator + kSeparator.size());
    if (is_hub_word(owner) && is_hub_word(name)) names.push_back(fmt::format("{}/{}", owner, name));
  }
  return names;
}

}  // namespace encdec
