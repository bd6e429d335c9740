#pragma once

#include <encdec/engine/base/mutex.h>
#include <encdec/models/translation/text/glossary.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace encdec::serve {

class Call;
class Parameters;

// The terms of a glossary for one pair of languages, as canonical codes.
struct Dictionary {
  std::string source, target;
  std::shared_ptr<const Glossary> terms;
};

// A glossary of DeepL's protocol.
struct StoredGlossary {
  std::string id = {}, name = {};
  std::string owner = {};       // owner_of() the request that has made it
  std::int64_t created_ms = 0;  // since 1970
  std::vector<Dictionary> dictionaries = {};

  // Returns the dictionary of a pair; null if there is none.
  const Dictionary* find(std::string_view source, std::string_view target) const;
};

// The glossaries of all clients: in memory and, if there is a folder, in a file ID.json each. A file is complete or not
// there. Thread-safe.
class Glossaries {
 public:
  using Stored = std::shared_ptr<const StoredGlossary>;

  // Reads the glossaries in a folder, which it makes. Logs damaged files and leaves them as they are. Keeps glossaries
  // in memory only if `folder` is empty. Throws FileError if the folder cannot be made or read.
  explicit Glossaries(const std::string& folder);

  // Returns the glossaries of an owner, oldest first.
  std::vector<Stored> list(std::string_view owner) const;
  // Returns a glossary. Throws HttpError, 404, if the owner has none with this id.
  Stored find(std::string_view owner, std::string_view id) const;
  // Stores a new glossary, with an id and the time. Throws HttpError, 456, for more than 1,000 glossaries of an owner,
  // or 256 MiB of terms. Throws FileError if its file cannot be written; then nothing is stored.
  Stored add(StoredGlossary glossary);
  // Stores a changed copy of a glossary. Throws as find() and add() do.
  Stored change(std::string_view owner, std::string_view id, const std::function<void(StoredGlossary&)>& change);
  void remove(std::string_view owner, std::string_view id);

 private:
  Stored find_locked(std::string_view owner, std::string_view id) const ENCDEC_REQUIRES(mutex_);
  Stored put(StoredGlossary glossary) ENCDEC_REQUIRES(mutex_);

  std::string folder_;
  mutable Mutex mutex_;
  std::map<std::string, Stored, std::less<>> glossaries_ ENCDEC_GUARDED_BY(mutex_);  // by id
};

// Returns whose glossaries a request uses: a hash of its API key, or an empty text if requests need no key.
std::string owner_of(const Call& call, std::string_view key_in_body = {});

// Reads the terms of a dictionary, "tsv" or "csv". Throws HttpError, 400, for another format, no terms, a term twice,
// and terms of more than 1,024 bytes; 413 for more than 10 MiB.
std::shared_ptr<const Glossary> read_entries(const std::string& entries, const std::string& format);
// Returns terms as TSV.
std::string write_entries(const Glossary& glossary);

// Returns the terms of glossaries for a pair of languages. If several have a term, the first one wins. Throws
// HttpError, 400, if there is no source language, more than five ids, an unknown id, or a glossary without the pair.
std::shared_ptr<const Glossary> find_terms(const Call& call, const std::vector<std::string>& ids,
                                           const std::string& owner, const std::string& source,
                                           const std::string& target);

}  // namespace encdec::serve
