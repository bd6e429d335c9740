#include "page.h"

#include <encdec/engine/base/error.h>
#include <encdec/models/checkpoint/written_json.h>
#include <encdec/models/tokenizer/pipeline/characters.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "token_text.h"

namespace encdec::cli {
namespace {

using Json = WrittenJson;

constexpr std::string_view kTemplate =
#include "page.html.inc"
    ;
constexpr std::string_view kExamplesGoHere = "<!-- examples -->\n";
constexpr std::size_t kBegin = kTemplate.find(kExamplesGoHere);
static_assert(kBegin != std::string_view::npos);

void check(const AttentionExample& example) {
  std::int64_t weights = 0;
  for (const LabelledAttention& attention : example.attentions) {
    attention.check();
    weights += attention.map.weights.elements();
  }
  if (example.attentions.empty()) throw InputError("page: an example without attention, expected one kind at least");
  if (weights > AttentionPage::kMaxWeights) {
    throw InputError(fmt::format("page: {} weights in one example, expected at most {}: means have less", weights,
                                 AttentionPage::kMaxWeights));
  }
}

// JSON in which nothing ends a script element.
std::string inside_script(const Json& json) {
  std::string result;
  for (const char c : json.dump()) result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

std::string inside_attribute(std::string_view text) {
  std::string result;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '"': result += "&quot;"; break;
      case '<': result += "&lt;"; break;
      case '\0': result += "\uFFFD"; break;
      default: result += c;
    }
  }
  return result;
}

Json visible_tokens(const std::vector<std::string>& tokens) {
  Json array = Json::array();
  for (const std::string& token : tokens) array.push_back(visible(token));
  return array;
}

// Base64 (RFC 4648) of three weights, as 16-bit numbers, low byte first.
void append_base64(std::string& text, std::span<const float, 3> weights) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint64_t bits = 0;
  for (const float weight : weights) {
    const auto value = static_cast<std::uint64_t>(std::lround(std::min(weight, 1.0F) * 65535.0));
    bits = bits << 16 | (value & 0xFF) << 8 | value >> 8;
  }
  for (int shift = 42; shift >= 0; shift -= 6) text += kDigits[bits >> shift & 0x3F];
}

void write_weights(const Tensor& weights, const TextSink& write) {
  constexpr std::size_t kPieceBytes = 1 << 16;
  const std::span values(weights.data<float>(), static_cast<std::size_t>(weights.elements()));
  std::string text;
  for (std::size_t i = 0; i < values.size(); i += 3) {
    float three[3] = {};
    std::ranges::copy(values.subspan(i, std::min<std::size_t>(3, values.size() - i)), three);
    append_base64(text, three);
    if (text.size() < kPieceBytes) continue;
    write(text);
    text.clear();
  }
  write(text);
}

}  // namespace

AttentionPage::AttentionPage(TextSink write) : write_(std::move(write)) {
  write_(kTemplate.substr(0, kBegin));
}

void AttentionPage::add(const AttentionExample& example) {
  check(example);
  Json alignment = Json::array();
  for (const std::size_t key : example.alignment) alignment.push_back({alignment.size(), key});
  write_(fmt::format("<script type=\"application/json\" data-title=\"{}\">{{\"alignment\":{},\"attentions\":[",
                     inside_attribute(example.title), inside_script(alignment)));
  bool first = true;
  for (const LabelledAttention& attention : example.attentions) {
    const Json labels = {
        {"kind", to_string(attention.map.kind)},        {"marked", attention.map.kind == AttentionKind::cross},
        {"layers", visible_tokens(attention.layers)},   {"heads", visible_tokens(attention.heads)},
        {"queries", visible_tokens(attention.queries)}, {"keys", visible_tokens(attention.keys)}};
    write_(fmt::format("{}{{\"labels\":{},\"weights\":\"", first ? "" : ",", inside_script(labels)));
    write_weights(attention.map.weights, write_);
    write_("\"}");
    first = false;
  }
  write_("]}</script>\n");
}

void AttentionPage::end() {
  write_(kTemplate.substr(kBegin + kExamplesGoHere.size()));
}

}  // namespace encdec::cli
