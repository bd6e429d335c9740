#include "encdec/models/translation/documents/office_archive.h"

#include <zlib.h>

#include <algorithm>
#include <array>
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
  z_stream stream{};
  // Negative window bits: no zlib header and no checksum.
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string data(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(data.data());
  stream.avail_out = static_cast<uInt>(data.size());
  deflate(&stream, Z_FINISH);
  data.resize(stream.total_out);
  deflateEnd(&stream);
  return data;
}

// Returns the part of a path behind `folder`, with "..", "." and "%20" resolved.
std::string resolved(std::string_view folder, std::string_view link) {
  std::string path(folder);
  link = link.substr(0, link.find('#'));
  for (std::size_t i = 0; i < link.size(); ++i) {
    const auto digit = [&](std::size_t at) { return std::string_view("0123456789abcdefABCDEF").find(link[at]); };
    if (link[i] == '%' && i + 2 < link.size() && digit(i + 1) != link.npos && digit(i + 2) != link.npos) {
      const auto value = [&](std::size_t at) { return digit(at) < 16 ? digit(at) : digit(at) - 6; };
      path += static_cast<char>(16 * value(i + 1) + value(i + 2));
      i += 2;
    } else {
      path += link[i];
    }
  }
  std::vector<std::string_view> names;
  for (std::string_view left = path; !left.empty();) {
    const std::size_t end = std::min(left.find('/'), left.size());
    const std::string_view part = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    if (part == ".." && !names.empty()) names.pop_back();
    if (part != ".." && part != "." && !part.empty()) names.push_back(part);
  }
  return fmt::format("{}", fmt::join(names, "/"));
}

// The parts of Office Open XML files by the ends of their content types, in the order in which they are read.
constexpr std::array<std::string_view, 5> kWordTypes = {"main+xml", ".header+xml", ".footer+xml", ".footnotes+xml",
                                                        ".endnotes+xml"};
constexpr std::array<std::string_view, 2> kSlideTypes = {".slide+xml", ".notesSlide+xml"};

std::vector<OfficePart> office_open_parts(const OfficeArchive& archive, std::span<const std::string_view> types) {
  constexpr std::string_view kTypes = "[Content_Types].xml";
  const std::string bytes = archive.read(kTypes);
  const XmlTokens xml(bytes, fmt::format("{}: {}", archive.name(), kTypes));
  std::vector<OfficePart> parts;
  for (const std::string_view type : types) {
    for (std::size_t i = 0; i < xml.size(); ++i) {
      if (xml.name(i) != "Override" || !xml.attribute(i, "ContentType").ends_with(type)) continue;
      const std::string name = resolved("", xml.attribute(i, "PartName"));
      if (archive.has(name)) parts.push_back({.name = name, .read = read_office_part});
    }
  }
  return parts;
}

