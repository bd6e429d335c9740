#include "token_ids.h"

#include <encdec/engine/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace encdec::cli {
namespace {

constexpr std::string_view kSeparators = " \t";
constexpr std::size_t kShownBytes = 40;

}  // namespace

TokenIds parse_token_ids(std::string_view line, Dim vocabulary, const std::string& position) {
  TokenIds ids;
  for (std::size_t begin = line.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSeparators, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    std::int32_t id = -1;
    const auto [last, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || last != word.data() + word.size() || id < 0 || id >= vocabulary) {
      throw InputError(fmt::format("{}: token {} is '{}', expected an integer from 0 to {}", position, ids.size() + 1,
                                   word.substr(0, kShownBytes), vocabulary - 1));
    }
    ids.push_back(id);
    begin = line.find_first_not_of(kSeparators, end);
  }
  return ids;
}

std::string format_token_ids(const TokenIds& ids) {
  return fmt::format("{}", fmt::join(ids, " "));
}

}  // namespace encdec::cli
