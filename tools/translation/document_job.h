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

// The translation of a document, one batch of segments at a time. The caller runs the models, as for TranslationJob.
// Not thread-safe. Order of calls, until next() returns null: restore* (next take)* (write | report).
class DocumentJob {
 public:
  // Keeps references. Detects the source language in the first 16 KiB of text if the options name
  // none. Throws InputError for languages without a route.
  DocumentJob(Document document, std::span<const Model> models, const TranslationRoutes& routes,
              TranslateOptions options);

  const std::string& source() const { return options_.source; }  // canonical code
  std::size_t size() const { return document_.segments().size(); }
  std::size_t done() const { return translations_.size(); }  // translated segments

  // Returns the job for the next segments, which the caller runs; null if all segments are translated.
  TranslationJob* next();
  // Stores the results of the job that next() returned. Returns them as text for restore().
  std::string take(std::vector<Translation> translations);
  // Restores results from the text that take() of an equal job returned. Returns false, without any change, if the text
  // does not fit the next segments.
  bool restore(std::string_view saved);

  // Returns the document with its translations. REQUIRES: all segments are translated.
  WrittenDocument write() const;
  // Returns a list with an object for each segment:
  //   {"where", "source", "target", "terms": [{"source", "target", "method"}], "problem"}
  // "terms" and "problem" are optional. "problem": why the translation was not used, or
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
