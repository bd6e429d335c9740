#include "encdec/models/checkpoint/word_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <locale>
#include <sstream>
#include <unordered_set>

#include "encdec/engine/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/mapped_file.h"

namespace encdec {
namespace {

using Format = WordVectorFormat;

constexpr std::uint64_t kMaxWords = std::numeric_limits<std::int32_t>::max();

// The first line of word2vec's files.
struct Header {
  std::uint64_t words = 0;
  std::uint64_t dims = 0;
};

// Cuts off what stands before the next separator, and the separator; all if there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// Cuts off the last token of a line that does not end with spaces, and the spaces before it.
std::string_view take_last(std::string_view& line) {
  const std::size_t space = line.rfind(' ');
  const std::string_view last = space == line.npos ? line : line.substr(space + 1);
  line.remove_suffix(last.size());
  line = without_end(line);
  return last;
}

// The next line, without its end; empty lines at the end of a file are none.
bool take_line(std::string_view& text, std::string_view& line) {
  if (text.find_first_not_of("\r\n ") == text.npos) return false;
  line = without_end(take_until(text, '\n'));
  return true;
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Header> header_of(std::string_view line) {
  const auto words = whole_number(take_until(line, ' ')), dims = whole_number(line);
  if (!words || !dims) return std::nullopt;
  return Header{*words, *dims};
}

// A decimal number as the nearest float32; nullopt for anything else, and where that is infinity or NaN.
std::optional<float> finite_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  float value = 0.0f;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  // What is nearest to infinity, or to zero: a stream takes zero and fails at infinity.
  if (error == std::errc::result_out_of_range) {
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    if (stream >> value) error = std::errc();
  }
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Collects the entries of a file, and says in messages which one is at fault.
class Collector {
 public:
  // Messages call the first entry "`unit` `first`".
  Collector(const std::string& file, std::string_view unit, int first) : file_(file), unit_(unit), first_(first) {}

  // Makes room for so many entries.
  void reserve(std::uint64_t entries, std::uint64_t dims) {
    if (entries > kMaxWords) {
      throw FileError(fmt::format("{}: {} words, expected at most {}", file_, entries, kMaxWords));
    }
    words_.reserve(static_cast<std::size_t>(entries));
    seen_.reserve(static_cast<std::size_t>(entries));
    vectors_ = Tensor::uninitialized({static_cast<Dim>(entries), static_cast<Dim>(dims)});
  }

  // Where the next entry's vector goes before add().
  std::span<float> next() {
    return {vectors_.row(static_cast<Dim>(words_.size())), static_cast<std::size_t>(vectors_.width())};
  }
  // `word` must last until the end.
  void add(std::string_view word) {
    if (word.empty()) throw error("an empty word, expected a word and its vector");
    if (seen_.insert(word).second) {
      words_.emplace_back(word);
    } else {
      ++duplicates_;
    }
    ++entries_;
  }
  std::uint64_t entries() const { return entries_; }

  // About the next entry.
  FileError error(std::string_view what) const {
    return FileError(fmt::format("{}: {} {}: {}", file_, unit_, static_cast<std::uint64_t>(first_) + entries_, what));
  }

  WordVectors result() {
    if (words_.empty()) throw FileError(fmt::format("{}: no words, expected at least 1", file_));
    const Tensor vectors = vectors_.slice(0, static_cast<Dim>(words_.size()));
    return {std::move(words_), vectors, duplicates_};
  }

 private:
  const std::string& file_;
  std::string_view unit_;
  int first_;
  std::uint64_t entries_ = 0;
  std::int64_t duplicates_ = 0;
  std::vector<std::string> words_;
  std::unordered_set<std::string_view> seen_;
  Tensor vectors_;
};

// What the parsers share: a file's text behind its header, if it has one, and how much of it is wanted.
struct Body {
  std::string_view text;
  const std::string& file;
  std::uint64_t limit = 0;
};

// Adds the word and the vector of a line.
void add_line(std::string_view line, Collector& collector) {
  const std::span<float> vector = collector.next();
  for (std::size_t i = vector.size(); i-- > 0;) {
    if (line.empty()) {
      throw collector.error(fmt::format("{} numbers, expected a word and {}", vector.size() - 1 - i, vector.size()));
    }
    const std::string_view token = take_last(line);
    const auto value = finite_number(token);
    if (!value) {
      throw collector.error(fmt::format("'{}' where number {} of {} stands, expected a finite decimal number",
                                        printable(token), i + 1, vector.size()));
    }
    vector[i] = *value;
  }
  collector.add(line);
}

// Too small a number of dimensions would leave numbers to the words. A line shows it where a number is the last of
// several tokens before its vector: of a file's first lines, which frequent words have, that is no word with spaces.
// `witness` tells the number of dimensions.
void refuse_more_numbers(std::string_view line, std::uint64_t dims, const Collector& collector,
                         std::string_view witness) {
  for (std::uint64_t i = 0; i < dims; ++i) take_last(line);
  if (line.find(' ') == line.npos || !finite_number(take_last(line))) return;
  throw collector.error(fmt::format("more than {} numbers, expected as many as {}", dims, witness));
}

// A header that no file of this size can keep is refused before memory is asked for.
void check(const Header& header, std::uint64_t smallest_entry, const Body& body) {
  const auto smallest = checked_multiply(header.words, smallest_entry);
  if (header.words < 1 || header.dims < 1) {
    throw FileError(fmt::format("{}: {} words of {} dimensions, expected at least 1 of each", body.file, header.words,
                                header.dims));
  }
  // The last newline may be missing.
  if (!smallest || *smallest > body.text.size() + 1) {
    throw FileError(
        fmt::format("{}: {} bytes after the header, expected {} words of {} dimensions: the file is "
                    "truncated or its header wrong",
                    body.file, body.text.size(), header.words, header.dims));
  }
}

std::uint64_t smallest_line(std::uint64_t dims) {
  return 2 * dims + 2;  // a word and a newline; a space and a digit for each number
}

// Dimensions beyond this fit no file, and sizes computed from them no integer.
void check_dims(std::uint64_t dims, const Body& body) {
  if (dims > body.text.size()) {
    throw FileError(fmt::format("{}: vectors of {} dimensions, expected at most as many as there are bytes, {}",
                                body.file, dims, body.text.size()));
  }
}

WordVectors parse_word2vec_text(const Header& header, Body body) {
  check_dims(header.dims, body);
  check(header, smallest_line(header.dims), body);
  const std::uint64_t wanted = std::min(header.words, body.limit);
  Collector collector(body.file, "line", 2);
  collector.reserve(wanted, header.dims);
  std::string_view line;
  while (collector.entries() < wanted && take_line(body.text, line)) {
    if (collector.entries() == 0) refuse_more_numbers(line, header.dims, collector, "the header says");
    add_line(line, collector);
  }
  if (collector.entries() < wanted) {
    throw collector.error(fmt::format("the end of the file, expected {} words", header.words));
  }
  if (wanted == header.words && take_line(body.text, line)) {
    throw collector.error(fmt::format("another line, expected the {} words that the header says", header.words));
  }
  return collector.result();
}

WordVectors parse_glove(Body body) {
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(body.text, '\n')) + 1;
  const auto bytes = static_cast<std::uint64_t>(body.text.size());
  std::string_view line;
  if (!take_line(body.text, line)) throw FileError(fmt::format("{}: no words, expected at least 1", body.file));
  std::string_view numbers = line;
  take_until(numbers, ' ');
  std::uint64_t dims = 0;
  while (!take_last(numbers).empty()) ++dims;
  Collector collector(body.file, "line", 1);
  if (dims == 0) throw collector.error("no numbers, expected a word and its vector");
  collector.reserve(std::min({lines, bytes / smallest_line(dims) + 1, body.limit}), dims);
  add_line(line, collector);
  // The first line may be a short one, or the damaged header of a word2vec file.
  std::string_view rest = body.text;
  if (take_line(rest, line)) refuse_more_numbers(line, dims, collector, "the first line has");
  while (collector.entries() < body.limit && take_line(body.text, line)) add_line(line, collector);
  return collector.result();
}

WordVectors parse_word2vec_binary(const Header& header, Body body) {
  check_dims(header.dims, body);
  const std::uint64_t bytes = header.dims * sizeof(float);
  check(header, bytes + 2, body);
  const std::uint64_t wanted = std::min(header.words, body.limit);
  Collector collector(body.file, "word", 1);
  collector.reserve(wanted, header.dims);
  while (collector.entries() < wanted) {
    if (body.text.starts_with('\n')) body.text.remove_prefix(1);
    const std::string_view word = take_until(body.text, ' ');
    if (body.text.size() < bytes) {
      throw collector.error(fmt::format("{} bytes left behind it, expected {} of its vector: the file is truncated",
                                        body.text.size(), bytes));
    }
    const std::span<float> vector = collector.next();
    std::memcpy(vector.data(), body.text.data(), bytes);
    body.text.remove_prefix(bytes);
    const auto bad = std::ranges::find_if(vector, [](float value) { return !std::isfinite(value); });
    if (bad != vector.end()) {
      throw collector.error(fmt::format("'{}': number {} of {} is {}, expected a finite one", printable(word),
                                        bad - vector.begin() + 1, vector.size(), *bad));
    }
    collector.add(word);
  }
  if (wanted == header.words && body.text.find_first_not_of('\n') != body.text.npos) {
    throw FileError(fmt::format("{}: {} bytes behind the {} words that the header says, expected none", body.file,
                                body.text.size(), header.words));
  }
  return collector.result();
}

// Whether what follows a header is text: its first line is an entry, or could be a damaged one.
bool is_text(std::string_view body, std::uint64_t dims) {
  std::string_view rest = body, line = without_end(take_until(rest, '\n'));
  std::uint64_t numbers = 0;
  while (numbers < dims && finite_number(take_last(line))) ++numbers;
  if (numbers == dims && !line.empty()) return true;
  take_until(body, ' ');
  const auto floats = body.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(dims, body.size()) * 4));
  return std::ranges::all_of(floats, [](char c) { return (c >= ' ' && c <= '~') || c == '\n' || c == '\r'; });
}

}  // namespace

