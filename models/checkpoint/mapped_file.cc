#include "encdec/models/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "encdec/models/checkpoint/refuse.h"

namespace encdec {
namespace {

[[noreturn]] void refuse_as_system(const std::filesystem::path& path, int error) {
  refuse(path.string(), "{}", std::strerror(error));
}

// A regular file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) {
    // The system would open what stands before the zero.
    if (path.native().find('\0') != std::string::npos) refuse(path.c_str(), "a path with a zero byte");
    // Without O_NONBLOCK, opening a named pipe would wait for somebody to write to it.
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) refuse_as_system(path, errno);
    struct stat status {};
    const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
    size_ = static_cast<std::size_t>(status.st_size);
    if (error == 0 && S_ISREG(status.st_mode)) return;
    ::close(descriptor_);
    if (error != 0) refuse_as_system(path, error);
    refuse(path.string(), "not a regular file");
  }
  ~OpenFile() { ::close(descriptor_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor() const { return descriptor_; }
  std::size_t size() const { return size_; }

 private:
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const OpenFile file(path);
  void* data = nullptr;  // an empty file cannot be mapped
  if (file.size() > 0) {
    data = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (data == MAP_FAILED) refuse_as_system(path, errno);
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(static_cast<const std::byte*>(data), file.size()));
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::release(std::span<const std::byte> bytes) const {
  const auto address = [](const std::byte* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  const std::uintptr_t begin = address(bytes.data()), file = address(data_);
  if (data_ == nullptr || begin < file || begin > file + size_ || bytes.size() > file + size_ - begin) return;
  // A mapping begins with a page; the page at either end may have a neighbour's bytes.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = (begin - file + page - 1) / page * page;
  const std::uintptr_t last = (begin - file + bytes.size()) / page * page;
  if (first < last) ::madvise(const_cast<std::byte*>(data_) + first, last - first, MADV_DONTNEED);
}

std::string read_text_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const OpenFile file(path);
  if (file.size() > max_bytes) refuse(path.string(), "{} bytes, expected at most {}", file.size(), max_bytes);
  std::string text(file.size(), '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ::ssize_t count = ::read(file.descriptor(), text.data() + filled, text.size() - filled);
    if (count == 0) break;  // somebody made the file shorter
    if (count > 0) {
      filled += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      refuse_as_system(path, errno);
    }
  }
  text.resize(filled);
  return text;
}

}  // namespace encdec
