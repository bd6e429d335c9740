#include "encdec/models/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "encdec/engine/error.h"

namespace encdec {
namespace {

FileError system_error(const std::filesystem::path& path) {
  return FileError(fmt::format("{}: {}", path.string(), std::strerror(errno)));
}

// A file descriptor that is closed in the end.
struct Descriptor {
  explicit Descriptor(int number_) : number(number_) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for somebody to write to it.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) throw system_error(path);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) throw system_error(path);
  if (!S_ISREG(status.st_mode)) throw FileError(fmt::format("{}: not a regular file", path.string()));
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = nullptr;  // an empty file cannot be mapped
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (data == MAP_FAILED) throw system_error(path);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto file = MappedFile::open(path);
  const auto bytes = file->bytes();
  if (bytes.size() > max_bytes) {
    throw FileError(fmt::format("{}: {} bytes, expected at most {}", path.string(), bytes.size(), max_bytes));
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace encdec
