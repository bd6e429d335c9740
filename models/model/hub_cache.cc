#include "encdec/models/model/hub_cache.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/checkpoint.h"
#include "encdec/models/embedding/sentence_embedder.h"
#include "encdec/models/tokenizer/load_tokenizer.h"

namespace fs = std::filesystem;

namespace encdec {
namespace {

constexpr std::string_view kPrefix = "models--", kSeparator = "--";

// Returns the value of an environment variable as a path; empty if it is not set. "~/" is the home folder.
fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  const std::string_view text = value == nullptr ? "" : value;
  if (!text.starts_with("~/")) return text;
  const char* home = std::getenv("HOME");
  return fs::path(home == nullptr ? "" : home) / text.substr(2);
}

// Returns whether a word may be an owner or a name on the hub.
bool is_hub_word(std::string_view word) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !word.empty() && word.size() <= 96 && std::ranges::all_of(word, is_allowed) && word.front() != '.' &&
         word.front() != '-' && word.back() != '.' && word.back() != '-' && word.find("--") == word.npos &&
         word.find("..") == word.npos;
}

// Returns the entries of a folder; none if it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    all.push_back(entry->path());
  }
  std::ranges::sort(all);
  return all;
}

// Returns the folders of the snapshots of a model: that of refs/main, then the others, the newest first.
std::vector<fs::path> snapshots(const fs::path& model) {
  std::vector<std::pair<fs::file_time_type, fs::path>> dated;
  std::string main;
  std::getline(std::ifstream(model / "refs" / "main"), main);
  for (const fs::path& snapshot : entries(model / "snapshots")) {
    std::error_code error;
    const bool is_main = snapshot.filename() == main;
    dated.emplace_back(is_main ? fs::file_time_type::max() : fs::last_write_time(snapshot, error), snapshot);
  }
  std::ranges::stable_sort(dated, std::greater(), [](const auto& each) { return each.first; });
  std::vector<fs::path> folders;
  for (auto& [time, folder] : dated) folders.push_back(std::move(folder));
  return folders;
}

// Throws FileError, or what open_checkpoint() throws, if files of a snapshot are missing.
void expect_complete(const fs::path& snapshot) {
  for (const fs::path& file : entries(snapshot)) {
    if (!fs::exists(file)) refuse(file.string(), "a link to a file that is not there");
  }
  const Checkpoint checkpoint = open_checkpoint(SentenceEmbedder::transformer_folder(snapshot));
  const auto blobs = entries(snapshot.parent_path().parent_path() / "blobs");
  const auto unfinished =
      std::ranges::find(blobs, ".incomplete", [](const fs::path& blob) { return blob.extension(); });
  if (unfinished == blobs.end()) return;
  const auto& config = checkpoint.settings.config;
  const auto type = config ? config->string("model_type") : std::nullopt;
  if (load_tokenizer(checkpoint.folder, type.value_or("")) != nullptr) return;
  refuse(unfinished->string(), "a download that has not finished");
}

}  // namespace

bool is_hub_name(const std::string& model) {
  const std::size_t slash = model.find('/');
  std::error_code error;
  return slash != model.npos && is_hub_word(std::string_view(model).substr(0, slash)) &&
         is_hub_word(std::string_view(model).substr(slash + 1)) && !fs::exists(model, error);
}

fs::path hub_cache() {
  if (const fs::path cache = variable("HF_HUB_CACHE"); !cache.empty()) return cache;
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
  std::string problem;
  for (const fs::path& snapshot : snapshots(folder)) {
    try {
      expect_complete(snapshot);
      return snapshot;
    } catch (const UnsupportedModelError&) {
      return snapshot;
    } catch (const Error& error) {
      if (problem.empty()) problem = error.what();
    }
  }
  if (problem.empty()) {
    refuse(name, "no such folder, and not in the cache {}; to download it: hf download {}", cache.string(), name);
  }
  refuse(name, "the copy in the cache is not complete: {}; to complete it: hf download {}", problem, name);
}

std::vector<std::string> cached_models() {
  std::vector<std::string> names;
  for (const fs::path& folder : entries(hub_cache())) {
    const std::string file = folder.filename().string();
    if (!file.starts_with(kPrefix)) continue;
    const std::string_view words = std::string_view(file).substr(kPrefix.size());
    const std::size_t separator = words.find(kSeparator);
    if (separator == words.npos) continue;
    names.push_back(fmt::format("{}/{}", words.substr(0, separator), words.substr(separator + kSeparator.size())));
  }
  return names;
}

}  // namespace encdec
