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
  std::optional<DocumentFormat> format = {};  // unset: that of the file's name
  DocumentOptions document = {};
  // Called after some segments have been translated.
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

// Translates the content of a file called `name`. `report`, if not null, gets DocumentJob::report(). Throws InputError
// for a name without a known format, and as Document::parse() and TranslationJob do.
std::string translate_document(std::string bytes, const std::string& name, std::span<const Model> models,
                               const TranslationRoutes& routes, const TranslateFileOptions& options,
                               nlohmann::ordered_json* report = nullptr);

// Returns the usual name of a file's translation: "a.de.srt" for "b/a.srt" and "de".
std::string translated_name(const std::filesystem::path& source, const std::string& language);

// Translates a file. `target` gets its name when it is complete. Until then TARGET.progress has the texts translated so
// far, and a later call with the same file, models and options continues from them. Throws FileError too, also if
// TARGET.progress is another file. Throws InputError if both paths name one file.
void translate_file(const std::filesystem::path& source, const std::filesystem::path& target,
                    std::span<const Model> models, const TranslationRoutes& routes, const TranslateFileOptions& options,
                    nlohmann::ordered_json* report = nullptr);

}  // namespace encdec
