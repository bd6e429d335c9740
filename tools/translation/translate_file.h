#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "encdec/translation/document_job.h"

namespace encdec {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 28;  // maximum size of a file to translate

struct TranslateFileOptions {
  TranslateOptions translate = {};
  std::optional<DocumentFormat> format = {};  // if unset, the extension of the file decides
  DocumentOptions document = {};
  // Called after each batch of segments.
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

// Translates the content of a file called `name`. Writes DocumentJob::report() to `report` unless `report` is null.
// Throws InputError for an unknown extension; also throws as Document::parse() and TranslationJob do.
std::string translate_document(std::string bytes, const std::string& name, std::span<const Model> models,
                               const TranslationRoutes& routes, const TranslateFileOptions& options,
                               nlohmann::ordered_json* report = nullptr);

// Returns the default name of a translation: "a.de.srt" for "b/a.srt" and "de".
std::string translated_name(const std::filesystem::path& source, const std::string& language);

// Translates a file. `target` appears when it is complete. Until then, TARGET.progress contains the texts translated so
// far, and a later call with the same file, models and options resumes from there. Throws FileError, also if
// TARGET.progress is another kind of file, and InputError if both paths are one file.
void translate_file(const std::filesystem::path& source, const std::filesystem::path& target,
                    std::span<const Model> models, const TranslationRoutes& routes, const TranslateFileOptions& options,
                    nlohmann::ordered_json* report = nullptr);

}  // namespace encdec
