#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace encdec {

// An entry of an archive. Each optional member replaces the correct value by another one.
struct ZipWriterEntry {
  std::string name = {};
  std::string data = {};  // bytes in the archive, compressed if `method` says so
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::uint64_t> size = {};             // size before compression; default: the size of `data`
  std::optional<std::uint64_t> compressed_size = {};  // in both headers
  std::optional<std::uint64_t> local_offset = {};
  std::optional<std::uint32_t> checksum = {};  // in both headers
  std::optional<std::string> local_name = {};
  std::optional<std::uint16_t> local_method = {};
  std::optional<std::uint16_t> local_flags = {};
  std::optional<std::uint64_t> local_size = {};
  bool zip64 = false;  // put sizes and offset into extra fields
};

struct ZipWriterOptions {
  bool zip64 = false;  // write a zip64 end record, and only placeholders in the short one
  std::string comment = {};
  std::string prefix = {};  // bytes before the first entry
  // Added to the correct values in the end record.
  std::int64_t entries_more = 0;
  std::int64_t directory_offset_more = 0;
  std::int64_t directory_size_more = 0;
};

std::string zip_bytes(const std::vector<ZipWriterEntry>& entries, const ZipWriterOptions& options = {});

// Compresses the text to a raw deflate stream.
std::string deflated(const std::string& text);
// Returns the checksum of the text in a zip archive.
std::uint32_t zip_checksum(const std::string& text);

}  // namespace encdec