WordVectors::WordVectors(std::vector<std::string> words, Tensor vectors, std::int64_t duplicates)
    : words_(std::move(words)), vectors_(std::move(vectors)), duplicates_(duplicates) {
  rows_.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) rows_.emplace(words_[i], static_cast<std::int32_t>(i));
}

std::optional<std::int32_t> WordVectors::find(std::string_view word) const {
  const auto found = rows_.find(word);
  return found == rows_.end() ? std::nullopt : std::optional(found->second);
}

WeightScope WordVectors::scope() const {
  auto store = std::make_shared<WeightStore>("word vectors");
  store->add("weight", vectors_);
  return WeightScope(std::move(store));
}

WordVectors parse_word_vectors(std::span<const std::byte> bytes, const std::string& file,
                               const WordVectorOptions& options) {
  refuse_git_lfs_pointer(bytes, file);
  std::string_view content = as_text(bytes);
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);  // a byte order mark in UTF-8
  if (content.starts_with("\x1f\x8b")) {
    throw FileError(fmt::format("{}: compressed with gzip, expected the file itself: gunzip gets it", file));
  }
  if (options.limit.value_or(1) < 1) {
    throw InputError(fmt::format("{}: a limit of {} words, expected at least 1", file, *options.limit));
  }
  Body body{content, file, static_cast<std::uint64_t>(options.limit.value_or(kMaxWords + 1))};
  if (options.format == Format::glove) return parse_glove(body);
  Body behind = body;
  const std::string_view first = without_end(take_until(behind.text, '\n'));
  const auto header = header_of(first);
  if (!header) {
    if (options.format == Format::automatic) return parse_glove(body);
    throw FileError(
        fmt::format("{}: line 1: '{}', expected the numbers of words and dimensions", file, printable(first)));
  }
  const bool text = options.format == Format::automatic ? is_text(behind.text, header->dims)
                                                        : options.format == Format::word2vec_text;
  return text ? parse_word2vec_text(*header, behind) : parse_word2vec_binary(*header, behind);
}

WordVectors read_word_vectors(const std::filesystem::path& path, const WordVectorOptions& options) {
  const auto file = MappedFile::open(path);
  return parse_word_vectors(file->bytes(), path.string(), options);
}

}  // namespace encdec
