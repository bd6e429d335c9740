#include "serve/document_request.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/tokenizer/base/lower_case.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "serve/translation.h"

namespace encdec::serve {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kTypes = {{
    {".text", "text/plain; charset=utf-8"},
    {".txt", "text/plain; charset=utf-8"},
    {".properties", "text/plain"},
    {".md", "text/markdown; charset=utf-8"},
    {".markdown", "text/markdown; charset=utf-8"},
    {".html", "text/html; charset=utf-8"},
    {".htm", "text/html; charset=utf-8"},
    {".xhtml", "application/xhtml+xml"},
    {".xht", "application/xhtml+xml"},
    {".xml", "application/xml"},
    {".srt", "application/x-subrip; charset=utf-8"},
    {".vtt", "text/vtt; charset=utf-8"},
    {".po", "text/x-gettext-translation; charset=utf-8"},
    {".xlf", "application/xliff+xml"},
    {".xliff", "application/xliff+xml"},
    {".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    {".odt", "application/vnd.oasis.opendocument.text"},
    {".odp", "application/vnd.oasis.opendocument.presentation"},
    {".ods", "application/vnd.oasis.opendocument.spreadsheet"},
    {".epub", "application/epub+zip"},
}};

std::string extension_of(const std::string& name) {
  return name.substr(std::min(name.rfind('.'), name.size()));
}

std::string_view media_type_of(const std::string& name) {
  const std::string extension = lower_case(extension_of(name));
  const auto* row = std::ranges::find(kTypes, std::string_view(extension), [](const auto& type) { return type.first; });
  return row != kTypes.end() ? row->second : "application/octet-stream";
}

// Returns an estimate of the memory of a document.
std::size_t memory_of(const Document& document) {
  std::size_t bytes = 0;
  for (const Segment& segment : document.segments()) {
    bytes += sizeof segment + segment.text.size() + segment.codes.size() * sizeof(InlineCode) +
             segment.placeholders.size() * sizeof(Placeholder) + segment.cuts.size() * sizeof(Cut);
    for (const InlineCode& code : segment.codes) bytes += code.markup.size();
  }
  return 3 * bytes;  // in the document, in its reader, and in the translations
}

}  // namespace

DocumentRequest read_document(const Call& call, const Parameters& parameters, const std::string& target,
                              Downloads::Upload& upload) {
  const FormPart* file = parameters.file("file");
  if (file == nullptr || file->content.empty()) throw HttpError(400, "Invalid request: missing file parameter");
  std::string file_name = file->file_name;
  file_name.erase(0, file_name.find_last_of("/\\") + 1);
  const auto format = format_of(file_name);
  if (!format) {
    throw HttpError(400, fmt::format("'{}' has no known file format, expected the extension {}", shown(file_name),
                                     fmt::join(document_extensions(), ", ")));
  }
  // The form and the request keep the file too.
  const std::size_t bytes = 3 * call.request().body.size();
  upload.set_bytes(bytes);
  // Limits the memory for the elements of a file, which is many times that of its text.
  constexpr std::size_t kInflated = 4;
  DocumentOptions options;
  options.target_language = canonical_language(target);
  options.max_content_bytes = kInflated * call.parts().settings.http.body_bytes;
  const auto parse = [&] {
    try {
      return Document::parse(file->content, *format, std::string(shown(file_name)), options);
    } catch (const FileError& error) {
      throw HttpError(400, error.what());
    }
  };
  DocumentRequest request{.name = file_name, .document = parse()};
  check_sentences(call, request.document.segments().size());
  upload.set_bytes(bytes + memory_of(request.document));
  return request;
}

std::string translated_name(const std::string& name, const std::string& target) {
  const std::string extension = extension_of(name);
  return fmt::format("{}_{}{}", name.substr(0, name.size() - extension.size()), target, extension);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kKept = "-._";
  std::string encoded;
  for (const char c : text) {
    const bool is_kept = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         kKept.find(c) != std::string_view::npos;
    encoded += is_kept ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

HttpResponse file_response(Downloads::File file) {
  const std::string name = percent_encoded(file.name);
  std::string plain = name;
  std::ranges::replace(plain, '%', '_');
  // RFC 6266, section 5: for clients that do not decode the second name.
  const std::string disposition = fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, name);
  return {.body = std::move(file.content),
          .content_type = std::string(media_type_of(file.name)),
          .headers = {{"Content-Disposition", disposition}, {"X-Content-Type-Options", "nosniff"}}};
}

}  // namespace encdec::serve
