#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace encdec {

// A regular file that gets its name when it is whole: what stands under the name is always complete, and of several
// that are written at once the last one to be whole. It grows beside it under a name that nobody else has,
// NAME.XXXXXX.partial, and goes away with this object unless it is committed or kept. All functions throw FileError,
// with the system's reason.
class NewFile {
 public:
  enum class Kind : std::uint8_t {
    output,  // its data is on the disk before its name is, and its name when it is committed
    cache,   // its data may reach the disk later: who reads it checks it
  };

  // Messages name the file as `shown`.
  NewFile(const std::filesystem::path& path, Kind kind, std::string shown);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  // Makes the file this long, zeros where nothing is written.
  void resize(std::uint64_t bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  // After what write() has written before.
  void write(std::string_view text);
  bool is_empty() const { return !has_content_; }

  // The end: it has its name.
  void commit();
  // Without its name it stays as partial() when this object goes, unless it is empty.
  void keep() { is_kept_ = true; }
  const std::filesystem::path& partial() const { return partial_; }

 private:
  [[noreturn]] void fail(std::string_view what, int error) const;

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::string shown_;
  Kind kind_;
  int descriptor_ = -1;
  std::uint64_t written_ = 0;  // bytes, by write()
  bool has_content_ = false;
  bool is_kept_ = false;
  bool is_committed_ = false;
};

}  // namespace encdec
