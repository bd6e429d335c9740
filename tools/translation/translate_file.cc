#include "encdec/translation/translate_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/mapped_file.h"
#include "encdec/models/checkpoint/new_file.h"
#include "encdec/models/checkpoint/packed_weights_file.h"
#include "encdec/models/model/fingerprint.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;

// Version of the format of progress files, stored in the first line. Increase the version if texts are segmented
// differently, or if the output of DocumentJob::take() changes.
constexpr int kProgressVersion = 3;
constexpr std::string_view kProgress = "encdec progress ";

// A progress file. Its first line is the key of the translation. Every other line is the result of
// one DocumentJob::take().
class Progress {
 public:
  // Restores the results of an earlier translation with the same key into `job`. Throws FileError
  // rather than replace another file. Does not follow symlinks or wait for pipes.
  Progress(fs::path path, const std::string& key, DocumentJob& job) : path_(std::move(path)), lines_(key + '\n') {
    std::error_code unknown;
    const fs::file_type type = fs::symlink_status(path_, unknown).type();
    is_new_ = type == fs::file_type::not_found;
    if (is_new_) return;
    std::ifstream file;
    if (type == fs::file_type::regular) file.open(path_, std::ios::binary);
    std::string line;
    if (!file.is_open() || (std::getline(file, line) && !line.starts_with(kProgress))) {
      refuse(path_.string(), "not a translation's progress file, expected one or no file of this name");
    }
    if (line != key) return;
    while (std::getline(file, line) && job.restore(line)) lines_ += line + '\n';
  }
  // Adds a line. The first call rewrites the file, without lines that could not be restored. Ignores errors, which only
  // cost time if the translation is interrupted again.
  void add(const std::string& line) {
    if (file_ == nullptr) remove(), file_.reset(std::fopen(path_.c_str(), "wbx"));
    if (file_ == nullptr) return;
    const std::string text = std::exchange(lines_, "") + line + '\n';
    std::fwrite(text.data(), 1, text.size(), file_.get());
    std::fflush(file_.get());
  }
  void remove() {
    std::error_code ignored;
    if (!is_new_ || file_ != nullptr) fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
  std::string lines_;  // lines to write before the first new line
  bool is_new_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

// Returns the first line of a progress file: a hash of the file, the models and the options.
std::string key_of(const std::string& bytes, std::span<const Model> models, const DocumentJob& job,
                   DocumentFormat format, const TranslateFileOptions& options) {
  const TranslateOptions& translate = options.translate;
  const DocumentOptions& document = options.document;
  ContentHasher hasher;
  hasher.add_text(bytes);
  for (const Model& model : models) hasher.add_text(model.fingerprint());
  hasher.add_text(fmt::format("{} {} {} {} {} {}", job.source(), translate.target, translate.via,
                              name_of(kDocumentFormats, format), static_cast<int>(translate.split),
                              translate.generate.num_beams.value_or(0)));
  hasher.add_text(
      fmt::format("{} {} {}", document.target_language, static_cast<int>(document.entries), document.join_gap));
  if (translate.glossary) {
    for (const auto& [source, target] : translate.glossary->terms()) hasher.add_text(source + '\t' + target);
  }
  return fmt::format("{}{} {}", kProgress, kProgressVersion, to_string(hasher.hash()));
}

// Runs a job to its end. Returns the translated file.
std::string translated(DocumentJob& job, std::span<const Model> models, const TranslateFileOptions& options,
                       Progress* progress, nlohmann::ordered_json* report) {
  while (TranslationJob* next = job.next()) {
    const std::string saved = job.take(translate(models, *next));
    if (progress != nullptr) progress->add(saved);
    if (options.on_progress) options.on_progress(job.done(), job.size());
  }
  WrittenDocument written = job.write();
  if (report != nullptr) *report = job.report(written);
  return std::move(written.bytes);
}

}  // namespace

std::string translate_document(std::string bytes, const std::string& name, std::span<const Model> models,
                               const TranslationRoutes& routes, const TranslateFileOptions& options,
                               nlohmann::ordered_json* report) {
  DocumentJob job(Document::parse(std::move(bytes), format_or_that_of(name, options.format), name, options.document),
                  models, routes, options.translate);
  return translated(job, models, options, nullptr, report);
}

std::string translated_name(const fs::path& source, const std::string& language) {
  return fmt::format("{}.{}{}", source.stem().string(), language, source.extension().string());
}

void translate_file(const fs::path& source, const fs::path& target, std::span<const Model> models,
                    const TranslationRoutes& routes, const TranslateFileOptions& options,
                    nlohmann::ordered_json* report) {
  const std::string bytes = read_text_file(source, kMaxDocumentBytes), name = source.string();
  const DocumentFormat format = format_or_that_of(name, options.format);
  if (std::error_code unknown; fs::equivalent(source, target, unknown)) {
    throw InputError(fmt::format("{}: the translation would replace it, expected another output", name));
  }
  DocumentJob job(Document::parse(bytes, format, name, options.document), models, routes, options.translate);
  NewFile file(target, NewFile::Kind::output, target.string());
  Progress progress(target.string() + ".progress", key_of(bytes, models, job, format, options), job);
  file.write(translated(job, models, options, &progress, report));
  file.commit();
  progress.remove();
}

}  // namespace encdec
