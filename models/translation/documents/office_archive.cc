#include "encdec/models/translation/documents/office_archive.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "encdec/engine/base/refuse.h"
#include "encdec/models/translation/documents/xml.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMaxEntries = 10'000;
constexpr std::size_t kMaxArchiveBytes = std::size_t{1} << 31;

// Places in an entry's header in the directory, as in PKWARE's APPNOTE 6.3, section 4.3.12.
constexpr std::size_t kFlags = 8, kChecksum = 16, kCompressedSize = 20, kSize = 24, kNameBytes = 28, kExtraBytes = 30,
                      kCommentBytes = 32, kOffset = 42, kHeaderBytes = 46;
constexpr std::uint32_t kSizesFollow = 1u << 3;

void put(std::string& bytes, std::size_t place, std::uint32_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[place + i] = static_cast<char>(number >> (8 * i));
}

std::uint32_t number_at(std::string_view bytes, std::size_t place, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number |= std::uint32_t{static_cast<unsigned char>(bytes[place + i])} << (8 * i);
  return number;
}

std::string deflated(std::string_view content) {
  uLongf size = compressBound(content.size());
  std::string data(size, '\0');
  const auto* source = reinterpret_cast<const Bytef*>(content.data());
  if (compress(reinterpret_cast<Bytef*>(data.data()), &size, source, content.size()) != Z_OK) throw std::bad_alloc();
  constexpr std::size_t kBefore = 2, kBehind = 4;  // zlib adds them to deflated data
  return data.substr(kBefore, size - kBefore - kBehind);
}

// Returns the name of the entry to which a link in a folder leads, with "..", "." and "%20" resolved.
std::string resolved(std::string_view folder, std::string_view link) {
  std::string path(folder);
  link = link.substr(0, link.find('#'));
  for (std::size_t i = 0; i < link.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = link.data() + i + 1;
    if (link[i] == '%' && i + 2 < link.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      path += static_cast<char>(byte);
      i += 2;
    } else {
      path += link[i];
    }
  }
  return std::filesystem::path(path).relative_path().lexically_normal().string();
}

// The parts of Office Open XML files by the ends of their content types, in the order in which they are read.
constexpr std::array<std::string_view, 5> kWordTypes = {"main+xml", ".header+xml", ".footer+xml", ".footnotes+xml",
                                                        ".endnotes+xml"};
constexpr std::array<std::string_view, 2> kSlideTypes = {".slide+xml", ".notesSlide+xml"};

// An entry in XML.
struct PartTokens {
  PartTokens(const OfficeArchive& archive, std::string_view entry)
      : bytes(archive.read(entry)), xml({bytes, fmt::format("{}: {}", archive.name(), printable(entry))}) {}

  const std::string bytes;
  const XmlTokens xml;
};

std::vector<OfficePart> office_open_parts(const OfficeArchive& archive, std::span<const std::string_view> types) {
  const PartTokens list(archive, "[Content_Types].xml");
  std::vector<OfficePart> parts;
  for (const std::string_view type : types) {
    for (std::size_t i = 0; i < list.xml.size(); ++i) {
      if (list.xml.name(i) != "Override" || !list.xml.attribute(i, "ContentType").ends_with(type)) continue;
      parts.push_back({resolved("", list.xml.attribute(i, "PartName")), read_office_part});
    }
  }
  return parts;
}

std::vector<OfficePart> book_parts(const OfficeArchive& archive) {
  const PartTokens container(archive, "META-INF/container.xml");
  std::string package;
  for (std::size_t i = 0; i < container.xml.size() && package.empty(); ++i) {
    if (container.xml.name(i) == "rootfile") package = resolved("", container.xml.attribute(i, "full-path"));
  }
  const PartTokens tokens(archive, package);
  const XmlTokens& xml = tokens.xml;
  const std::string folder = package.substr(0, package.rfind('/') + 1);
  std::map<std::string, std::string, std::less<>> pages;  // identifier -> name
  std::vector<OfficePart> parts, rest;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml.name(i) != "item") continue;
    const std::string name = resolved(folder, xml.attribute(i, "href")), type = xml.attribute(i, "media-type");
    const bool is_page = type == "application/xhtml+xml";
    if (is_page) pages.emplace(xml.attribute(i, "id"), name);
    if (is_page || type == "application/x-dtbncx+xml") rest.push_back({name, is_page ? read_xhtml : read_contents});
  }
  for (std::size_t i = 0; i < xml.size(); ++i) {
    const auto page = xml.name(i) == "itemref" ? pages.find(xml.attribute(i, "idref")) : pages.end();
    if (page != pages.end()) parts.push_back({page->second, read_xhtml});
  }
  parts.insert(parts.end(), rest.begin(), rest.end());
  parts.push_back({package, read_package});
  return parts;
}

}  // namespace

