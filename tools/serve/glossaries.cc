#include "serve/glossaries.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/checkpoint/mapped_file.h>
#include <encdec/models/checkpoint/new_file.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "serve/call.h"
#include "serve/http/random_id.h"
#include "serve/parameters.h"
#include "serve/routes.h"

namespace encdec::serve {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxGlossaries = 1000, kMaxIds = 5, kMaxTermBytes = 1024;
constexpr std::size_t kMaxOwnerBytes = std::size_t{256} << 20;
constexpr std::string_view kExtension = ".json";

std::size_t bytes_of(const StoredGlossary& glossary) {
  constexpr std::size_t kTerm = 256;  // nodes and copies of a term: an estimate
  std::size_t bytes = 0;
  for (const Dictionary& dictionary : glossary.dictionaries) {
    for (const auto& [source, target] : dictionary.terms->terms()) bytes += kTerm + 2 * (source.size() + target.size());
  }
  return bytes;
}

std::string to_file(const StoredGlossary& glossary) {
  Json json = {{"id", glossary.id},
               {"name", glossary.name},
               {"owner", glossary.owner},
               {"created_ms", glossary.created_ms},
               {"dictionaries", Json::array()}};
  for (const auto& [source, target, terms] : glossary.dictionaries) {
    json["dictionaries"].push_back({{"source", source}, {"target", target}, {"terms", terms->terms()}});
  }
  return to_text(json);
}

// Throws Json::exception or InputError for a damaged file.
StoredGlossary from_file(const fs::path& path) {
  const Json json = Json::parse(read_text_file(path, kMaxOwnerBytes));
  StoredGlossary glossary{.id = json.at("id"), .name = json.at("name"), .owner = json.at("owner")};
  if (glossary.id != path.stem().string()) {
    throw InputError(fmt::format("the id is '{}', expected that of the name", glossary.id));
  }
  glossary.created_ms = json.at("created_ms");
  for (const Json& item : json.at("dictionaries")) {
    const auto terms = std::make_shared<Glossary>();
    for (const auto& [source, target] : item.at("terms").items()) terms->add(source, target.get<std::string>());
    glossary.dictionaries.push_back({.source = item.at("source"), .target = item.at("target"), .terms = terms});
  }
  return glossary;
}

}  // namespace

const Dictionary* StoredGlossary::find(std::string_view source, std::string_view target) const {
  const auto place = std::ranges::find_if(
      dictionaries, [&](const Dictionary& each) { return each.source == source && each.target == target; });
  return place != dictionaries.end() ? &*place : nullptr;
}

