#include "encdec/models/tokenizer/pipeline/pattern.h"

#include <fmt/format.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/tokenizer/pipeline/characters.h"

namespace encdec {
namespace {

template <auto kFree>
struct Free {  // a deleter that calls one of PCRE2's free functions
  template <typename T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};

// Limits. Patterns of published tokenizers have less than 1000 bytes and need fewer than 100 steps per match.
constexpr std::size_t kMaxPatternBytes = 16u << 10;
constexpr std::uint32_t kMaxSteps = 1'000'000;  // maximum for one start offset of a match
// Finding all matches in a text of n bytes may take kFreeSteps + kStepsPerByte * n steps. One step tries a part of the
// pattern, or moves past one byte of the text.
constexpr std::size_t kFreeSteps = 1000;
constexpr std::size_t kStepsPerByte = 100;
constexpr std::uint32_t kMaxDepth = 1'000'000;
constexpr std::uint32_t kMaxHeapKib = 128u << 10;

template <typename Pointer>
Pointer checked(Pointer pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 200> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

// Contents of brackets for Oniguruma's \s and \w. In PCRE2, \s includes U+180E as well, and \w excludes marks.
constexpr std::string_view kSpaceClass = R"(\t-\r\x{85}\p{Z})";
constexpr std::string_view kWordCharacters =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}\x{24B6}-\x{24E9})"
    R"(\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
constexpr std::string_view kHexDigits = "0-9a-fA-F";

// Translates a regular expression from Oniguruma to PCRE2. Refuses constructs that mean something else in PCRE2.
class Translator {
 public:
  Translator(std::string_view expression, const std::string& name)
      : whole_(expression), rest_(expression), name_(name) {}

  std::string translate() {
    while (!rest_.empty()) {
      if (rest_[0] == '\\') {
        escape();
      } else if (rest_[0] == '[') {
        character_class();
      } else if (rest_[0] == '(') {
        group();
      } else if (rest_[0] == '{') {
        interval();
      } else {
        take(1);
      }
    }
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    refuse<TokenizerError>(name_, "the regular expression \"{}\" has {}, which is not supported", printable(whole_),
                           what);
  }

  void take(std::size_t size) {
    result_ += rest_.substr(0, size);
    skip(size);
  }
  void skip(std::size_t size) { rest_.remove_prefix(std::min(size, rest_.size())); }
  void put(std::size_t size, std::string_view translation) {
    skip(size);
    result_ += translation;
  }

  void put_class(std::string_view members, bool negated) { put(2, fmt::format("[{}{}]", negated ? "^" : "", members)); }