std::vector<OfficePart> book_parts(const OfficeArchive& archive) {
  constexpr std::string_view kContainer = "META-INF/container.xml";
  const std::string container_bytes = archive.read(kContainer);
  const XmlTokens container(container_bytes, fmt::format("{}: {}", archive.name(), kContainer));
  std::string package;
  for (std::size_t i = 0; i < container.size() && package.empty(); ++i) {
    if (container.name(i) == "rootfile") package = resolved("", container.attribute(i, "full-path"));
  }
  const std::string bytes = archive.read(package);
  const XmlTokens xml(bytes, fmt::format("{}: {}", archive.name(), printable(package)));
  const std::string folder = package.substr(0, package.rfind('/') + 1);
  std::map<std::string, std::string, std::less<>> pages;  // identifier -> name
  std::vector<OfficePart> parts, rest;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml.name(i) != "item") continue;
    const std::string name = resolved(folder, xml.attribute(i, "href")), type = xml.attribute(i, "media-type");
    if (type == "application/xhtml+xml" && archive.has(name)) {
      pages.emplace(xml.attribute(i, "id"), name);
      rest.push_back({.name = name, .read = read_xhtml});
    }
    if (type == "application/x-dtbncx+xml" && archive.has(name)) rest.push_back({.name = name, .read = read_contents});
  }
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml.name(i) != "itemref") continue;
    const auto page = pages.find(xml.attribute(i, "idref"));
    if (page != pages.end()) parts.push_back({.name = page->second, .read = read_xhtml});
  }
  parts.insert(parts.end(), rest.begin(), rest.end());
  parts.push_back({.name = package, .read = read_package});
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
  std::map<std::string_view, std::string_view> contents;
  for (const NewContent& content : changed) contents.emplace(content.name, content.bytes);
  std::size_t directory_end = 0, directory_begin = bytes_.size();
  for (const ZipEntry* entry : entries) {
    const auto begin = static_cast<std::size_t>(entry->directory_begin);
    const std::size_t more = number_at(bytes_, begin + kNameBytes, 2) + number_at(bytes_, begin + kExtraBytes, 2) +
                             number_at(bytes_, begin + kCommentBytes, 2);
    directory_begin = std::min(directory_begin, begin);
    directory_end = std::max(directory_end, begin + kHeaderBytes + more);
  }
  std::ranges::sort(entries, {}, &ZipEntry::begin);
  std::string archive(bytes_.substr(0, entries.empty() ? 0 : static_cast<std::size_t>(entries.front()->begin)));
  std::map<std::uint64_t, std::string> headers;  // headers of the new directory, by their places in the old one
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ZipEntry& entry = *entries[i];
    const auto begin = static_cast<std::size_t>(entry.directory_begin);
    std::string header(bytes_.substr(begin, kHeaderBytes + entry.name.size()));
    const std::string_view rest =
        bytes_.substr(begin + header.size(), number_at(header, kExtraBytes, 2) + number_at(header, kCommentBytes, 2));
    put(header, kOffset, static_cast<std::uint32_t>(archive.size()), 4);
    const auto content = contents.find(entry.name);
    if (content == contents.end()) {
      const std::size_t end =
          i + 1 < entries.size() ? static_cast<std::size_t>(entries[i + 1]->begin) : directory_begin;
      const auto from = static_cast<std::size_t>(entry.begin);
      archive += bytes_.substr(from, end - from);
      headers[entry.directory_begin] = header + std::string(rest);
      continue;
    }
    const std::string_view plain = content->second;
    const std::string data = entry.method == ZipEntry::Method::stored ? std::string(plain) : deflated(plain);
    const auto checksum = crc32_z(crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(plain.data()), plain.size());
    put(header, kFlags, number_at(header, kFlags, 2) & ~kSizesFollow, 2);
    put(header, kChecksum, static_cast<std::uint32_t>(checksum), 4);
    put(header, kCompressedSize, static_cast<std::uint32_t>(data.size()), 4);
    put(header, kSize, static_cast<std::uint32_t>(plain.size()), 4);
    const std::uint32_t extra_bytes = number_at(header, kExtraBytes, 2);
    put(header, kExtraBytes, 0, 2);
    // The local header has the fields from "version needed" to "extra bytes" of the directory's header.
    constexpr std::size_t kCommonBegin = 6;
    archive += "PK\x03\x04" + header.substr(kCommonBegin, kCommentBytes - kCommonBegin) + entry.name + data;
    headers[entry.directory_begin] = header + std::string(rest.substr(extra_bytes));
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
    for (const char* name : {"content.xml", "styles.xml"}) {
      if (archive.has(name)) parts.push_back({.name = name, .read = read_open_document_part});
    }
  }
  std::set<std::string> names;
  std::erase_if(parts, [&](const OfficePart& part) { return !names.insert(part.name).second; });
  if (parts.empty()) refuse(archive.name(), "no texts of {}, expected a document of this format", to_string(format));
  return parts;
}

}  // namespace encdec::documents
