#include "command/line_reader.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/checkpoint/file_names.h>
#include <encdec/models/checkpoint/mapped_file.h>
#include <encdec/models/checkpoint/packed_weights_file.h>
#include <encdec/models/model/fingerprint.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command/commands.h"
#include "command/interrupt.h"
#include "command/output_file.h"
#include "common/parse_number.h"

namespace encdec::cli {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;
constexpr int kMaxShards = 99'999;  // file names have five digits
constexpr std::size_t kMaxManifestBytes = std::size_t{1} << 20;

// Returns a hash of the shard's lines. The hash does not depend on whether lines end with LF or CR LF.
std::string hash_of_lines(const std::string& path, const Shard& shard) {
  LineReader lines(path, shard);
  ContentHasher hasher;
  std::string line;
  while (lines.next(line)) hasher.add_text(line);
  return to_string(hasher.hash());
}

}  // namespace

LineReader::LineReader(const std::string& path) : name_(path.empty() ? "standard input" : path) {
  descriptor_ = path.empty() ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) {
    const int error = errno;
    throw_if_interrupted();  // open() of a pipe waits for a writer, and a signal ends the wait
    throw FileError(fmt::format("{}: cannot open: {}", name_, std::strerror(error)));
  }
  struct stat status = {};
  if (::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
    // Count only the rest of standard input: another process may have read the beginning.
    const off_t offset = ::lseek(descriptor_, 0, SEEK_CUR);
    total_bytes_ = status.st_size - std::max<off_t>(offset, 0);
  }
}

LineReader::LineReader(const std::string& path, const Shard& shard) : LineReader(path) {
  if (shard.number == 0) return;
  if (!total_bytes_ || path.empty()) {
    throw FileError(fmt::format("{}: not a regular file, expected one with --shard", name_));
  }
  const std::int64_t size = *total_bytes_;
  // Returns size * part / shard.count, computed without overflow.
  const auto begin_of = [&](std::int64_t part) {
    return size / shard.count * part + size % shard.count * part / shard.count;
  };
  const std::int64_t begin = begin_of(shard.number - 1);
  name_ += fmt::format(" (shard {}/{})", shard.number, shard.count);
  if (begin > 0) {
    // Skip the rest of a line that began in the previous shard.
    if (::lseek(descriptor_, begin - 1, SEEK_SET) < 0) {
      throw FileError(fmt::format("{}: cannot read: {}", name_, std::strerror(errno)));
    }
    std::string others;
    next(others);
  }
  const std::int64_t first = begin + std::max<std::int64_t>(bytes_ - 1, 0);
  end_bytes_ = std::max<std::int64_t>(begin_of(shard.number) - first, 0);
  total_bytes_ = end_bytes_;
  bytes_ = line_number_ = 0;
}

LineReader::~LineReader() {
  ::close(descriptor_);
}

// Returns true if buffer_ contains a whole line. Sets scanned_ to the line's end; if there is none, to buffer_'s end.
bool LineReader::has_line() {
  const auto end = std::find(buffer_.begin() + static_cast<std::ptrdiff_t>(scanned_), buffer_.end(), '\n');
  scanned_ = static_cast<std::size_t>(end - buffer_.begin());
  return end != buffer_.end();
}

// Removes from buffer_ the lines that next() has returned. Then waits for input, and appends it to buffer_.
void LineReader::fill() {
  if (buffer_.size() - begin_ > kMaxLineBytes) {
    throw FileError(fmt::format("{}:{}: a line of more than {} bytes", name_, line_number_ + 1, kMaxLineBytes));
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kReadBytes);
  ssize_t count = 0;
  do {
    wait_for_input(descriptor_);
    count = ::read(descriptor_, buffer_.data() + size, kReadBytes);
  } while (count < 0 && (errno == EINTR || errno == EAGAIN));
  const int error = errno;
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) throw FileError(fmt::format("{}: cannot read: {}", name_, std::strerror(error)));
  at_end_ = count == 0;
}

bool LineReader::next(std::string& line) {
  if (bytes_ >= end_bytes_) return false;
  while (!has_line() && !at_end_) fill();
  if (begin_ == buffer_.size()) return false;
  const bool has_end = scanned_ < buffer_.size();
  line.assign(buffer_.data() + begin_, scanned_ - begin_);
  const std::size_t taken = line.size() + (has_end ? 1 : 0);
  if (has_end && line.ends_with('\r')) line.pop_back();
  begin_ += taken;
  scanned_ = begin_;
  bytes_ += static_cast<std::int64_t>(taken);
  ++line_number_;
  return true;
}

bool LineReader::ready() {
  if (bytes_ >= end_bytes_) return true;
  while (!has_line() && !at_end_) {
    pollfd input = {descriptor_, POLLIN, 0};
    if (::poll(&input, 1, 0) <= 0) return false;
    fill();
  }
  return true;
}

std::optional<double> LineReader::fraction(std::int64_t bytes) const {
  if (total_bytes_.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(bytes) / static_cast<double>(*total_bytes_);
}

std::string LineReader::position() const {
  return fmt::format("{}:{}", name_, line_number_);
}

bool ParallelLines::next(std::initializer_list<std::string*> lines) {
  const LineReader *longer = nullptr, *shorter = nullptr;
  auto line = lines.begin();
  for (LineReader* reader : readers_) (reader->next(**line++) ? longer : shorter) = reader;
  if (longer == nullptr || shorter == nullptr) return longer != nullptr;
  throw InputError(fmt::format("{}: {} lines, but {} has more; expected the same number", shorter->name(),
                               shorter->lines(), longer->name()));
}

std::string Shard::output(const std::string& whole) const {
  return fmt::format("{}-{:05}-of-{:05}", whole, number, count);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const int number = parse_number<int>(text.substr(0, slash)).value_or(0);
  const int count = parse_number<int>(text.substr(std::min(slash + 1, text.size()))).value_or(0);
  if (number < 1 || number > count || count > kMaxShards) {
    throw UsageError(fmt::format("--shard: '{}', expected I/N with I from 1 to N, and N at most {}", text, kMaxShards));
  }
  return {number, count};
}

ShardManifest::ShardManifest(const Shard& shard, const std::string& input, const std::string& output,
                             const nlohmann::ordered_json& settings)
    : output_(output) {
  nlohmann::ordered_json json = {
      {"shard", shard.number}, {"shards", shard.count}, {"input_hash", hash_of_lines(input, shard)}};
  json.update(settings);
  description_ = json.dump();
}

bool ShardManifest::is_done() const {
  if (!file_exists(output_) || !file_exists(output_ + ".json")) return false;
  const std::string found = read_text_file(output_ + ".json", kMaxManifestBytes);
  // The file has the members of the description, then "lines".
  const std::string_view same = std::string_view(description_).substr(0, description_.size() - 1);
  return found.starts_with(same) && found.substr(same.size()).starts_with(",\"lines\":");
}

void ShardManifest::write(std::int64_t lines) const {
  OutputFile file(output_ + ".json", OutputFile::Unfinished::remove);
  file.write(fmt::format("{},\"lines\":{}}}\n", description_.substr(0, description_.size() - 1), lines));
  file.commit();
}

}  // namespace encdec::cli
