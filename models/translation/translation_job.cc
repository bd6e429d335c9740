#include "encdec/models/translation/translation_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "encdec/engine/base/error.h"
#include "encdec/models/translation/alignment.h"
#include "encdec/models/translation/text/html.h"
#include "encdec/models/translation/text/language.h"

namespace encdec {
namespace {

// A step of a route, with the options of its model.
struct Leg {
  const Model* model = nullptr;
  RouteStep step;
  GenerateOptions options;
  bool is_spaceless = false;  // the target language is written without spaces

  EncodeOptions languages() const {
    return {.source_language = options.source_lang, .target_language = options.target_lang};
  }
};
using Legs = std::vector<Leg>;

// A part of a sentence that fits the model of a leg, and its translations.
struct Part {
  Sentence source;
  std::size_t begin = 0;  // position in the text of the leg
  std::vector<Hypothesis> hypotheses = {};
  std::vector<Alignment> alignments = {};  // of each hypothesis with the sentence, if that is aligned
};

// A translation of a sentence.
struct Target {
  std::string text;
  std::vector<PlacedCode> codes = {};
};

// A sentence on its way through the legs.
struct Passage {
  Sentence source;
  std::size_t begin = 0;                   // position in its segment, in bytes
  bool is_cut = false;                     // the sentence was cut at a code, so the space after it is kept
  std::span<const InlineCode> codes = {};  // the codes within it, a part of Segment::codes
  std::size_t first_code = 0;              // index in Segment::codes of the first of `codes`
  const Legs* legs = nullptr;
  std::size_t leg = 0;
  std::string text = {};         // what the current leg translates
  std::vector<Part> parts = {};  // of `text`
  std::size_t missing = 0;       // number of parts without a result
  Alignment alignment = {};      // of `text` with the sentence, after the first leg
  std::vector<AlignedCode> aligned_codes = {};
  std::vector<Target> targets = {};  // best first; empty if the sentence is only space

