#include "encdec/translation/documents/plural_forms.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "encdec/models/tokenizer/base/utf8.h"
#include "encdec/translation/documents/text_file.h"

namespace encdec::documents {
namespace {

constexpr std::size_t kMaxExpressionBytes = 500;
constexpr int kMaxNumber = 1000;

using Number = unsigned long;

struct Operator {
  std::string_view name;
  int level;  // precedence; 0 is the lowest
  Number (*apply)(Number, Number);
};
constexpr int kUnaryLevel = 5;
constexpr std::array kOperators = {
    Operator{"||", 0, [](Number a, Number b) { return Number{a != 0 || b != 0}; }},
    Operator{"&&", 1, [](Number a, Number b) { return Number{a != 0 && b != 0}; }},
    Operator{"==", 2, [](Number a, Number b) { return Number{a == b}; }},
    Operator{"!=", 2, [](Number a, Number b) { return Number{a != b}; }},
    Operator{"<=", 3, [](Number a, Number b) { return Number{a <= b}; }},
    Operator{">=", 3, [](Number a, Number b) { return Number{a >= b}; }},
    Operator{"<", 3, [](Number a, Number b) { return Number{a < b}; }},
    Operator{">", 3, [](Number a, Number b) { return Number{a > b}; }},
    Operator{"%", 4, [](Number a, Number b) { return b == 0 ? b : a % b; }},
};

// Evaluates a C expression in n, with the operators of Plural-Forms headers. Numbers are unsigned, as in gettext.
class Expression {
 public:
  // Rejects expressions that are longer than any real header, because each parenthesis causes a recursion.
  Expression(std::string_view text, Number n) : text_(text.size() <= kMaxExpressionBytes ? text : ""), n_(n) {}

  // Returns nullopt if the text is not an expression.
  std::optional<Number> value() {
    const Number value = conditional();
    return take("") && is_good_ && text_.empty() ? std::optional(value) : std::nullopt;
  }

 private:
  bool take(std::string_view token) {
    text_.remove_prefix(std::min(text_.find_first_not_of(kBlanks), text_.size()));
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) { is_good_ = take(token) && is_good_; }
  Number conditional() {
    const Number condition = binary(0);
    if (!take("?")) return condition;
    const Number yes = conditional();
    expect(":");
    const Number no = conditional();
    return condition != 0 ? yes : no;
  }
  Number binary(int level) {
    if (level == kUnaryLevel) return unary();
    Number left = binary(level + 1);
    for (;;) {
      const auto found =
          std::ranges::find_if(kOperators, [&](const Operator& o) { return o.level == level && take(o.name); });
      if (found == kOperators.end()) return left;
      left = found->apply(left, binary(level + 1));
    }
  }
  Number unary() {
    if (take("!")) return Number{unary() == 0};
    if (take("n")) return n_;
    Number number = 0;
    if (take("(")) {
      number = conditional();
      expect(")");
      return number;
    }
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) is_good_ = false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return number;
  }

  std::string_view text_;
  Number n_;
  bool is_good_ = true;
};

// Headers of languages whose forms differ from English (GNU gettext manual, "Plural forms"; CLDR).
struct PluralRow {
  std::string_view languages;  // language codes, each with a space on both sides
  std::string_view header;
};
constexpr std::array kPluralRows = {
    PluralRow{" ja ko zh vi th id ms ka lo my ", "nplurals=1; plural=0;"},
    PluralRow{" fr hy kab pt-br ", "nplurals=2; plural=(n > 1);"},
    PluralRow{" ru uk be sr hr bs ",
              "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"},
    PluralRow{" pl ", "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"},
    PluralRow{" cs sk ", "nplurals=3; plural=(n==1 ? 0 : n>=2 && n<=4 ? 1 : 2);"},
    PluralRow{" lt ", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);"},
    PluralRow{" lv ", "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);"},
    PluralRow{" ro ", "nplurals=3; plural=(n==1 ? 0 : n==0 || (n%100>0 && n%100<20) ? 1 : 2);"},
    PluralRow{" sl ", "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);"},
    PluralRow{" ga ", "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);"},
    PluralRow{" ar ",
              "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);"},
};

// Returns the value of the field `name` in a header: the text between "=" and ";".
std::string_view value_of(std::string_view header, std::string_view name) {
  for (std::size_t position = header.find(name); position != header.npos; position = header.find(name, position + 1)) {
    const std::size_t equals = header.find_first_not_of(kBlanks, position + name.size());
    if (equals == header.npos || header[equals] != '=') continue;
    const std::string_view rest = header.substr(equals + 1);
    return rest.substr(0, rest.find(';'));
  }
  return {};
}

}  // namespace

std::optional<PluralForms> PluralForms::parse(std::string_view header) {
  constexpr Number kMaxForms = 10;
  const std::string_view expression = value_of(header, "plural"), number = trim(value_of(header, "nplurals"));
  Number count = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (count == 0 || count > kMaxForms) return std::nullopt;
  PluralForms forms;
  forms.examples_.resize(count);
  for (int n = kMaxNumber; n > 0; --n) {  // descending, so that the smallest example remains
    const auto form = Expression(expression, static_cast<Number>(n)).value();
    if (!form || *form >= count) return std::nullopt;
    if (n > 1) forms.examples_[*form] = n;
    if (n == 1) forms.form_of_one_ = *form;
  }
  return forms;
}

std::string_view PluralForms::header_of(std::string_view language) {
  std::string whole = lower_case(language);
  std::ranges::replace(whole, '_', '-');
  for (const std::string& code : {" " + whole + " ", " " + whole.substr(0, whole.find('-')) + " "}) {
    const auto row =
        std::ranges::find_if(kPluralRows, [&](const PluralRow& r) { return r.languages.find(code) != code.npos; });
    if (row != kPluralRows.end()) return row->header;
  }
  return "nplurals=2; plural=(n != 1);";
}

}  // namespace encdec::documents
