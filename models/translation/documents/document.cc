#include "encdec/models/translation/documents/document.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/base/lower_case.h"
#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/models/translation/documents/office_archive.h"
#include "encdec/models/translation/documents/text_file.h"
#include "encdec/models/translation/text/word_list.h"

namespace encdec {

using namespace documents;

namespace {

struct FormatRow {
  DocumentFormat format;
  std::string_view extensions;
  ReadTexts* read;  // null for archives
};

constexpr std::array kRows = {
    FormatRow{DocumentFormat::text, "txt text", read_text},
    FormatRow{DocumentFormat::markdown, "md markdown", read_markdown},
    FormatRow{DocumentFormat::html, "html htm xhtml xht", read_html},
    FormatRow{DocumentFormat::srt, "srt", read_srt},
    FormatRow{DocumentFormat::vtt, "vtt", read_vtt},
    FormatRow{DocumentFormat::po, "po pot", read_po},
    FormatRow{DocumentFormat::xliff, "xlf xliff", read_xliff},
    FormatRow{DocumentFormat::android, "xml", read_android},
    FormatRow{DocumentFormat::properties, "properties", read_properties},
    FormatRow{DocumentFormat::docx, "docx dotx docm", nullptr},
    FormatRow{DocumentFormat::pptx, "pptx potx pptm", nullptr},
    FormatRow{DocumentFormat::odt, "odt ott odp otp ods ots", nullptr},
    FormatRow{DocumentFormat::epub, "epub", nullptr},
};

void check_encoding(const InputFile& input, bool may_be_latin = false) {
  if (input.bytes.starts_with("\xff\xfe") || input.bytes.starts_with("\xfe\xff")) {
    input.refuse_at(0, "UTF-16, expected UTF-8");
  }
  const auto byte = find_invalid_utf8(input.bytes);
  if (!byte || may_be_latin) return;
  const auto value = static_cast<unsigned char>(input.bytes[*byte]);
  input.refuse_at(*byte, fmt::format("byte {} is {:#04x}, expected UTF-8", *byte, value));
}

}  // namespace

struct Document::Content {
  struct Part {
    std::unique_ptr<const std::string> inflated;  // bytes of a part of an archive
    std::string name;                             // empty if the document is one part
    std::unique_ptr<TextFile> file;
  };
  struct Place {
    std::size_t part = 0, text = 0, line = 0;
  };

  std::string bytes;
  std::unique_ptr<OfficeArchive> archive;
  std::vector<Part> parts;
  std::vector<Segment> segments;
  std::vector<Place> places;  // one for each segment

  void add(Part part);
};

void Document::Content::add(Part part) {
  const std::vector<Text>& texts = part.file->texts();
  std::size_t line = 1, place = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t begin = std::max(place, texts[i].range.begin);
    line += static_cast<std::size_t>(std::ranges::count(ByteRange{place, begin}.of(part.file->bytes()), '\n'));
    place = begin;
    segments.push_back(texts[i].segment);
    places.push_back({.part = parts.size(), .text = i, .line = line});
  }
  parts.push_back(std::move(part));
}

std::optional<DocumentFormat> format_of(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == file_name.npos || file_name.find_first_of("/ ", dot) != file_name.npos) return std::nullopt;
  const std::string extension = lower_case(file_name.substr(dot + 1));
  const auto row = std::ranges::find_if(kRows, [&](const FormatRow& r) { return has_word(r.extensions, extension); });
  return row == kRows.end() ? std::nullopt : std::optional(row->format);
}

DocumentFormat format_or_that_of(const std::string& file_name, const std::optional<DocumentFormat>& format) {
  if (format) return *format;
  if (const auto known = format_of(file_name)) return *known;
  refuse<InputError>(file_name, "a name without a known extension, expected the format: {}",
                     fmt::join(names_of(kDocumentFormats), ", "));
}

std::vector<std::string> document_extensions() {
  std::vector<std::string> all;
  for (const FormatRow& row : kRows) {
    any_word(row.extensions, [&all](std::string_view extension) {
      all.push_back(fmt::format(".{}", extension));
      return false;
    });
  }
  return all;
}

Document Document::parse(std::string bytes, DocumentFormat format, const std::string& name,
                         const DocumentOptions& options) {
  const auto content = std::make_shared<Content>();
  content->bytes = std::move(bytes);
  const auto read = [&options](ReadTexts& reader, std::string_view part, const std::string& part_name) {
    const InputFile input = {part, part_name, options};
    check_encoding(input, &reader == read_properties);
    return reader(input);
  };
  const auto row = std::ranges::find(kRows, format, &FormatRow::format);
  if (row->read != nullptr) {
    content->add({.inflated = nullptr, .name = "", .file = read(*row->read, content->bytes, name)});
    return Document(content);
  }
  content->archive = std::make_unique<OfficeArchive>(content->bytes, name, options.max_content_bytes);
  for (const OfficePart& part : office_parts(*content->archive, format)) {
    auto inflated = std::make_unique<const std::string>(content->archive->read(part.name));
    auto file = read(*part.read, *inflated, fmt::format("{}: {}", name, printable(part.name)));
    content->add({.inflated = std::move(inflated), .name = part.name, .file = std::move(file)});
  }
  return Document(content);
}

Document Document::parse_xml_text(std::string bytes, std::span<const std::string> kept, const std::string& name) {
  const auto content = std::make_shared<Content>();
  content->bytes = std::move(bytes);
  const InputFile input = {content->bytes, name};
  check_encoding(input);
  content->add({.inflated = nullptr, .name = "", .file = read_xml_text(input, kept)});
  return Document(content);
}

const std::vector<Segment>& Document::segments() const {
  return content_->segments;
}

std::string Document::where(std::size_t segment) const {
  const Content::Place place = content_->places.at(segment);
  const Content::Part& part = content_->parts[place.part];
  const std::size_t paragraph = part.file->texts()[place.text].paragraph;
  const std::string where = paragraph > 0 ? fmt::format("paragraph {}", paragraph) : fmt::format("line {}", place.line);
  return part.name.empty() ? where : fmt::format("{}, {}", printable(part.name), where);
}

WrittenDocument Document::write(std::span<const Segment> translations) const {
  const Content& content = *content_;
  if (translations.size() != content.segments.size()) {
    throw InputError(fmt::format("{} translations, expected {}, one for each segment", translations.size(),
                                 content.segments.size()));
  }
  WrittenDocument written;
  std::vector<std::vector<Edit>> edits(content.parts.size());
  for (std::size_t i = 0; i < translations.size(); ++i) {
    const Content::Place place = content.places[i];
    const TextFile& file = *content.parts[place.part].file;
    if (translations[i].text.empty() || (!file.has_targets() && translations[i] == content.segments[i])) continue;
    try {
      file.edit(place.text, fit(content.segments[i], translations[i], file.nesting()), edits[place.part]);
    } catch (const UnusableTranslation& unusable) {
      written.unused.push_back({.segment = i, .reason = unusable.what()});
    }
  }
  if (std::ranges::all_of(edits, &std::vector<Edit>::empty)) {
    written.bytes = content.bytes;
    return written;
  }
  std::vector<NewContent> changed;
  for (std::size_t i = 0; i < content.parts.size(); ++i) {
    const TextFile& file = *content.parts[i].file;
    file.edit_rest(edits[i]);
    if (!edits[i].empty()) {
      changed.push_back({.name = content.parts[i].name, .bytes = file.with(std::move(edits[i]))});
    }
  }
  written.bytes = content.archive == nullptr ? std::move(changed.front().bytes) : content.archive->with(changed);
  return written;
}

}  // namespace encdec
