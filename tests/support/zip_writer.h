#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace encdec {

// An entry of an archive, with lies where they are given.
struct ZipWriterEntry {
  std::string name = {};
  std::string data = {};  // as it stands in the archive
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint64_t> size = {};             // before compression; that of `data` if not given
  std::optional<std::uint64_t> compressed_size = {};  // in both headers
  std::optional<std::uint64_t> local_offset = {};
  std::optional<std::uint32_t> checksum = {};  // in both headers
  std::optional<std::string> local_name = {};
  std::optional<std::uint16_t> local_method = {};
  std::optional<std::uint16_t> local_flags = {};
  std::optional<std::uint64_t> local_size = {};
  bool zip64 = false;  // sizes and offset in extra fields
};

struct ZipWriterOptions {
  bool zip64 = false;  // a zip64 end record, and nothing in the short one
  std::string comment = {};
  std::string prefix = {};        // in front of the first entry
  std::int64_t entries_more = 0;  // than there are
  std::int64_t directory_offset_more = 0;
  std::int64_t directory_size_more = 0;
};

std::string zip_bytes(const std::vector<ZipWriterEntry>& entries, const ZipWriterOptions& options = {});

// A raw deflate stream, and the checksum that a zip archive has of the text.
std::string deflated(const std::string& text);
std::uint32_t zip_checksum(const std::string& text);

}  // namespace encdec
