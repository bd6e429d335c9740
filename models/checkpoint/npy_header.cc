#include "encdec/models/checkpoint/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "encdec/engine/error.h"
#include "encdec/models/checkpoint/json.h"

namespace encdec {
namespace {

constexpr std::size_t kMaxRank = 32;  // of NumPy 1

class Parser {
 public:
  Parser(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  NpyHeader parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::uint64_t>> shape;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        descr = string();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = sizes();
      } else {
        fail("descr, fortran_order and shape, each once");
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("nothing behind the dict");
    if (!descr || !fortran_order || !shape) fail("descr, fortran_order and shape");
    return {*std::move(descr), *fortran_order, *std::move(shape)};
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw FileError(
        fmt::format("{}: '{}' in the header, expected {}", where_, printable(rest_.substr(0, 40)), expected));
  }

  void skip_space() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end);
  }

  bool take(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("'{}'", wanted));
  }

  std::string string() {
    skip_space();
    const char quote = rest_.starts_with('"') ? '"' : '\'';
    const std::size_t end = rest_.starts_with(quote) ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) fail("a string, as plain types have");
    const std::string_view content = rest_.substr(1, end - 1);
    if (content.find('\\') != content.npos) fail("a string without escapes");
    rest_.remove_prefix(end + 1);
    return std::string(content);
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    fail("True or False");
  }

  // (), (3,), (2, 3): a comma behind the last is needed where there is one only.
  std::vector<std::uint64_t> sizes() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!take(')')) {
      if (result.size() == kMaxRank) fail(fmt::format("at most {} sizes", kMaxRank));
      result.push_back(size());
      if (take(',')) continue;
      if (result.size() == 1) fail("a comma: a tuple");
      expect(')');
      break;
    }
    return result;
  }

  std::uint64_t size() {
    skip_space();
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) fail("a size of at most 64 bits");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // of Python 2
    return value;
  }

  std::string_view rest_;
  const std::string& where_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

}  // namespace encdec