  void escape() {  // translates an escape outside brackets
    switch (rest_.size() > 1 ? rest_[1] : '\0') {
      case 's': return put_class(kSpaceClass, false);
      case 'S': return put_class(kSpaceClass, true);
      case 'w': return put_class(kWordCharacters, false);
      case 'W': return put_class(kWordCharacters, true);
      case 'h': return put_class(kHexDigits, false);
      case 'H': return put_class(kHexDigits, true);
      case 'b': return put(2, fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWordCharacters));
      case 'B': return put(2, fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWordCharacters));
      case 'A':
      case 'z':
      case 'Z': return take(2);
      default: return common_escape();
    }
  }

  void class_escape() {  // translates an escape inside brackets
    switch (rest_.size() > 1 ? rest_[1] : '\0') {
      case 's': return put(2, kSpaceClass);
      case 'S': return take(2);  // the meaning differs only at U+180E
      case 'w': return put(2, kWordCharacters);
      case 'h': return put(2, kHexDigits);
      default: return common_escape();
    }
  }

  // Translates an escape that means the same inside and outside brackets.
  void common_escape() {
    const char c = rest_.size() > 1 ? rest_[1] : '\0';
    const bool alphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (c == 'v') return put(2, R"(\x0B)");
    if (c == 'u') return unicode_escape();
    if (c == 'x') return hex_escape();
    if (c == 'p' || c == 'P') return property();
    const bool same = std::string_view("tnrfaedD").find(c) != std::string_view::npos;
    if (c == '\0' || (alphanumeric && !same)) fail(fmt::format("\\{}", printable(rest_.substr(1, 1))));
    take(2);
  }

  void unicode_escape() {
    const std::string_view digits = rest_.substr(2, 4);
    if (digits.size() != 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) fail("\\u");
    put(6, fmt::format("\\x{{{}}}", digits));
  }

  void hex_escape() {
    if (rest_.size() > 2 && rest_[2] == '{') return take(2);
    const std::string_view digits = rest_.substr(2, 2);
    // \x80 to \xFF are bytes in Oniguruma, not characters.
    if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos ||
        digits[0] > '7') {
      fail("\\x without braces");
    }
    take(4);
  }

  // Translates \p{L}. A name of one or two letters is a general category; a longer name is a script. Scripts get the
  // prefix "sc:", because without it PCRE2 matches script extensions.
  void property() {
    const std::size_t end = rest_.find('}');
    if (rest_.size() < 3 || rest_[2] != '{' || end == std::string_view::npos) fail("\\p without braces");
    std::string_view property_name = rest_.substr(3, end - 3);
    const bool negated = property_name.starts_with('^');
    if (negated) property_name.remove_prefix(1);
    const bool is_category = property_name.size() <= 2 || property_name == "Any";
    const std::string translation =
        fmt::format("\\{}{{{}{}{}}}", rest_[1], negated ? "^" : "", is_category ? "" : "sc:", property_name);
    put(end + 1, translation);
  }

  // Translates brackets. A "]" in the first position is an ordinary character.
  void character_class() {
    take(1);
    if (rest_.starts_with('^')) take(1);
    bool is_first = true;
    while (!rest_.empty() && (is_first || rest_[0] != ']')) {
      is_first = false;
      if (rest_.starts_with("&&")) fail("&& in brackets");
      if (rest_.starts_with("[:space:]")) {
        put(9, kSpaceClass);
      } else if (rest_.starts_with("[:punct:]")) {
        put(9, R"(\p{P}\p{S})");
      } else if (rest_[0] == '[') {
        fail("brackets in brackets");
      } else if (rest_[0] == '\\') {
        class_escape();
      } else {
        take(1);
      }
    }
    if (rest_.empty()) fail("a bracket that is not closed");
    take(1);
  }

  // Translates the beginning of a group or look-around. PCRE2 differs only in one option: Oniguruma's m is PCRE2's s.
  void group() {
    if (rest_.starts_with("(*")) fail("(*");
    if (!rest_.starts_with("(?")) return take(1);
    for (const std::string_view same : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
      if (rest_.starts_with(same)) return take(same.size());
    }
    const std::size_t end = rest_.find_first_not_of("im-", 2);
    if (end == std::string_view::npos || end == 2) fail("an unknown group (?");
    const bool to_the_end = rest_[end] == ')';
    if (rest_[end] != ':' && !to_the_end) fail("(? with other options than i and m");
    if (to_the_end && rest_.size() != whole_.size()) fail("options after the beginning");
    std::string options(rest_.substr(0, end + 1));
    for (char& option : options) option = option == 'm' ? 's' : option;
    put(end + 1, options);
  }

  // Translates an interval such as {1,3}. A "{" that does not begin an interval is an ordinary character.
  void interval() {
    const std::size_t end = rest_.find_first_not_of("0123456789,", 1);
    const bool is_interval = end != std::string_view::npos && rest_[end] == '}' && end > 1;
    if (!is_interval) return put(1, R"(\{)");
    if (rest_[1] == ',') fail("an interval without lower bound");
    const char after = end + 1 < rest_.size() ? rest_[end + 1] : '\0';
    const bool exact = rest_.substr(0, end).find(',') == std::string_view::npos;
    if (after == '+' || (after == '?' && exact)) fail("an interval with + or ? after it");
    take(end + 1);
  }

  std::string_view whole_;
  std::string_view rest_;
  const std::string& name_;
  std::string result_;
};

struct Compiled {
  std::unique_ptr<pcre2_code, Free<pcre2_code_free>> code;
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> limits;
  std::string name;  // for messages
};

// Counts and limits the steps of finding all matches in a text. PCRE2's own limit applies per start offset, so a
// pattern that reads from every offset to the end of the text would still take quadratic time.
class StepCounter {
 public:
  explicit StepCounter(std::size_t text_bytes) : left_(kFreeSteps + kStepsPerByte * text_bytes) {}

