#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxOtherValues = 2'000'000;  // enough for 100,000 added tokens with 10 values each

// Splits "a b" into a pair. Returns nullopt for anything else.
std::optional<std::pair<std::string, std::string>> split_merge(std::string_view merge) {
  const std::size_t space = merge.find(' ');
  if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(merge.substr(0, space)), std::string(merge.substr(space + 1)));
}

// Handles the file's JSON events. Stores the long lists directly, and builds JSON values of the rest.
class TokenizerJsonReader final : public JsonTree {
 public:
  TokenizerJsonReader(TokenizerJsonFile& result, const std::string& name) : JsonTree(name), result_(result) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool found) override { return value(found); }
  bool number_integer(Json::number_integer_t found) override { return number(found, static_cast<double>(found)); }
  bool number_unsigned(Json::number_unsigned_t found) override {
    if (list_ == List::vocabulary) {
      if (found >= std::uint64_t{kMaxTokenIds}) fail_list(fmt::to_string(found));
      result_.vocabulary->add(std::move(text_), static_cast<std::int32_t>(found), file() + ": model.vocab");
      return true;
    }
    return number(found, static_cast<double>(found));
  }
  bool number_float(Json::number_float_t found, const std::string& written) override {
    return number(found, list_ == List::pieces ? read_serde_number(written).value_or(found) : found);
  }

  bool string(std::string& found) override {
    poll_cancelled();
    switch (list_) {  // a subword, a merge, a part of a merge, or a value outside the long lists
      case List::none: return value(std::move(found));
      case List::vocabulary: fail_list("a string");
      case List::pieces:
        if (list_depth_ != 2 || item_size_ != 0) fail_list("a string");
        text_ = std::move(found);
        ++item_size_;
        return true;
      case List::merges: return merge(found);
    }
    return true;
  }

  bool start_object(std::size_t size) override {
    if (list_ != List::none) fail_list("an object");
    if (is_at("vocab")) {
      list_ = List::vocabulary;
      list_depth_ = 1;
      result_.vocabulary.emplace();
      return true;
    }
    count();
    return JsonTree::start_object(size);
  }

  // Begins a long list, or an item of a long list that is itself a list.
  bool start_array(std::size_t size) override {
    if (list_ == List::vocabulary || list_depth_ == 2) fail_list("a list");
    if (list_ != List::none) {
      list_depth_ = 2;
      item_size_ = 0;
      return true;
    }
    if (is_at("vocab")) {
      list_ = List::pieces;
      result_.pieces.emplace();
    } else if (is_at("merges")) {
      list_ = List::merges;
      result_.merges.emplace();
    } else {
      count();
      return JsonTree::start_array(size);
    }
    list_depth_ = 1;
    return true;
  }

  bool key(std::string& key) override {
    if (list_ != List::none) {
      text_ = std::move(key);
      return true;
    }
    JsonTree::key(key);
    if (depth() <= kNamedLevels) names_[depth() - 1] = std::move(key);
    return true;
  }

  bool end_object() override { return list_ != List::none ? end_list() : JsonTree::end_object(); }
  bool end_array() override {
    if (list_ == List::none) return JsonTree::end_array();
    if (list_depth_ == 1) return end_list();
    list_depth_ = 1;
    if (item_size_ != 2) fail_list(fmt::format("a list of {}", item_size_));
    ++items_;
    return true;
  }

 private:
  enum class List { none, vocabulary, pieces, merges };

  static constexpr std::size_t kNamedLevels = 2;  // "model", "vocab"

  bool is_at(std::string_view member) const {  // whether the next value is model.`member`
    return depth() == 2 && in_object() && names_[0] == "model" && names_[1] == member;
  }

  [[noreturn]] void fail_list(std::string_view found) const {
    if (list_ == List::vocabulary) {
      refuse<TokenizerError>(file(), "model.vocab: '{}' is {}, expected an id from 0 to {}", printable(text_), found,
                             kMaxTokenIds - 1);
    }
    const bool merges = list_ == List::merges;
    refuse<TokenizerError>(file(), "model.{}[{}]: {}, expected {}", merges ? "merges" : "vocab", items_, found,
                           merges ? "two pieces" : "a piece and its score");
  }

  // Adds the score of a subword, or a number outside the long lists.
  template <typename Number>
  bool number(Number found, double as_double) {
    if (list_ == List::none) return value(found);
    if (list_ != List::pieces || list_depth_ != 2 || item_size_ != 1) fail_list(fmt::to_string(found));
    result_.pieces->push_back({std::move(text_), as_double});
    ++item_size_;
    return true;
  }

  // Adds a merge "a b", or one part of a merge that is a list of two strings. A file must use one form only.
  bool merge(std::string& found) {
    if (list_depth_ == 2) {
      if (item_size_ == 2 || is_text_merges_) fail_list("a list");
      if (item_size_++ == 0) {
        text_ = std::move(found);
      } else {
        result_.merges->emplace_back(std::move(text_), std::move(found));
      }
      return true;
    }
    if (!is_text_merges_ && items_ > 0) fail_list("a string");
    is_text_merges_ = true;
    if (!found.starts_with("#version")) {
      auto pair = split_merge(found);
      if (!pair) fail_list(fmt::format("\"{}\"", printable(found)));
      result_.merges->push_back(*std::move(pair));
    }
    ++items_;
    return true;
  }

  bool end_list() {
    list_ = List::none;
    list_depth_ = items_ = 0;
    return true;
  }

  bool value(Json found) {
    if (list_ != List::none) fail_list(found.type_name());
    count();
    return add(std::move(found));
  }

  void count() {
    if (++values_ > kMaxOtherValues) {
      refuse<TokenizerError>(file(), "more than {} values outside model.vocab and model.merges", kMaxOtherValues);
    }
  }

  TokenizerJsonFile& result_;
  std::string names_[kNamedLevels];  // current keys of the outermost object and of the object in it
  std::size_t values_ = 0;

  // State within a long list.
  List list_ = List::none;
  std::size_t list_depth_ = 0;   // 1: in the list; 2: in an item that is a list
  std::size_t items_ = 0;        // complete items
  std::size_t item_size_ = 0;    // values of the current item
  bool is_text_merges_ = false;  // merges are strings "a b"
  std::string text_;             // first value of the current item, or the current key
};