Glossaries::Glossaries(const std::string& folder) : folder_(folder) {
  if (folder.empty()) return;
  const MutexLock lock(mutex_);
  try {
    fs::create_directories(folder);
    for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
      if (file.path().extension() != kExtension) continue;
      try {
        auto glossary = std::make_shared<const StoredGlossary>(from_file(file.path()));
        glossaries_.emplace(glossary->id, std::move(glossary));
      } catch (const Json::exception& error) {
        spdlog::warn("{}: not a glossary, so it is not used: {}", file.path().string(), error.what());
      } catch (const Error& error) {
        spdlog::warn("{}: not a glossary, so it is not used: {}", file.path().string(), error.what());
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw FileError(fmt::format("{}: {}", folder, error.code().message()));
  }
}

std::vector<Glossaries::Stored> Glossaries::list(std::string_view owner) const {
  const MutexLock lock(mutex_);
  std::vector<Stored> all;
  for (const auto& [id, glossary] : glossaries_) {
    if (glossary->owner == owner) all.push_back(glossary);
  }
  std::ranges::stable_sort(all, {}, [](const Stored& glossary) { return glossary->created_ms; });
  return all;
}

Glossaries::Stored Glossaries::find_locked(std::string_view owner, std::string_view id) const {
  const auto place = glossaries_.find(id);
  if (place == glossaries_.end() || place->second->owner != owner) throw HttpError(404, "no such glossary");
  return place->second;
}

Glossaries::Stored Glossaries::find(std::string_view owner, std::string_view id) const {
  const MutexLock lock(mutex_);
  return find_locked(owner, id);
}

Glossaries::Stored Glossaries::put(StoredGlossary glossary) {
  std::size_t count = 1, bytes = bytes_of(glossary);
  for (const auto& [id, other] : glossaries_) {
    if (other->owner != glossary.owner || id == glossary.id) continue;
    ++count;
    bytes += bytes_of(*other);
  }
  if (count > kMaxGlossaries) {
    throw HttpError(456, fmt::format("{} glossaries, expected at most {}", count, kMaxGlossaries));
  }
  if (bytes > kMaxOwnerBytes) {
    throw HttpError(456, fmt::format("glossaries of {} bytes, expected at most {}", bytes, kMaxOwnerBytes));
  }
  if (!folder_.empty()) {
    const fs::path path = fs::path(folder_) / fmt::format("{}{}", glossary.id, kExtension);
    NewFile file(path, NewFile::Kind::output, "the file of a glossary");
    file.write(to_file(glossary));
    file.commit();
  }
  return glossaries_[glossary.id] = std::make_shared<const StoredGlossary>(glossary);
}

Glossaries::Stored Glossaries::add(StoredGlossary glossary) {
  using std::chrono::system_clock;
  glossary.id = random_id();
  glossary.created_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
  const MutexLock lock(mutex_);
  return put(std::move(glossary));
}

Glossaries::Stored Glossaries::change(std::string_view owner, std::string_view id,
                                      const std::function<void(StoredGlossary&)>& change) {
  const MutexLock lock(mutex_);
  StoredGlossary changed = *find_locked(owner, id);
  change(changed);
  return put(std::move(changed));
}

void Glossaries::remove(std::string_view owner, std::string_view id) {
  const MutexLock lock(mutex_);
  const Stored glossary = find_locked(owner, id);
  if (!folder_.empty()) {
    std::error_code error;
    fs::remove(fs::path(folder_) / fmt::format("{}{}", glossary->id, kExtension), error);
    if (error) throw FileError("the file of a glossary: cannot remove it: " + error.message());
  }
  glossaries_.erase(glossary->id);
}

std::string owner_of(const Call& call, std::string_view key_in_body) {
  if (call.parts().settings.keys.empty()) return {};
  const std::string& key = match_of(call.request()).key;
  const std::string_view used = key.empty() ? key_in_body : std::string_view(key);
  const boost::uuids::name_generator_sha1 hash(boost::uuids::ns::oid());
  return boost::uuids::to_string(hash(used.data(), used.size()));
}

std::shared_ptr<const Glossary> read_entries(const std::string& entries, const std::string& format) {
  if (entries.size() > Glossary::kMaxFileBytes) {
    throw HttpError(413,
                    fmt::format("entries of {} bytes, expected at most {}", entries.size(), Glossary::kMaxFileBytes));
  }
  const auto glossary = std::make_shared<Glossary>();
  if (format == "csv") {
    const std::size_t lines = glossary->parse(entries, "entries.csv");
    if (lines > glossary->terms().size()) throw HttpError(400, "entries: a source is repeated, expected each once");
  } else if (format == "tsv") {
    std::string_view rest = entries;
    for (std::size_t number = 1; !rest.empty(); ++number) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.empty()) continue;
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos) {
        throw HttpError(400, fmt::format("entries: line {} has no tab, expected a term, a tab and a term", number));
      }
      const std::size_t before = glossary->terms().size();
      glossary->add(line.substr(0, tab), line.substr(tab + 1));
      if (glossary->terms().size() == before) {
        throw HttpError(400, fmt::format("entries: line {} repeats the source of another line", number));
      }
    }
  } else {
    throw HttpError(400, fmt::format("Value for 'entries_format' is '{}', expected tsv or csv", shown(format)));
  }
  if (glossary->terms().empty()) throw HttpError(400, "'entries' has no terms, expected some");
  for (const auto& [source, target] : glossary->terms()) {
    if (std::max(source.size(), target.size()) <= kMaxTermBytes) continue;
    throw HttpError(400, fmt::format("entries: a term of {} bytes, expected at most {}",
                                     std::max(source.size(), target.size()), kMaxTermBytes));
  }
  return glossary;
}

std::string write_entries(const Glossary& glossary) {
  std::string entries;
  for (const auto& [source, target] : glossary.terms()) entries += fmt::format("{}\t{}\n", source, target);
  return entries;
}

std::shared_ptr<const Glossary> find_terms(const Call& call, const std::vector<std::string>& ids,
                                           const std::string& owner, const std::string& source,
                                           const std::string& target) {
  if (ids.empty()) return nullptr;
  if (ids.size() > kMaxIds)
    throw HttpError(400, fmt::format("{} glossaries, expected at most {}", ids.size(), kMaxIds));
  if (source.empty()) throw HttpError(400, "a glossary without a source language, expected one");
  const auto all = std::make_shared<Glossary>();
  for (const std::string& id : ids) {
    Glossaries::Stored glossary;
    try {
      glossary = call.parts().glossaries.find(owner, id);
    } catch (const HttpError&) {
      throw HttpError(400, fmt::format("Value for 'glossary_id' not supported: no glossary '{}'", shown(id)));
    }
    const Dictionary* dictionary = glossary->find(canonical_language(source), canonical_language(target));
    if (dictionary == nullptr) {
      throw HttpError(400, fmt::format("glossary '{}' has no terms from '{}' to '{}'", glossary->name, shown(source),
                                       shown(target)));
    }
    if (ids.size() == 1) return dictionary->terms;
    all->include(dictionary->terms);
  }
  return all;
}

}  // namespace encdec::serve