  // PCRE2 calls this "callout" before it tries each part of the pattern, and stops if the result is not 0.
  static int count(pcre2_callout_block* block, void* counter) noexcept {
    return static_cast<StepCounter*>(counter)->count_to(block->current_position);
  }
  // Throws the exception that stopped the search, if there was one.
  void rethrow() {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  int count_to(std::size_t position) noexcept {
    const std::size_t steps = 1 + (position > position_ ? position - position_ : 0);
    position_ = position;
    if (steps > left_) return PCRE2_ERROR_MATCHLIMIT;
    left_ -= steps;
    try {
      poll_cancelled();
      return 0;
    } catch (...) {
      failure_ = std::current_exception();
      return PCRE2_ERROR_CALLOUT;
    }
  }

  std::size_t left_;
  std::size_t position_ = 0;  // offset in the text at the previous call of count_to()
  std::exception_ptr failure_;
};

void find_all(const Compiled& regex, std::string_view text, const MatchSink& take) {
  // Allocate space for the whole match only, because groups are not needed.
  const std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> data(
      checked(pcre2_match_data_create(1, nullptr)));
  const std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> limits(
      checked(pcre2_match_context_copy(regex.limits.get())));
  StepCounter counter(text.size());
  pcre2_set_callout(limits.get(), StepCounter::count, &counter);
  std::optional<std::size_t> last_end;
  std::size_t position = 0;
  while (position <= text.size()) {
    const int found = pcre2_match(regex.code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), position,
                                  PCRE2_NO_UTF_CHECK, data.get(), limits.get());
    counter.rethrow();
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      refuse<TokenizerError>(regex.name, "the regular expression failed at byte {} of a text of {} bytes: {}", position,
                             text.size(), message_of(found));
    }
    const std::size_t* ends = pcre2_get_ovector_pointer(data.get());
    if (ends[0] == ends[1] && last_end == ends[1]) {  // skip an empty match at the end of the previous match
      position += position < text.size() ? first_character(text.substr(position)).bytes : 1;
      continue;
    }
    const std::size_t end = ends[1];
    take({ends[0], end});
    last_end = position = end;
  }
}

void find_all(std::string_view literal, std::string_view text, const MatchSink& take) {
  if (literal.empty()) {  // an empty text matches before every character and at the end
    for (std::size_t position = 0; position < text.size();) {
      take({position, position});
      position += first_character(text.substr(position)).bytes;
    }
    return take({text.size(), text.size()});
  }
  for (std::size_t begin = text.find(literal); begin != std::string_view::npos;) {
    const std::size_t end = begin + literal.size();
    take({begin, end});
    begin = text.find(literal, end);
  }
}

}  // namespace

Pattern literal_pattern(std::string text) {
  return [literal = std::move(text)](std::string_view in, const MatchSink& take) { find_all(literal, in, take); };
}

Pattern regex_pattern(const std::string& expression, const std::string& name) {
  if (expression.size() > kMaxPatternBytes) {
    refuse<TokenizerError>(name, "a regular expression of {} bytes, expected at most {}", expression.size(),
                           kMaxPatternBytes);
  }
  // Like Oniguruma, match UTF-8, Unicode classes, and ^ and $ at every line. Callouts let StepCounter count the steps.
  const std::string translated = Translator(expression, name).translate();
  const std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>> context(
      checked(pcre2_compile_context_create(nullptr)));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  std::size_t offset = 0;
  const auto regex = std::make_shared<Compiled>();
  regex->name = name;
  regex->code.reset(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT, &error,
                    &offset, context.get()));
  if (regex->code == nullptr) {
    refuse<TokenizerError>(name, "the regular expression \"{}\" is not valid: {}", printable(expression),
                           message_of(error));
  }
  // Limit each match; StepCounter limits the whole search.
  regex->limits.reset(checked(pcre2_match_context_create(nullptr)));
  pcre2_set_match_limit(regex->limits.get(), kMaxSteps);
  pcre2_set_depth_limit(regex->limits.get(), kMaxDepth);
  pcre2_set_heap_limit(regex->limits.get(), kMaxHeapKib);
  return [regex](std::string_view text, const MatchSink& take) { find_all(*regex, text, take); };
}

}  // namespace encdec
