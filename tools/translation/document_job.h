#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encdec/translation/documents/document.h"
#include "encdec/translation/translation_job.h"

namespace encdec {

// The translation of a document, some segments at a time, without the running of models (see TranslationJob). Not for
// several threads at once. Order of calls: restore* (next take)* (write | report), until next() returns null.
class DocumentJob {
 public:
  // Keeps references. If the options name no source language, it is detected in the text of the whole document. Throws
  // InputError for languages without a route.
  DocumentJob(Document document, std::span<const Model> models, const TranslationRoutes& routes,
              TranslateOptions options);

  const std::string& source() const { return options_.source; }  // canonical code
  std::size_t size() const { return document_.segments().size(); }
  std::size_t done() const { return translations_.size(); }  // translated segments

  // Returns the translation of the next segments, to be run; null if all are translated.
  TranslationJob* next();
  // Takes the results of that job. Returns them as text for restore().
  std::string take(std::vector<Translation> translations);
  // Takes what take() returned for the next segments of an equal job. Returns false, and takes nothing, if the text
  // does not fit.
  bool restore(std::string_view saved);

  // Returns the document with its translations. REQUIRES: all segments are translated.
  WrittenDocument write() const;
  // Returns a list with an object for each segment:
  //   {"where", "source", "target", "terms": [{"source", "target", "method"}], "problem"}
  // "terms" and "problem" only if there are any. "problem" says why a translation was not used, or
  // Translation::problem. `written` is the result of write().
  nlohmann::ordered_json report(const WrittenDocument& written) const;

 private:
  Document document_;
  std::span<const Model> models_;
  const TranslationRoutes& routes_;
  TranslateOptions options_;
  std::vector<Translation> translations_;
  std::optional<TranslationJob> job_;
};

}  // namespace encdec