  bool is_aligned() const { return !codes.empty(); }
  const Leg& current() const { return (*legs)[leg]; }
  bool is_last() const { return leg + 1 == legs->size(); }
  std::size_t end() const { return begin + source.text.size(); }
};

// A part of an HTML text, and the sentences in it. Another text is a single part.
struct Stretch {
  HtmlPart part;
  std::vector<Passage*> passages = {};
};

struct Document {
  enum class Form : std::uint8_t { plain, html, segment };
  Form form = Form::plain;
  std::vector<Stretch> stretches = {};
  Translation translation = {};
};

// The inputs of a batch have one BatchKey.
struct BatchKey {
  const Legs* legs;
  std::size_t leg;
  bool is_aligned;  // their results need attention
  auto operator<=>(const BatchKey&) const = default;
};

[[noreturn]] void refuse_pair(const TranslationRoutes& routes, const TranslateOptions& options) {
  const std::vector<std::string> sources = routes.sources();
  const std::string &source = options.source, &target = options.target;
  if (!options.via.empty() && !(source.empty() ? routes.targets() : routes.targets(source)).empty()) {
    const std::string from = source.empty() ? "" : fmt::format(" from '{}'", source);
    if (options.via == kNeverVia) throw InputError(fmt::format("no single model translates{} to '{}'", from, target));
    throw InputError(fmt::format("no models translate{} to '{}' through '{}'", from, target, options.via));
  }
  if (source.empty()) {
    throw InputError(
        fmt::format("no model translates to '{}', expected one of {}", target, fmt::join(routes.targets(), ", ")));
  }
  if (std::ranges::find(sources, source) == sources.end()) {
    throw InputError(
        fmt::format("no model translates from '{}', expected one of {}", source, fmt::join(sources, ", ")));
  }
  throw InputError(fmt::format("no model translates from '{}' to '{}', expected one of {}", source, target,
                               fmt::join(routes.targets(source), ", ")));
}

// Returns whether a text has at most kUsual tokens, and at most one for each position of the encoder.
bool fits(const Leg& leg, const std::string& text) {
  const auto limit = leg.model->config().encoder.position_limit();
  // A token has at least one byte, and up to 8 special tokens are added. So a short text needs no tokenizer.
  constexpr std::size_t kUsual = 512;
  const std::size_t most = limit ? std::min<std::size_t>(static_cast<std::size_t>(*limit), kUsual) : kUsual;
  return text.size() + 8 <= most || leg.model->tokenizer()->encode(text, leg.languages()).size() <= most;
}

// Returns the space to write after a sentence. The last one, one cut at a code, and white space other than one space
// keep what the source has. After other sentences the target language decides: nothing if it is written without
// spaces, else one space.
std::string space_behind(const Sentence& sentence, bool is_kept, bool is_spaceless) {
  const auto& [text, space] = sentence;
  if (is_kept || text.empty() || (space != " " && !space.empty())) return space;
  return is_spaceless ? "" : " ";
}

// Returns the codes after position `begin` and before position `end` of a text.
std::span<const InlineCode> codes_within(const Segment& segment, std::size_t begin, std::size_t end) {
  const auto first = std::ranges::upper_bound(segment.codes, begin, {}, &InlineCode::place);
  const auto last = std::ranges::lower_bound(first, segment.codes.end(), end, {}, &InlineCode::place);
  return {first, last};
}

// Splits a text into sentences. Sentences that do not fit are cut. A sentence with more than kMaxCodes codes is cut at
// its codes, because attention to words cannot place that many.
std::vector<Passage> passages_of(const Segment& segment, Split split, const std::string& language,
                                 const std::function<bool(const std::string&)>& fits) {
  constexpr std::size_t kMaxCodes = 32;
  std::vector<Passage> passages;
  std::size_t begin = 0;
  const auto add = [&](Sentence sentence, bool is_cut) {
    const std::size_t size = sentence.text.size() + sentence.space.size();
    passages.push_back({.source = std::move(sentence), .begin = begin, .is_cut = is_cut});
    begin += size;
  };
  const auto add_until = [&](std::size_t end) {
    const std::string text = segment.text.substr(begin, end - begin);
    for (Sentence& between : split_text(text, Split::never, language)) add(std::move(between), true);
  };
  for (Sentence& sentence : cut_to_fit(split_text(segment.text, split, language), fits)) {
    const std::size_t end = begin + sentence.text.size();
    const std::span<const InlineCode> codes = codes_within(segment, begin, end);
    if (codes.size() <= kMaxCodes) {
      add(std::move(sentence), false);
      continue;
    }
    for (const InlineCode& code : codes) add_until(code.place);
    add_until(end);
    passages.back().source.space += sentence.space;
    passages.back().is_cut = false;
    begin += sentence.space.size();
  }
  for (Passage& passage : passages) {
    passage.codes = codes_within(segment, passage.begin, passage.end());
    passage.first_code = static_cast<std::size_t>(passage.codes.data() - segment.codes.data());
  }
  return passages;
}

// Returns the codes of a sentence with their units.
std::vector<AlignedCode> aligned_codes(const Passage& passage, const SourceUnits& units) {
  std::vector<AlignedCode> codes;
  const std::size_t end_code = passage.first_code + passage.codes.size();
  for (const InlineCode& code : passage.codes) {
    AlignedCode& aligned = codes.emplace_back();
    aligned.unit = units.at(code.place - passage.begin);
    if (!code.partner) continue;
    const std::size_t number = passage.first_code + codes.size() - 1;
    aligned.kind = *code.partner > number ? AlignedCode::Kind::begin : AlignedCode::Kind::end;
    aligned.is_whole = *code.partner >= passage.first_code && *code.partner < end_code;
  }
  return codes;
}

// Joins the k-th hypotheses of the parts of a sentence; the last one of a part that has fewer. Fills `alignment` if the
// sentence is aligned.
std::string joined(const Passage& passage, std::size_t k, Alignment& alignment) {
  std::string text;
  for (const Part& part : passage.parts) {
    const std::size_t chosen = std::min(k, part.hypotheses.size() - 1);
    if (passage.is_aligned()) {
      const Alignment& own = part.alignments[chosen];
      if (alignment.ends.empty()) alignment.units = own.units;
      if (own.units == alignment.units) {
        for (const std::size_t end : own.ends) alignment.ends.push_back(text.size() + end);
        alignment.weights.insert(alignment.weights.end(), own.weights.begin(), own.weights.end());
      }
    }
    text += part.hypotheses[chosen].text;
    if (&part != &passage.parts.back()) text += space_behind(part.source, false, passage.current().is_spaceless);
  }
  return text;
}

// Returns a translated part, built from the k-th translation of each sentence.
HtmlPart translated(const Stretch& stretch, bool is_spaceless, std::size_t k) {
  const auto& [part, passages] = stretch;
  if (!part.is_text) return part;
  const std::vector<InlineCode>& codes = part.segment.codes;
  HtmlPart all{.is_text = true, .segment = {}};
  std::string& text = all.segment.text;
  std::vector<std::size_t> index_of(codes.size());  // index in the translation of each code
  std::size_t next = 0;                             // index of the next code to place
  const auto add_code = [&](std::size_t code, std::size_t place) {
    index_of[code] = all.segment.codes.size();
    all.segment.codes.push_back({.place = place, .markup = codes[code].markup, .partner = codes[code].partner});
  };
  const auto add_codes = [&](std::size_t end) {
    for (; next < codes.size() && codes[next].place <= end; ++next) add_code(next, text.size());
  };
  for (const Passage* passage : passages) {
    add_codes(passage->begin);
    if (!passage->targets.empty()) {
      // The last translation if there are fewer than k + 1.
      const Target& target = passage->targets[std::min(k, passage->targets.size() - 1)];
      for (const auto& [code, place] : target.codes) add_code(passage->first_code + code, text.size() + place);
      next += passage->codes.size();
      text += target.text;
      add_codes(passage->end());
    }
    text += space_behind(passage->source, passage->is_cut || passage == passages.back(), is_spaceless);
  }
  add_codes(part.segment.text.size());
  for (InlineCode& code : all.segment.codes) {
    if (code.partner) code.partner = index_of[*code.partner];
  }
  return all;
}

}  // namespace

struct TranslationJob::Impl {
  std::span<const Model> models;
  const TranslationRoutes& routes;
  TranslateOptions options;
  std::vector<std::string> sources = {};  // possible languages of the texts
  std::map<std::string, Legs> legs = {};  // by source language
  std::vector<Document> documents = {};
  std::deque<Passage> passages = {};
  std::vector<Passage*> waiting = {};  // for their next leg
  // For each input of the last batches, the part to translate.
  std::vector<std::vector<std::pair<Passage*, std::size_t>>> requests = {};