constexpr int kLargestPower = 308;  // largest power of 10 in a double

double power_of_ten(int exponent) {
  static const std::array<double, kLargestPower + 1> powers = [] {
    std::array<double, kLargestPower + 1> result{};
    for (int i = 0; i <= kLargestPower; ++i) {
      const std::string text = fmt::format("1e{}", i);
      std::from_chars(text.data(), text.data() + text.size(), result[static_cast<std::size_t>(i)]);
    }
    return result;
  }();
  return powers[static_cast<std::size_t>(exponent)];
}

// The number significand * 10^exponent. Digits that do not fit into the significand are dropped, as in serde_json.
struct Digits {
  std::uint64_t significand = 0;
  std::int64_t exponent = 0;
};

Digits read_digits(std::string_view digits) {
  Digits result;
  bool is_full = false;
  bool is_fraction = false;
  for (const char c : digits) {
    if (c == '.') {
      is_fraction = true;
      continue;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    is_full = is_full || result.significand > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (!is_full) result.significand = result.significand * 10 + digit;
    if (is_full != is_fraction) result.exponent += is_full ? 1 : -1;
  }
  return result;
}

}  // namespace

std::optional<double> read_serde_number(std::string_view json) {
  const bool is_negative = json.starts_with('-');
  if (is_negative) json.remove_prefix(1);
  const std::size_t end = std::min(json.find_first_of("eE"), json.size());
  auto [significand, exponent] = read_digits(json.substr(0, end));
  // Add the written exponent. If it overflows, use a value so large that the result is 0 or out of range.
  if (end < json.size()) {
    std::string_view written = json.substr(end + 1);
    if (written.starts_with('+')) written.remove_prefix(1);
    std::int32_t value = 0;
    const auto [rest, error] = std::from_chars(written.data(), written.data() + written.size(), value);
    const bool is_tiny = written.starts_with('-');
    exponent += error == std::errc() ? value
                : is_tiny            ? std::numeric_limits<std::int32_t>::min() / 2
                                     : std::numeric_limits<std::int32_t>::max() / 2;
  }
  // Scale with powers of ten in the order of serde_json, to get the same rounding.
  auto number = static_cast<double>(significand);
  while (exponent < -kLargestPower && number != 0) {
    number /= power_of_ten(kLargestPower);
    exponent += kLargestPower;
  }
  if (number != 0 && exponent > kLargestPower) return std::nullopt;
  if (number != 0) {
    const double power = power_of_ten(static_cast<int>(std::abs(exponent)));
    number = exponent >= 0 ? number * power : number / power;
  }
  if (std::isinf(number)) return std::nullopt;
  return is_negative ? -number : number;
}

TokenizerJsonFile TokenizerJsonFile::parse(std::string_view json, const std::string& name) {
  TokenizerJsonFile result;
  TokenizerJsonReader reader(result, name);
  read_json_events(json, reader);
  result.rest.emplace(reader.take(), name);
  return result;
}

}  // namespace encdec
