#include "encdec/models/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "encdec/engine/base/refuse.h"

namespace encdec {
namespace {

// Throws FileError with the operating system's reason or, for a dangling symlink, with the symlink's target.
[[noreturn]] void refuse_as_system(const std::filesystem::path& path, int error) {
  std::error_code no_link;
  const auto target = std::filesystem::read_symlink(path, no_link);
  if (no_link || error != ENOENT) refuse(path.string(), "{}", std::strerror(error));
  refuse(path.string(), "a symlink to '{}', which does not exist: was the download interrupted?",
         printable(target.string()));
}

// Opens a regular file for reading. Returns its descriptor and size.
std::pair<int, std::size_t> open_to_read(const std::filesystem::path& path) {
  // The operating system would ignore everything after a NUL byte.
  if (path.native().find('\0') != std::string::npos) refuse(path.c_str(), "path contains a NUL byte");
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse_as_system(path, errno);
  struct stat status {};
  const int error = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error == 0 && S_ISREG(status.st_mode)) return {descriptor, static_cast<std::size_t>(status.st_size)};
  ::close(descriptor);
  if (error != 0) refuse_as_system(path, error);
  refuse(path.string(), "not a regular file");
}

// Reads to.size() bytes at `offset`. Returns the number of bytes read, which is smaller only at the end of the file.
std::size_t read_at(int descriptor, std::size_t offset, std::span<std::byte> to, const std::filesystem::path& path) {
  std::size_t filled = 0;
  while (filled < to.size()) {
    const ::ssize_t count =
        ::pread(descriptor, to.data() + filled, to.size() - filled, static_cast<off_t>(offset + filled));
    if (count == 0) break;
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      refuse_as_system(path, errno);
    }
  }
  return filled;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  return std::shared_ptr<const MappedFile>(new MappedFile(path));
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  std::tie(descriptor_, size_) = open_to_read(path);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    refuse_as_system(path, error);
  }
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  ::close(descriptor_);
}

bool MappedFile::read(std::span<const std::byte> bytes, std::byte* to) const {
  // Compare addresses as integers, because comparing pointers into different objects is unspecified.
  const auto address = [](const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  const std::uintptr_t begin = address(bytes.data()), file = address(data_);
  if (data_ == nullptr || begin < file || begin > file + size_ || bytes.size() > file + size_ - begin) return false;
  if (read_at(descriptor_, begin - file, {to, bytes.size()}, path_) == bytes.size()) return true;
  refuse(path_.string(), "has become shorter while it was read, expected {} bytes", size_);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const auto [descriptor, size] = open_to_read(path);
  const struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{descriptor};
  if (size > max_bytes) refuse(path.string(), "{} bytes, expected at most {}", size, max_bytes);
  std::string text(size, '\0');
  // The file may have been truncated since it was opened.
  text.resize(read_at(descriptor, 0, std::as_writable_bytes(std::span(text)), path));
  return text;
}

}  // namespace encdec
