#include "encdec/models/checkpoint/unpacked_file.h"

#include <zstd.h>

#include <algorithm>
#include <new>
#include <vector>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/inflater_inl.h"

namespace encdec {
namespace {

// Weights compress to 70 %, vocabularies to a third. A larger growth can only be an attempt to exhaust memory.
constexpr std::size_t kMaxUnpackedGrowth = 16;
constexpr std::size_t kFreeUnpackedBytes = std::size_t{16} << 20;  // any file may grow to this size
constexpr std::size_t kUnpackedPieceBytes = std::size_t{1} << 20;  // bytes between two cancellation checks

// Collects decompressed bytes and limits their number. Order of calls: (free_space add)* take.
class Unpacked {
 public:
  explicit Unpacked(const FileBytes& packed)
      : packed_(packed), limit_(std::max(kMaxUnpackedGrowth * packed.bytes.size(), kFreeUnpackedBytes)) {}

  std::span<std::byte> free_space() {
    check_cancelled();
    bytes_.resize(used_ + kUnpackedPieceBytes);
    return std::span(bytes_).subspan(used_);
  }
  // Adds the first `count` bytes of the free space to the output. Throws FileError if the output exceeds the limit.
  void add(std::size_t count) {
    used_ += count;
    if (used_ <= limit_) return;
    refuse(packed_.name, "{} bytes grow to more than {} when decompressed, expected no more", packed_.bytes.size(),
           limit_);
  }
  FileBytes take() {
    bytes_.resize(used_);
    bytes_.shrink_to_fit();
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes_));
    return {.bytes = *owner, .owner = owner, .name = packed_.name};
  }

 private:
  const FileBytes& packed_;
  std::size_t limit_;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
};

[[noreturn]] void refuse_damaged(const FileBytes& packed, std::string_view kind) {
  refuse(packed.name, "damaged or truncated, expected one whole {} file", kind);
}

FileBytes gunzip(const FileBytes& packed) {
  Inflater inflater(Inflater::kGzip);
  Unpacked output(packed);
  std::span<const std::byte> input = packed.bytes;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::span<std::byte> to = output.free_space();
    std::span<std::byte> left = to;
    result = inflater.step(input, left);
    output.add(to.size() - left.size());
  }
  if (result != Z_STREAM_END || !input.empty()) refuse_damaged(packed, "gzip");
  return output.take();
}

FileBytes unzstd(const FileBytes& packed) {
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  const std::unique_ptr<ZSTD_DStream, Free> stream(ZSTD_createDStream());
  if (stream == nullptr) throw std::bad_alloc();
  Unpacked output(packed);
  ZSTD_inBuffer input{packed.bytes.data(), packed.bytes.size(), 0};
  std::size_t left = 1;  // 0 at the end of the frame
  while (left != 0) {
    const std::span<std::byte> to = output.free_space();
    ZSTD_outBuffer written{to.data(), to.size(), 0};
    left = ZSTD_decompressStream(stream.get(), &written, &input);
    const bool is_cut_off = left != 0 && written.pos == 0 && input.pos == input.size;
    if (ZSTD_isError(left) != 0 || is_cut_off) refuse_damaged(packed, "zstd");
    output.add(written.pos);
  }
  if (input.pos != input.size) refuse_damaged(packed, "zstd");
  return output.take();
}

}  // namespace

FileBytes read_unpacked(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  const FileBytes stored{.bytes = file->bytes(), .owner = file, .name = path.string()};
  if (stored.name.ends_with(".gz")) return gunzip(stored);
  if (stored.name.ends_with(".zst")) return unzstd(stored);
  return stored;
}

}  // namespace encdec
