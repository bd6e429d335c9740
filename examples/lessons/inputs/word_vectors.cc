#include "inputs/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <locale>
#include <sstream>
#include <unordered_set>

#include "encdec/engine/base/checked_math.h"
#include "encdec/models/checkpoint/byte_reader.h"

namespace lessons {
namespace {

using Format = WordVectorFormat;

constexpr std::uint64_t kMaxWords = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kTextNumberBytes = 2;  // minimum bytes of a number: a space and a digit

// The first line of a word2vec file.
struct Header {
  std::uint64_t words = 0;
  std::uint64_t dims = 0;
};

// Takes the text before the next separator, or all, and removes both from `text`.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

// Drops spaces and carriage returns at the end of a line.
std::string_view without_end(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

// Removes and returns the last token of a line; also removes the spaces before it. REQUIRES: the
// line does not end with a space.
std::string_view take_last(std::string_view& line) {
  const std::size_t space = line.rfind(' ');
  const std::string_view last = space == line.npos ? line : line.substr(space + 1);
  line.remove_suffix(last.size());
  line = without_end(line);
  return last;
}

// Takes the next line, without its line ending. Returns false if only empty lines are left.
bool take_line(std::string_view& text, std::string_view& line) {
  if (text.find_first_not_of("\r\n ") == text.npos) return false;
  line = without_end(take_until(text, '\n'));
  return true;
}

// Parses a whole number; nullopt for other text.
std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses the first line of a word2vec file, "V D"; nullopt for other text.
std::optional<Header> header_of(std::string_view line) {
  const auto words = whole_number(take_until(line, ' ')), dims = whole_number(line);
  if (!words || !dims) return std::nullopt;
  return Header{*words, *dims};
}

// Parses a decimal number to the nearest float32; nullopt for other text and infinite results.
std::optional<float> finite_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  float value = 0.0f;
  auto [stop, error] = std::from_chars(text.data(), end, value);
  // from_chars() reports an error if the nearest float is zero or infinity. A stream accepts zero.
  if (error == std::errc::result_out_of_range) {
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    if (stream >> value) error = std::errc();
  }
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Parses the entries of a file, after the header if there is one; at most `limit` entries. Call one
// of the three functions, once.
class VectorParser {
 public:
  VectorParser(std::string_view text, const std::string& file, std::uint64_t limit)
      : text_(text), file_(file), limit_(limit) {}

  WordVectors word2vec_text(const Header& header) {
    unit_ = "line", first_ = 2;
    const std::uint64_t wanted = reserve(header, kTextNumberBytes);
    std::string_view line;
    // Check the first line for numbers that would become part of its word.
    while (entries_ < wanted && take_line(text_, line)) {
      if (entries_ == 0) refuse_more_numbers(line, header.dims, "in the header");
      add_line(line);
    }
    if (entries_ < wanted) fail("the end of the file, expected {} words", header.words);
    if (wanted == header.words && take_line(text_, line)) {
      fail("another line, expected {} words as in the header", header.words);
    }
    return result();
  }

  WordVectors glove() {
    unit_ = "line", first_ = 1;
    // Without a header, the first line gives the number of dimensions.
    const auto lines = static_cast<std::uint64_t>(std::ranges::count(text_, '\n')) + 1;
    const auto bytes = static_cast<std::uint64_t>(text_.size());
    std::string_view line;
    if (!take_line(text_, line)) refuse(file_, "no words, expected at least 1");
    std::string_view numbers = line;
    take_until(numbers, ' ');
    std::uint64_t dims = 0;
    while (!take_last(numbers).empty()) ++dims;
    if (dims == 0) fail("no numbers, expected a word and its vector");
    // Reserve memory for the number of lines, but for no more entries than the bytes can hold.
    reserve(std::min({lines, bytes / (kTextNumberBytes * dims + 2) + 1, limit_}), dims);
    add_line(line);
    // Check the second line: the first may lack numbers, or be a damaged header of word2vec.
    std::string_view rest = text_;
    if (take_line(rest, line)) refuse_more_numbers(line, dims, "in the first line");
    while (entries_ < limit_ && take_line(text_, line)) add_line(line);
    return result();
  }

  WordVectors word2vec_binary(const Header& header) {
    unit_ = "word", first_ = 1;
    const std::uint64_t wanted = reserve(header, sizeof(float)), bytes = header.dims * sizeof(float);
    while (entries_ < wanted) {
      // A newline may separate entries.
      if (text_.starts_with('\n')) text_.remove_prefix(1);
      const std::string_view word = take_until(text_, ' ');
      if (text_.size() < bytes) {
        fail("{} bytes after the word, expected {} for its vector: the file is truncated", text_.size(), bytes);
      }
      const std::span<float> vector = next();
      std::memcpy(vector.data(), text_.data(), bytes);
      text_.remove_prefix(bytes);
      const auto bad = std::ranges::find_if(vector, [](float value) { return !std::isfinite(value); });
      if (bad != vector.end()) {
        fail("'{}': number {} of {} is {}, expected a finite one", printable(word), bad - vector.begin() + 1,
             vector.size(), *bad);
      }
      add(word);
    }
    if (wanted == header.words && text_.find_first_not_of('\n') != text_.npos) {
      refuse(file_, "{} bytes after the {} words of the header, expected none", text_.size(), header.words);
    }
    return result();
  }

 private:
  // Throws FileError about the next entry.
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> what, Args&&... args) const {
    refuse(fmt::format("{}: {} {}", file_, unit_, first_ + entries_), what, std::forward<Args>(args)...);
  }

  // Reserves memory for `entries` vectors of `dims` numbers.
  void reserve(std::uint64_t entries, std::uint64_t dims) {
    if (entries > kMaxWords) refuse(file_, "{} words, expected at most {}", entries, kMaxWords);
    words_.reserve(static_cast<std::size_t>(entries));
    seen_.reserve(static_cast<std::size_t>(entries));
    vectors_ = Tensor::uninitialized({static_cast<Dim>(entries), static_cast<Dim>(dims)});
  }

  // Reserves memory for the header's number of entries, up to `limit`, and returns this number.
  // Throws first if the file is too small for the header: an entry takes two bytes plus at least
  // `number_bytes` per number, and only the last newline may be missing.
  std::uint64_t reserve(const Header& header, std::uint64_t number_bytes) {
    if (header.dims > text_.size()) {
      refuse(file_, "vectors of {} dimensions, expected at most as many as there are bytes, {}", header.dims,
             text_.size());
    }
    if (header.words < 1 || header.dims < 1) {
      refuse(file_, "{} words of {} dimensions, expected at least 1 of each", header.words, header.dims);
    }
    const auto smallest = checked_multiply(header.words, number_bytes * header.dims + 2);
    if (!smallest || *smallest > text_.size() + 1) {
      refuse(file_,
             "{} bytes after the header, expected {} words of {} dimensions: the file is truncated or its header wrong",
             text_.size(), header.words, header.dims);
    }
    const std::uint64_t wanted = std::min(header.words, limit_);
    reserve(wanted, header.dims);
    return wanted;
  }

  // Returns the row for the next entry's vector. Order of calls: next add
  std::span<float> next() {
    return {vectors_.row(static_cast<Dim>(words_.size())), static_cast<std::size_t>(vectors_.width())};
  }
  // Adds an entry, unless its word occurred before: then the next entry overwrites the row.
  void add(std::string_view word) {
    if (word.empty()) fail("an empty word, expected a word and its vector");
    if (seen_.insert(word).second) words_.emplace_back(word);
    ++entries_;
  }

  // Parses a line from its end: the numbers first, then the rest, which is the word.
  void add_line(std::string_view line) {
    const std::span<float> vector = next();
    for (std::size_t i = vector.size(); i-- > 0;) {
      if (line.empty()) fail("{} numbers, expected a word and {}", vector.size() - 1 - i, vector.size());
      const std::string_view token = take_last(line);
      const auto value = finite_number(token);
      if (!value) {
        fail("'{}' as number {} of {}, expected a finite decimal number", printable(token), i + 1, vector.size());
      }
      vector[i] = *value;
    }
    add(line);
  }

  // Throws if a line has more than `dims` numbers at its end, since numbers would become parts of
  // words. `witness`: origin of `dims`, for the message.
  // REQUIRES: the line is one of the first in the file, where words are frequent. No frequent word
  // has several tokens with a number at the end.
  void refuse_more_numbers(std::string_view line, std::uint64_t dims, std::string_view witness) const {
    for (std::uint64_t i = 0; i < dims; ++i) take_last(line);
    if (line.find(' ') == line.npos || !finite_number(take_last(line))) return;
    fail("more than {} numbers, expected as many as {}", dims, witness);
  }

  // Returns the words, with vectors of the rows in use.
  WordVectors result() {
    if (words_.empty()) refuse(file_, "no words, expected at least 1");
    const auto duplicates = static_cast<std::int64_t>(entries_ - words_.size());
    const Tensor vectors = vectors_.slice(0, static_cast<Dim>(words_.size()));
    return {std::move(words_), vectors, duplicates};
  }

  std::string_view text_;
  const std::string& file_;
  std::uint64_t limit_;
  std::string_view unit_;    // name of an entry in messages
  std::uint64_t first_ = 0;  // number of the first entry
  std::uint64_t entries_ = 0;
  std::vector<std::string> words_;
  std::unordered_set<std::string_view> seen_;  // views of `text_`
  Tensor vectors_;
};

// Returns whether the entries after a header are text: the first line is an entry, or the bytes in
// the position of a binary vector are printable.
bool is_text(std::string_view body, std::uint64_t dims) {
  // A text entry ends with `dims` numbers, after a word.
  std::string_view rest = body, line = without_end(take_until(rest, '\n'));
  std::uint64_t numbers = 0;
  while (numbers < dims && finite_number(take_last(line))) ++numbers;
  if (numbers == dims && !line.empty()) return true;
  // A damaged text entry is printable; binary floats hardly ever are.
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

WordVectors parse_word_vectors(const FileBytes& source, const WordVectorOptions& options) {
  const std::string& file = source.name;
  refuse_git_lfs_pointer(source.bytes, file);
  std::string_view content = as_text(source.bytes);
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);  // UTF-8 byte order mark
  if (content.starts_with("\x1f\x8b"))
    refuse(file, "compressed with gzip, expected an uncompressed file: run gunzip first");
  if (options.limit.value_or(1) < 1) {
    refuse<InputError>(file, "a limit of {} words, expected at least 1", *options.limit);
  }
  const auto limit = static_cast<std::uint64_t>(options.limit.value_or(kMaxWords + 1));
  // The first line decides between GloVe and word2vec.
  std::string_view behind = content;
  const std::string_view first = without_end(take_until(behind, '\n'));
  const auto header = header_of(first);
  if (options.format == Format::glove || (!header && options.format == Format::automatic)) {
    return VectorParser(content, file, limit).glove();
  }
  if (!header) refuse(file, "line 1: '{}', expected the numbers of words and dimensions", printable(first));
  const bool text =
      options.format == Format::automatic ? is_text(behind, header->dims) : options.format == Format::word2vec_text;
  VectorParser parser(behind, file, limit);
  return text ? parser.word2vec_text(*header) : parser.word2vec_binary(*header);
}

WordVectors read_word_vectors(const std::filesystem::path& path, const WordVectorOptions& options) {
  const auto file = MappedFile::open(path);
  return parse_word_vectors({file->bytes(), file, path.string()}, options);
}

}  // namespace lessons