  const Legs& legs_from(const std::string& source);
  Document& add(Document::Form form, const std::string& text);
  void add(HtmlPart part, Document& document);
  void finish(Passage& passage);
};

const Legs& TranslationJob::Impl::legs_from(const std::string& source) {
  const auto [place, is_new] = legs.try_emplace(source);
  if (!is_new) return place->second;
  for (RouteStep& step : routes.find(source, options.target, options.via)) {
    const ModelLanguages& languages = routes.languages(step.model);
    Leg& leg = place->second.emplace_back();
    leg.model = &models[step.model];
    leg.options.source_lang = languages.sources.at(step.source);
    leg.options.target_lang = languages.targets.at(step.target);
    leg.is_spaceless = is_written_without_spaces(step.target);
    leg.step = std::move(step);
  }
  if (options.alternatives > 0) {
    Leg& last = place->second.back();
    const int beams = last.model->generation_config().num_beams.value_or(1);
    last.options.num_return_sequences = options.alternatives + 1;
    last.options.num_beams = std::max(beams, options.alternatives + 1);
  }
  return place->second;
}

Document& TranslationJob::Impl::add(Document::Form form, const std::string& text) {
  Document& document = documents.emplace_back();
  document.form = form;
  document.translation.source = options.source;
  if (options.source.empty()) {
    const DetectedLanguage detected = detect_languages(text, sources, form == Document::Form::html).front();
    document.translation.source = detected.language;
    document.translation.confidence = detected.confidence;
  }
  document.translation.route = languages_of(routes.find(document.translation.source, options.target, options.via));
  return document;
}

void TranslationJob::Impl::add(HtmlPart part, Document& document) {
  Stretch& stretch = document.stretches.emplace_back();
  stretch.part = std::move(part);
  if (!stretch.part.is_text) return;
  const Legs& route = legs_from(document.translation.source);
  const Leg& first = route.front();
  const Split split =
      options.split == Split::sentences && !translates_sentences(*first.model) ? Split::newlines : options.split;
  for (Passage& passage : passages_of(stretch.part.segment, split, document.translation.source,
                                      [&](const std::string& sentence) { return fits(first, sentence); })) {
    Passage& added = passages.emplace_back(std::move(passage));
    stretch.passages.push_back(&added);
    if (added.source.text.empty()) continue;
    added.legs = &route;
    added.text = added.source.text;
    waiting.push_back(&added);
  }
}

// Ends a leg, all parts of which have their results.
void TranslationJob::Impl::finish(Passage& passage) {
  std::size_t count = 1;
  if (passage.is_last()) {
    for (const Part& part : passage.parts) count = std::max(count, part.hypotheses.size());
  }
  for (std::size_t k = 0; k < count; ++k) {
    Alignment alignment;
    std::string text = joined(passage, k, alignment);
    if (!passage.is_last() && !text.empty()) {
      passage.text = std::move(text);
      passage.alignment = std::move(alignment);
      ++passage.leg;
      waiting.push_back(&passage);
      break;
    }
    std::vector<AlignedWord> words;
    if (passage.is_aligned()) words = words_of(alignment, text, passage.legs->back().is_spaceless);
    passage.targets.push_back({.text = std::move(text), .codes = place_codes(words, passage.aligned_codes)});
  }
  passage.parts.clear();
}

TranslationJob::TranslationJob(std::span<const Model> models, const TranslationRoutes& routes, TranslateOptions options)
    : impl_(new Impl{.models = models, .routes = routes, .options = std::move(options)}) {
  TranslateOptions& own = impl_->options;
  for (std::string* language : {&own.source, &own.target, &own.via}) {
    if (!language->empty() && *language != kNeverVia) *language = canonical_language(*language);
  }
  impl_->sources = own.source.empty() ? routes.sources() : std::vector{own.source};
  std::erase_if(impl_->sources,
                [&](const std::string& source) { return routes.find(source, own.target, own.via).empty(); });
  if (impl_->sources.empty()) refuse_pair(routes, own);
}

TranslationJob::~TranslationJob() = default;

void TranslationJob::add(const std::string& text) {
  using Form = Document::Form;
  Document& document = impl_->add(impl_->options.is_html ? Form::html : Form::plain, text);
  if (!impl_->options.is_html) return impl_->add({.is_text = true, .segment = {.text = text}}, document);
  for (HtmlPart& part : parse_html(text)) impl_->add(std::move(part), document);
}

void TranslationJob::add(Segment segment) {
  Document& document = impl_->add(Document::Form::segment, segment.text);
  impl_->add({.is_text = true, .segment = std::move(segment)}, document);
}

std::size_t TranslationJob::sentences() const {
  return impl_->passages.size();
}

std::vector<TranslationBatch> TranslationJob::next() {
  std::vector<TranslationBatch> batches;
  std::map<BatchKey, std::size_t> numbers;
  impl_->requests.clear();
  for (Passage* passage : std::exchange(impl_->waiting, {})) {
    const Leg& leg = passage->current();
    const auto [place, is_new] =
        numbers.try_emplace(BatchKey{passage->legs, passage->leg, passage->is_aligned()}, batches.size());
    if (is_new) {
      impl_->requests.emplace_back();
      batches.push_back({.model = leg.step.model, .options = leg.options});
      if (passage->is_aligned()) batches.back().options.attention = alignment_selection(*leg.model);
    }
    std::vector<Sentence> parts = {{passage->text, ""}};
    if (passage->leg > 0) parts = cut_to_fit(std::move(parts), [&](const auto& text) { return fits(leg, text); });
    std::size_t begin = 0;
    for (Sentence& part : parts) {
      batches[place->second].inputs.push_back({.source = part.text});
      impl_->requests[place->second].emplace_back(passage, passage->parts.size());
      const std::size_t size = part.text.size() + part.space.size();
      passage->parts.push_back({.source = std::move(part), .begin = begin});
      begin += size;
    }
    passage->missing = passage->parts.size();
  }
  return batches;
}

void TranslationJob::take(std::size_t batch, std::size_t input, GenerateResult result) {
  const auto [passage, number] = impl_->requests.at(batch).at(input);
  Part& part = passage->parts[number];
  part.hypotheses = std::move(result.hypotheses);
  if (passage->is_aligned()) {
    const Leg& leg = passage->current();
    const SourceUnits units(*leg.model->tokenizer(), part.source.text, leg.options);
    if (passage->leg == 0) passage->aligned_codes = aligned_codes(*passage, units);
    for (Hypothesis& hypothesis : part.hypotheses) {
      Alignment alignment = align(*leg.model, units, hypothesis);
      part.alignments.push_back(passage->leg == 0 ? std::move(alignment)
                                                  : compose(passage->alignment, part.begin, units, alignment));
      hypothesis.attention = {};
    }
  }
  if (--passage->missing == 0) impl_->finish(*passage);
}

std::vector<Translation> TranslationJob::results() {
  const bool is_spaceless = is_written_without_spaces(impl_->options.target);
  std::vector<Translation> translations;
  for (Document& document : impl_->documents) {
    Translation& translation = document.translation;
    if (document.form == Document::Form::segment) {
      translation.segment = translated(document.stretches.front(), is_spaceless, 0).segment;
    } else {
      for (int k = 0; k <= impl_->options.alternatives; ++k) {
        std::string text;
        for (const Stretch& stretch : document.stretches) {
          HtmlPart part = translated(stretch, is_spaceless, static_cast<std::size_t>(k));
          text += document.form == Document::Form::html ? write_html(part) : std::move(part.segment.text);
        }
        k == 0 ? translation.text = std::move(text) : translation.alternatives.emplace_back(std::move(text));
      }
    }
    translations.push_back(std::move(translation));
  }
  return translations;
}

std::vector<Translation> translate(std::span<const Model> models, TranslationJob& job) {
  for (std::vector<TranslationBatch> batches = job.next(); !batches.empty(); batches = job.next()) {
    for (std::size_t batch = 0; batch < batches.size(); ++batch) {
      const auto& [model, options, inputs] = batches[batch];
      std::vector<GenerateResult> results = models[model].generate_inputs(inputs, options);
      for (std::size_t i = 0; i < results.size(); ++i) job.take(batch, i, std::move(results[i]));
    }
  }
  return job.results();
}

}  // namespace encdec
