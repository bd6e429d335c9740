// A library for LD_PRELOAD that makes one call of a program fail, as if the disk or the system had run out. Calls are
// counted from the start of main, over all threads. The library can also truncate a file while the program has it
// mapped.
//   ENCDEC_FAIL_CALL     read, write, open, fsync or rename
//   ENCDEC_FAIL_AT       number of the call that fails; 0 for none
//   ENCDEC_FAIL_FOREVER  if set, all later calls fail too
//   ENCDEC_FAIL_COUNT    file to which the number of calls is written at the program's end
//   ENCDEC_CUT_MAPPED    file that is truncated to nothing as soon as it is mapped; a path without links
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {

const char* failing_call = "";
long failing_number = 0;
bool fails_forever = false;
int count_file = -1;
const char* cut_path = nullptr;
std::atomic<bool> is_counting = false;
std::atomic<long> calls = 0;

bool fails(const char* call) {
  if (!is_counting.load(std::memory_order_relaxed)) return false;
  if (std::strcmp(call, failing_call) != 0) return false;
  const long number = ++calls;
  return number == failing_number || (fails_forever && failing_number > 0 && number > failing_number);
}

template <class Result>
Result failure(int error, Result result) {
  errno = error;
  return result;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

void cut_if_requested(int file) {
  if (cut_path == nullptr || file < 0) return;
  char link[32], path[PATH_MAX] = {};
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  if (::readlink(link, path, sizeof(path) - 1) < 0 || std::strcmp(path, cut_path) != 0) return;
  if (::truncate(path, 0) != 0) std::abort();
}

void write_count() {
  is_counting = false;
  char text[32];
  const int length = std::snprintf(text, sizeof(text), "%ld\n", calls.load());
  ::syscall(SYS_write, count_file, text, static_cast<size_t>(length));
}

int (*program_main)(int, char**, char**) = nullptr;

int counted_main(int argc, char** argv, char** environment) {
  if (const char* call = ::getenv("ENCDEC_FAIL_CALL")) failing_call = call;
  if (const char* number = ::getenv("ENCDEC_FAIL_AT")) failing_number = std::strtol(number, nullptr, 10);
  fails_forever = ::getenv("ENCDEC_FAIL_FOREVER") != nullptr;
  if (const char* path = ::getenv("ENCDEC_FAIL_COUNT")) {
    count_file =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    std::atexit(write_count);
  }
  cut_path = ::getenv("ENCDEC_CUT_MAPPED");
  is_counting = true;
  return program_main(argc, argv, environment);
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*rtld_fini)(), void* stack_end) {
  program_main = main;
  return next<decltype(__libc_start_main)>("__libc_start_main")(counted_main, argc, argv, init, fini, rtld_fini,
                                                                stack_end);
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  void* mapped = reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
  cut_if_requested(file);
  return mapped;
}
void* mmap64(void* address, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
  return mmap(address, bytes, protection, flags, file, offset);
}

ssize_t read(int file, void* buffer, size_t bytes) {
  return fails("read") ? failure<ssize_t>(EIO, -1) : next<decltype(read)>("read")(file, buffer, bytes);
}
ssize_t pread(int file, void* buffer, size_t bytes, off_t offset) {
  return fails("read") ? failure<ssize_t>(EIO, -1) : next<decltype(pread)>("pread")(file, buffer, bytes, offset);
}
ssize_t pread64(int file, void* buffer, size_t bytes, off64_t offset) {
  return pread(file, buffer, bytes, offset);
}

ssize_t write(int file, const void* buffer, size_t bytes) {
  return fails("write") ? failure<ssize_t>(ENOSPC, -1) : next<decltype(write)>("write")(file, buffer, bytes);
}
ssize_t pwrite(int file, const void* buffer, size_t bytes, off_t offset) {
  return fails("write") ? failure<ssize_t>(ENOSPC, -1) : next<decltype(pwrite)>("pwrite")(file, buffer, bytes, offset);
}
ssize_t pwrite64(int file, const void* buffer, size_t bytes, off64_t offset) {
  return pwrite(file, buffer, bytes, offset);
}
ssize_t writev(int file, const iovec* pieces, int count) {
  return fails("write") ? failure<ssize_t>(ENOSPC, -1) : next<decltype(writev)>("writev")(file, pieces, count);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails("open") ? failure(EMFILE, -1) : next<decltype(open)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails("open") ? failure(EMFILE, -1) : next<decltype(open64)>("open64")(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails("open") ? failure(EMFILE, -1) : next<decltype(openat)>("openat")(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return fails("open") ? failure<FILE*>(EMFILE, nullptr) : next<decltype(fopen)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails("open") ? failure<FILE*>(EMFILE, nullptr) : next<decltype(fopen64)>("fopen64")(path, mode);
}

int fsync(int file) {
  return fails("fsync") ? failure(EIO, -1) : next<decltype(fsync)>("fsync")(file);
}
int rename(const char* from, const char* to) noexcept {
  return fails("rename") ? failure(EIO, -1) : next<decltype(rename)>("rename")(from, to);
}

}  // extern "C"
