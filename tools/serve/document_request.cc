#include "serve/document_request.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "serve/translation.h"

namespace encdec::serve {
namespace {

std::string extension_of(const std::string& name) {
  return name.substr(std::min(name.rfind('.'), name.size()));
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
  std::size_t bytes = 3 * call.request().body.size();
  upload.set_bytes(bytes);
  DocumentOptions options;
  options.target_language = canonical_language(target);
  options.on_memory = [&](std::size_t taken) { upload.set_bytes(bytes += taken); };
  const auto parse = [&] {
    try {
      return Document::parse(file->content, *format, std::string(shown(file_name)), options);
    } catch (const FileError& error) {
      throw HttpError(400, error.what());
    }
  };
  DocumentRequest request{.name = file_name, .document = parse()};
  check_sentences(call, request.document.segments().size());
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
  HttpResponse response{.body = std::move(file.content),
                        .content_type = std::string(media_type_of(file.name)),
                        .headers = {{"Content-Disposition", disposition}, {"X-Content-Type-Options", "nosniff"}}};
  if (!file.problem.empty()) response.headers.emplace_back("X-Problem", file.problem);
  return response;
}

}  // namespace encdec::serve
