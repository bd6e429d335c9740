#include "attention/page.h"

#include <encdec/engine/base/base64.h>
#include <encdec/engine/base/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/svg.h"
#include "attention/token_text.h"

namespace encdec::cli {
namespace {

using Json = nlohmann::ordered_json;

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
    throw InputError(fmt::format("page: {} weights in one example, expected at most {}; a mean has fewer", weights,
                                 AttentionPage::kMaxWeights));
  }
}

// Returns JSON in which no text can end a script element.
std::string inside_script(const Json& json) {
  std::string result;
  for (const char c : json.dump()) result += c == '<' ? "\\u003c" : std::string(1, c);
  return result;
}

Json visible_tokens(const std::vector<std::string>& tokens) {
  Json array = Json::array();
  for (const std::string& token : tokens) array.push_back(visible(token));
  return array;
}

// Writes the weights in Base64, as 16-bit numbers, low byte first. Appends zeros up to a multiple of three numbers.
void write_weights(const Tensor& weights, const TextSink& write) {
  constexpr std::size_t kPieceBytes = 6 << 13;
  const std::span values(weights.data<float>(), static_cast<std::size_t>(weights.elements()));
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < values.size() || i % 3 != 0; ++i) {
    const float weight = i < values.size() ? values[i] : 0.0F;
    const auto value = static_cast<unsigned>(std::lround(std::min(weight, 1.0F) * 65535.0));
    bytes.push_back(static_cast<std::byte>(value & 0xFF));
    bytes.push_back(static_cast<std::byte>(value >> 8));
    if (bytes.size() < kPieceBytes) continue;
    write(encode_base64(bytes));
    bytes.clear();
  }
  write(encode_base64(bytes));
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
                     escape_markup(visible_text(example.title)), inside_script(alignment)));
  bool first = true;
  for (const LabelledAttention& attention : example.attentions) {
    const Json labels = {
        {"kind", to_string(attention.map.kind)},        {"marked", attention.map.kind == AttentionKind::cross},
        {"layers", visible_tokens(attention.layers)},   {"heads", visible_tokens(attention.heads)},
        {"queries", visible_tokens(attention.queries)}, {"keys", visible_tokens(attention.keys)},
        {"picture", draw_svg_frame(attention)}};
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
