#include "encdec/translation/document_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "encdec/translation/text/language.h"

namespace encdec {
namespace {

using Json = nlohmann::ordered_json;
using Saved = nlohmann::json;

// Number of segments per job: enough for full batches, but few, because an interrupted job is translated again.
constexpr std::size_t kSegmentsAtOnce = 256;
// Approximate size of the text that is used to detect the language.
constexpr std::size_t kDetectedBytes = 16'384;

Json to_json(const Segment& segment) {
  Json json = {
      {"text", segment.text}, {"codes", Json::array()}, {"placeholders", Json::array()}, {"cuts", Json::array()}};
  for (const InlineCode& code : segment.codes) {
    json["codes"].push_back({code.position, code.markup, code.partner ? Json(*code.partner) : Json()});
  }
  for (const Placeholder& kept : segment.placeholders) {
    json["placeholders"].push_back({kept.begin, kept.end, kept.markup ? Json(*kept.markup) : Json()});
  }
  for (const Cut& cut : segment.cuts) json["cuts"].push_back({cut.position, cut.share_before});
  return json;
}

// Reads the JSON of a segment. Throws nlohmann::json::exception if it is malformed.
Segment segment_of(const Saved& json) {
  Segment segment{.text = json.at("text").get<std::string>()};
  for (const Saved& code : json.at("codes")) {
    segment.codes.push_back({.position = code.at(0), .markup = code.at(1).get<std::string>()});
    if (!code.at(2).is_null()) segment.codes.back().partner = code.at(2).get<std::size_t>();
  }
  for (const Saved& kept : json.at("placeholders")) {
    segment.placeholders.push_back({.begin = kept.at(0), .end = kept.at(1)});
    if (!kept.at(2).is_null()) segment.placeholders.back().markup = kept.at(2).get<std::string>();
  }
  for (const Saved& cut : json.at("cuts")) segment.cuts.push_back({.position = cut.at(0), .share_before = cut.at(1)});
  return segment;
}

Json to_json(const TermReport& term) {
  return {{"source", term.source}, {"target", term.target}, {"method", name_of(kTermMethods, term.method)}};
}

}  // namespace

DocumentJob::DocumentJob(Document document, std::span<const Model> models, const TranslationRoutes& routes,
                         TranslateOptions options)
    : document_(std::move(document)), models_(models), routes_(routes), options_(std::move(options)) {
  const std::vector<std::string> sources = possible_sources(routes_, options_);
  // Segments are plain text, and each needs only one translation.
  options_.is_html = false;
  options_.alternatives = 0;
  if (!options_.source.empty()) return;
  std::string text;
  for (const Segment& segment : document_.segments()) {
    if (text.size() > kDetectedBytes) break;
    text += segment.text + "\n";
  }
  options_.source = detect_languages(text, sources).front().language;
}

TranslationJob* DocumentJob::next() {
  const std::vector<Segment>& segments = document_.segments();
  if (done() == segments.size()) return nullptr;
  job_.emplace(models_, routes_, options_);
  const std::size_t count = std::min(kSegmentsAtOnce, segments.size() - done());
  for (const Segment& segment : std::span(segments).subspan(done(), count)) job_->add(segment);
  return &*job_;
}

std::string DocumentJob::take(std::vector<Translation> translations) {
  Json saved = Json::array();
  for (Translation& translation : translations) {
    Json terms = Json::array();
    for (const TermReport& term : translation.terms) terms.push_back(to_json(term));
    saved.push_back({{"segment", to_json(translation.segment)}, {"terms", terms}, {"problem", translation.problem}});
    translations_.push_back(std::move(translation));
  }
  return saved.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool DocumentJob::restore(std::string_view saved) {
  std::vector<Translation> translations;
  try {
    for (const Saved& json : Saved::parse(saved)) {
      Translation& translation = translations.emplace_back();
      translation.segment = segment_of(json.at("segment"));
      translation.problem = json.value("problem", "");
      for (const Saved& term : json.at("terms")) {
        const auto method = value_named<TermReport::Method>(kTermMethods, term.at("method").get<std::string>());
        if (!method) return false;
        translation.terms.push_back({.source = term.at("source"), .target = term.at("target"), .method = *method});
      }
    }
  } catch (const Saved::exception&) {
    return false;
  }
  if (translations.empty() || translations.size() > size() - done()) return false;
  std::ranges::move(translations, std::back_inserter(translations_));
  return true;
}

WrittenDocument DocumentJob::write() const {
  std::vector<Segment> segments;
  for (const Translation& translation : translations_) segments.push_back(translation.segment);
  return document_.write(segments);
}

Json DocumentJob::report(const WrittenDocument& written) const {
  Json list = Json::array();
  for (std::size_t i = 0; i < size(); ++i) {
    const Translation& translation = translations_[i];
    Json entry = {
        {"where", document_.where(i)}, {"source", document_.segments()[i].text}, {"target", translation.segment.text}};
    for (const TermReport& term : translation.terms) entry["terms"].push_back(to_json(term));
    if (!translation.problem.empty()) entry["problem"] = translation.problem;
    list.push_back(std::move(entry));
  }
  // If a translation was not used, report the reason instead of any other problem.
  for (const UnusedTranslation& unused : written.unused) list[unused.segment]["problem"] = unused.reason;
  return list;
}

}  // namespace encdec
