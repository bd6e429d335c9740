#include <fmt/format.h>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/refuse.h"
#include "encdec/models/checkpoint/json.h"
#include "encdec/models/checkpoint/json_events.h"
#include "encdec/models/tokenizer/pipeline/serde_number.h"
#include "encdec/models/tokenizer/pipeline/tokenizer_json.h"

namespace encdec {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxOtherValues = 2'000'000;  // thousands of added tokens with 10 values each fit easily

// Splits "a b" into a pair. Returns nullopt for anything else.
std::optional<std::pair<std::string, std::string>> split_merge(std::string_view merge) {
  const std::size_t space = merge.find(' ');
  if (space == std::string_view::npos || merge.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
  return std::pair(std::string(merge.substr(0, space)), std::string(merge.substr(space + 1)));
}

// A handler of the file's JSON events. It stores the two long lists directly and builds JSON values of everything else.
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
    switch (list_) {
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

  bool is_at(std::string_view member) const {
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

  template <typename Number>
  bool number(Number found, double as_double) {
    if (list_ == List::none) return value(found);
    if (list_ != List::pieces || list_depth_ != 2 || item_size_ != 1) fail_list(fmt::to_string(found));
    result_.pieces->push_back({std::move(text_), as_double});
    ++item_size_;
    return true;
  }

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
      refuse<TokenizerError>(file(), "more than {} values beside model.vocab and model.merges", kMaxOtherValues);
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

}  // namespace

TokenizerJsonFile TokenizerJsonFile::parse(std::string_view json, const std::string& name) {
  TokenizerJsonFile result;
  TokenizerJsonReader reader(result, name);
  read_json_events(json, reader);
  result.rest.emplace(reader.take(), name);
  return result;
}

}  // namespace encdec