OfficeArchive::OfficeArchive(std::string_view bytes, const std::string& name, std::uint64_t max_bytes)
    : bytes_(bytes), zip_({.bytes = std::as_bytes(std::span(bytes)), .owner = nullptr, .name = name}) {
  if (bytes.size() >= kMaxArchiveBytes) refuse(name, "{} bytes, expected less than {}", bytes.size(), kMaxArchiveBytes);
  if (zip_.entries().size() > kMaxEntries) {
    refuse(name, "{} entries, expected at most {}", zip_.entries().size(), kMaxEntries);
  }
  std::uint64_t content = 0;
  for (const ZipEntry& entry : zip_.entries()) content += std::min(entry.size, max_bytes + 1);
  if (content > max_bytes) refuse(name, "{} bytes of content, expected at most {}", content, max_bytes);
}

std::string OfficeArchive::read(std::string_view entry) const {
  const ZipEntry* found = zip_.find(entry);
  if (found == nullptr) refuse(name(), "no entry '{}', expected one", printable(entry));
  return std::string(as_text(zip_.read(*found).bytes));
}

std::string OfficeArchive::with(const std::vector<NewContent>& changed) const {
  std::vector<const ZipEntry*> entries;
  for (const ZipEntry& entry : zip_.entries()) entries.push_back(&entry);
  std::ranges::sort(entries, {}, &ZipEntry::begin);
  std::map<std::string_view, std::string_view> contents;
  for (const NewContent& content : changed) contents.emplace(content.name, content.bytes);
  std::map<std::size_t, std::string> headers;  // new ones, by their places in the old directory
  for (const ZipEntry* entry : entries) {
    const auto place = static_cast<std::size_t>(entry->directory_begin);
    const std::size_t size = kHeaderBytes + number_at(bytes_, place + kNameBytes, 2) +
                             number_at(bytes_, place + kExtraBytes, 2) + number_at(bytes_, place + kCommentBytes, 2);
    headers[place] = bytes_.substr(place, size);
  }
  const std::size_t directory_begin = headers.empty() ? 0 : headers.begin()->first;
  const std::size_t directory_end = headers.empty() ? 0 : headers.rbegin()->first + headers.rbegin()->second.size();
  std::string archive(bytes_.substr(0, entries.empty() ? 0 : static_cast<std::size_t>(entries.front()->begin)));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ZipEntry& entry = *entries[i];
    std::string& header = headers[static_cast<std::size_t>(entry.directory_begin)];
    put(header, kOffset, static_cast<std::uint32_t>(archive.size()), 4);
    const auto content = contents.find(entry.name);
    if (content == contents.end()) {
      const std::size_t end =
          i + 1 < entries.size() ? static_cast<std::size_t>(entries[i + 1]->begin) : directory_begin;
      archive += ByteRange{static_cast<std::size_t>(entry.begin), end}.of(bytes_);
      continue;
    }
    const std::string_view plain = content->second;
    const std::string data = entry.method == ZipEntry::Method::stored ? std::string(plain) : deflated(plain);
    const auto checksum = crc32_z(0, reinterpret_cast<const Bytef*>(plain.data()), plain.size());
    put(header, kFlags, number_at(header, kFlags, 2) & ~kSizesFollow, 2);
    put(header, kChecksum, static_cast<std::uint32_t>(checksum), 4);
    put(header, kCompressedSize, static_cast<std::uint32_t>(data.size()), 4);
    put(header, kSize, static_cast<std::uint32_t>(plain.size()), 4);
    header.erase(kHeaderBytes + entry.name.size(), number_at(header, kExtraBytes, 2));
    put(header, kExtraBytes, 0, 2);
    // The local header has the fields from "version needed" to "extra bytes" of the directory's header.
    constexpr std::size_t kCommonBegin = 6;
    archive += "PK\x03\x04" + header.substr(kCommonBegin, kCommentBytes - kCommonBegin) + entry.name + data;
  }
  const auto offset = static_cast<std::uint32_t>(archive.size());
  for (const auto& [place, header] : headers) archive += header;
  const auto size = static_cast<std::uint32_t>(archive.size()) - offset;
  constexpr std::size_t kEndBytes = 22;
  std::string end(bytes_.substr(bytes_.find("PK\x05\x06", directory_end)));
  put(end, 4, 0, 4);  // disks
  put(end, 8, static_cast<std::uint32_t>(entries.size()), 2);
  put(end, 10, static_cast<std::uint32_t>(entries.size()), 2);
  put(end, 12, size, 4);
  put(end, 16, offset, 4);
  put(end, kEndBytes - 2, static_cast<std::uint32_t>(end.size() - kEndBytes), 2);
  return archive + end;
}

std::vector<OfficePart> office_parts(const OfficeArchive& archive, DocumentFormat format) {
  std::vector<OfficePart> parts;
  if (format == DocumentFormat::docx) parts = office_open_parts(archive, kWordTypes);
  if (format == DocumentFormat::pptx) parts = office_open_parts(archive, kSlideTypes);
  if (format == DocumentFormat::epub) parts = book_parts(archive);
  if (format == DocumentFormat::odt) {
    parts = {{"content.xml", read_open_document_part}, {"styles.xml", read_open_document_part}};
  }
  std::set<std::string> names;
  std::erase_if(parts,
                [&](const OfficePart& part) { return !archive.has(part.name) || !names.insert(part.name).second; });
  if (parts.empty()) refuse(archive.name(), "no texts of {}, expected a document of this format", to_string(format));
  return parts;
}

}  // namespace encdec::documents
