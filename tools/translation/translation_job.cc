#include "encdec/translation/translation_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <utility>

#include "encdec/engine/base/cancellation.h"
#include "encdec/engine/base/error.h"
#include "encdec/translation/passage.h"
#include "encdec/translation/text/html.h"
#include "encdec/translation/text/language.h"

namespace encdec {
namespace translation {

// A part of an HTML text, or a whole text of another form, with its sentences.
struct Stretch {
  HtmlPart part;
  std::vector<Passage*> passages = {};
};

struct TextWork {
  enum class Form : std::uint8_t { plain, html, segment };
  Form form = Form::plain;
  std::vector<Stretch> stretches = {};
  Translation translation = {};
};

// Inputs with equal keys form a batch.
struct BatchKey {
  const RouteLeg* leg;
  bool is_aligned;       // the results need attention weights
  const Passage* alone;  // a passage that cannot share a batch, or null
  auto operator<=>(const BatchKey&) const = default;
};

// Throws InputError with the reason why the models have no route for the options.
[[noreturn]] void refuse_pair(const TranslationRoutes& routes, const TranslateOptions& options) {
  const std::vector<std::string> sources = routes.sources();
  const std::string &source = options.source, &target = options.target;
  if (source == target)
    throw InputError(fmt::format("'{}' is the source and the target language, expected two", source));
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

// Returns the codes strictly between two positions of a text.
std::span<const InlineCode> codes_within(const Segment& segment, std::size_t begin, std::size_t end) {
  const auto first = std::ranges::upper_bound(segment.codes, begin, {}, &InlineCode::position);
  const auto last = std::ranges::lower_bound(first, segment.codes.end(), end, {}, &InlineCode::position);
  return {first, last};
}

// Joins a sentence to the previous sentence, up to kMaxBytes, if a placeholder crosses the boundary between them.
std::vector<Sentence> with_whole(std::span<const Placeholder> placeholders, std::vector<Sentence> sentences) {
  constexpr std::size_t kMaxBytes = 1024;
  if (placeholders.empty()) return sentences;
  std::vector<Sentence> joined;
  std::size_t end = 0;
  bool is_inside = false;
  for (Sentence& sentence : sentences) {
    end += sentence.text.size() + sentence.space.size();
    if (is_inside && joined.back().text.size() + sentence.text.size() < kMaxBytes) {
      joined.back().text += joined.back().space + sentence.text;
      joined.back().space = std::move(sentence.space);
    } else {
      joined.push_back(std::move(sentence));
    }
    const auto after = std::ranges::lower_bound(placeholders, end, {}, &Placeholder::begin);
    is_inside = after != placeholders.begin() && end < (after - 1)->end;
  }
  return joined;
}

// Returns the fraction of the total time before a position, by linear interpolation between cuts.
double time_before(const Segment& segment, std::size_t position) {
  const auto after = std::ranges::upper_bound(segment.cuts, position, {}, &Cut::position);
  const Cut last = after != segment.cuts.begin() ? *(after - 1) : Cut();
  const Cut next = after != segment.cuts.end() ? *after : Cut{.position = segment.text.size(), .share_before = 1};
  if (next.position <= last.position) return next.share_before;
  const double part =
      static_cast<double>(position - last.position) / static_cast<double>(next.position - last.position);
  return last.share_before + part * (next.share_before - last.share_before);
}

// Copies the cuts and placeholders in the range of a sentence from the segment to the sentence.
void add_marks(const Segment& segment, SourceSentence& sentence) {
  const double first = time_before(segment, sentence.begin), last = time_before(segment, sentence.end());
  auto cut = std::ranges::upper_bound(segment.cuts, sentence.begin, {}, &Cut::position);
  for (; cut != segment.cuts.end() && cut->position < sentence.end(); ++cut) {
    sentence.cuts.push_back(cut->position - sentence.begin);
    sentence.shares.push_back(last > first ? (cut->share_before - first) / (last - first) : 0.5);
  }
  const auto begin = std::ranges::lower_bound(segment.placeholders, sentence.begin, {}, &Placeholder::begin);
  for (auto i = static_cast<std::size_t>(begin - segment.placeholders.begin()); i < segment.placeholders.size(); ++i) {
    const Placeholder& kept = segment.placeholders[i];
    if (kept.begin >= sentence.end()) break;
    if (kept.end > sentence.end() || kept.begin >= kept.end) continue;
    sentence.terms.push_back({.begin = kept.begin - sentence.begin,
                              .end = kept.end - sentence.begin,
                              .target = segment.text.substr(kept.begin, kept.end - kept.begin),
                              .is_kept = true,
                              .placeholder = i});
  }
}

// Adds the glossary terms in a sentence, except where they overlap protected terms.
void add_terms(const Glossary& glossary, const std::string& language, SourceSentence& sentence) {
  const std::vector<Term> kept = sentence.terms;
  for (Glossary::Match& match : glossary.find(sentence.text(), language)) {
    const auto overlaps = [&match](const Term& term) { return term.begin < match.end && match.begin < term.end; };
    if (std::ranges::any_of(kept, overlaps)) continue;
    if (match.is_kept) match.target = sentence.text().substr(match.begin, match.end - match.begin);
    sentence.terms.push_back(
        {.begin = match.begin, .end = match.end, .target = std::move(match.target), .is_kept = match.is_kept});
  }
  std::ranges::sort(sentence.terms, {}, &Term::begin);
}

// Splits a text into sentences that fit the model. Splits a sentence with more than kMaxCodes codes at its codes,
// because alignment by words cannot place so many codes.
std::vector<SourceSentence> sentences_of(const Segment& segment, Split split, const RouteLeg& leg) {
  constexpr std::size_t kMaxCodes = 32;
  std::vector<SourceSentence> all;
  std::size_t begin = 0;
  const auto add = [&](Sentence sentence, bool is_cut) {
    const std::size_t size = sentence.text.size() + sentence.space.size();
    all.push_back({.sentence = std::move(sentence), .begin = begin, .is_cut = is_cut});
    begin += size;
  };
  const auto add_until = [&](std::size_t end) {
    const std::string text = segment.text.substr(begin, end - begin);
    for (Sentence& between : split_text(text, Split::never, leg.step.source)) add(std::move(between), true);
  };
  std::vector<Sentence> sentences = leg.cut(split_text(segment.text, split, leg.step.source));
  for (Sentence& sentence : with_whole(segment.placeholders, std::move(sentences))) {
    const std::size_t end = begin + sentence.text.size();
    const std::span<const InlineCode> codes = codes_within(segment, begin, end);
    if (codes.size() <= kMaxCodes) {
      add(std::move(sentence), false);
      continue;
    }
    // Only the last part is followed by the white space after the sentence.
    for (const InlineCode& code : codes) add_until(code.position);
    add_until(end);
    all.back().sentence.space += sentence.space;
    all.back().is_cut = false;
    begin += sentence.space.size();
  }
  for (SourceSentence& sentence : all) {
    sentence.codes = codes_within(segment, sentence.begin, sentence.end());
    sentence.first_code = static_cast<std::size_t>(sentence.codes.data() - segment.codes.data());
    add_marks(segment, sentence);
  }
  return all;
}

// Returns a translated part, built from the k-th translation of each sentence.
HtmlPart translated(const Stretch& stretch, bool is_spaceless, std::size_t k) {
  const auto& [part, passages] = stretch;
  if (!part.is_text) return part;
  const std::vector<InlineCode>& codes = part.segment.codes;
  HtmlPart all{.is_text = true, .segment = {}};
  std::string& text = all.segment.text;
  std::vector<std::size_t> index_of(codes.size());  // index of each source code in the translation
  std::size_t next = 0;                             // index of the next code to place
  const auto add_code = [&](std::size_t code, std::size_t position) {
    index_of[code] = all.segment.codes.size();
    all.segment.codes.push_back({.position = position, .markup = codes[code].markup, .partner = codes[code].partner});
  };
  // Adds the source codes up to `end`. The last `kept` bytes before `end` are white space that was copied, so codes
  // within these bytes keep their positions.
  const auto add_codes = [&](std::size_t end, std::size_t kept = 0) {
    for (; next < codes.size() && codes[next].position <= end; ++next) {
      add_code(next, text.size() - std::min(kept, end - codes[next].position));
    }
  };
  const std::vector<Cut>& cuts = part.segment.cuts;
  std::vector<Cut>& placed_cuts = all.segment.cuts;
  const auto add_cuts = [&](std::size_t end) {
    while (placed_cuts.size() < cuts.size() && cuts[placed_cuts.size()].position <= end) {
      placed_cuts.push_back({.position = text.size(), .share_before = cuts[placed_cuts.size()].share_before});
    }
  };
  std::size_t kept = 0;
  for (const Passage* passage : passages) {
    const SourceSentence& source = passage->source();
    // Add the codes and cuts between the previous sentence and this sentence.
    add_codes(source.begin, kept);
    add_cuts(source.begin);
    const std::size_t begin_text = text.size();
    if (!passage->targets().empty()) {
      // Use the k-th translation or, if there are fewer, the last translation.
      const TargetSentence& target = passage->targets()[std::min(k, passage->targets().size() - 1)];
      for (const auto& [code, position] : target.codes) add_code(source.first_code + code, text.size() + position);
      next += source.codes.size();
      for (const std::size_t cut : target.cuts) {
        placed_cuts.push_back({.position = text.size() + cut, .share_before = cuts[placed_cuts.size()].share_before});
      }
      for (std::size_t i = 0; i < source.terms.size(); ++i) {
        const Term& term = source.terms[i];
        if (!term.placeholder) continue;
        const std::size_t begin = text.size() + target.term_positions[i];
        all.segment.placeholders.push_back({.begin = begin,
                                            .end = begin + term.target.size(),
                                            .markup = part.segment.placeholders[*term.placeholder].markup});
      }
      text += target.text;
      add_codes(source.end());
    }
    // Copy the white space inside a split sentence and at the end of the text.
    const bool is_kept = source.is_cut || passage == passages.back();
    const std::string space =
        is_kept ? source.sentence.space
                : space_after(source.sentence, std::string_view(text).substr(begin_text), is_spaceless);
    text += space;
    kept = space == source.sentence.space ? space.size() : 0;
  }
  add_codes(part.segment.text.size(), kept);
  add_cuts(part.segment.text.size());
  std::ranges::sort(all.segment.placeholders, {}, &Placeholder::begin);
  for (InlineCode& code : all.segment.codes) {
    if (code.partner) code.partner = index_of[*code.partner];
  }
  return all;
}

// Returns the reports on all terms of a text. A placeholder that is in no sentence is reported as failed.
std::vector<TermReport> reports_of(const TextWork& work) {
  std::vector<TermReport> all;
  for (const auto& [part, passages] : work.stretches) {
    const Segment& segment = part.segment;
    std::vector<bool> is_found(segment.placeholders.size());
    for (const Passage* passage : passages) {
      for (const Term& term : passage->source().terms) {
        if (term.placeholder) is_found[*term.placeholder] = true;
      }
      for (TermReport& report : passage->reports()) all.push_back(std::move(report));
    }
    for (std::size_t i = 0; i < is_found.size(); ++i) {
      const auto& [begin, end, markup] = segment.placeholders[i];
      const std::string text = segment.text.substr(begin, end - begin);
      if (!is_found[i]) all.push_back({.source = text, .target = text, .method = TermReport::Method::failed});
    }
  }
  return all;
}

}  // namespace translation

using namespace translation;

std::vector<std::string> possible_sources(const TranslationRoutes& routes, TranslateOptions& options) {
  for (std::string* language : {&options.source, &options.target, &options.via}) {
    if (!language->empty() && *language != kNeverVia) *language = canonical_language(*language);
  }
  std::vector<std::string> sources = options.source.empty() ? routes.sources() : std::vector{options.source};
  std::erase_if(sources,
                [&](const std::string& source) { return routes.find(source, options.target, options.via).empty(); });
  if (sources.empty()) refuse_pair(routes, options);
  return sources;
}

struct TranslationJob::Impl {
  std::span<const Model> models;
  const TranslationRoutes& routes;
  TranslateOptions options;
  std::vector<std::string> sources = {};                   // possible languages of the texts
  std::map<std::string, std::vector<RouteLeg>> legs = {};  // by source language
  std::vector<TextWork> texts = {};
  std::deque<Passage> passages = {};
  std::vector<Passage*> waiting = {};  // passages to continue in the next batches
  // requests[b][i] is the passage, and the index of the part, for input i of batch b of the last next().
  std::vector<std::vector<std::pair<Passage*, std::size_t>>> requests = {};

  const std::vector<RouteLeg>& legs_from(const std::string& source);
  TextWork& add(TextWork::Form form, const std::string& text);
  void add(HtmlPart part, TextWork& work);
};

const std::vector<RouteLeg>& TranslationJob::Impl::legs_from(const std::string& source) {
  const auto [entry, is_new] = legs.try_emplace(source);
  if (!is_new) return entry->second;
  for (RouteStep& step : routes.find(source, options.target, options.via)) {
    const ModelLanguages& languages = routes.languages(step.model);
    RouteLeg& leg = entry->second.emplace_back();
    leg.model = &models[step.model];
    leg.options = options.generate;
    leg.options.source_lang = languages.sources.at(step.source);
    leg.options.target_lang = languages.targets.at(step.target);
    leg.is_spaceless = is_written_without_spaces(step.target);
    leg.set_limit();
    leg.step = std::move(step);
  }
  // Only the last model writes alternatives. Each alternative needs a beam.
  if (options.alternatives > 0) {
    RouteLeg& last = entry->second.back();
    const int beams = last.model->generation_config().num_beams.value_or(1);
    last.options.num_return_sequences = options.alternatives + 1;
    last.options.num_beams = std::max(beams, options.alternatives + 1);
  }
  return entry->second;
}

TextWork& TranslationJob::Impl::add(TextWork::Form form, const std::string& text) {
  TextWork& work = texts.emplace_back();
  work.form = form;
  work.translation.source = options.source;
  if (options.source.empty()) {
    const DetectedLanguage detected = detect_languages(text, sources, form == TextWork::Form::html).front();
    work.translation.source = detected.language;
    work.translation.confidence = detected.confidence;
  }
  work.translation.route = languages_of(routes.find(work.translation.source, options.target, options.via));
  return work;
}

void TranslationJob::Impl::add(HtmlPart part, TextWork& work) {
  Stretch& stretch = work.stretches.emplace_back();
  stretch.part = std::move(part);
  if (!stretch.part.is_text) return;
  const std::vector<RouteLeg>& route = legs_from(work.translation.source);
  const RouteLeg& first = route.front();
  const Split split =
      options.split == Split::sentences && !translates_sentences(*first.model) ? Split::newlines : options.split;
  for (SourceSentence& sentence : sentences_of(stretch.part.segment, split, first)) {
    if (options.glossary) add_terms(*options.glossary, work.translation.source, sentence);
    Passage& passage = passages.emplace_back(std::move(sentence), route);
    stretch.passages.push_back(&passage);
    if (!passage.source().text().empty() && passage.start()) waiting.push_back(&passage);
  }
}

TranslationJob::TranslationJob(std::span<const Model> models, const TranslationRoutes& routes, TranslateOptions options)
    : impl_(new Impl{.models = models, .routes = routes, .options = std::move(options)}) {
  impl_->sources = possible_sources(routes, impl_->options);
}

TranslationJob::~TranslationJob() = default;

void TranslationJob::add(const std::string& text) {
  check_cancelled();
  using Form = TextWork::Form;
  TextWork& work = impl_->add(impl_->options.is_html ? Form::html : Form::plain, text);
  if (!impl_->options.is_html) return impl_->add({.is_text = true, .segment = {.text = text}}, work);
  for (HtmlPart& part : parse_html(text)) impl_->add(std::move(part), work);
}

void TranslationJob::add(Segment segment) {
  check_cancelled();
  TextWork& work = impl_->add(TextWork::Form::segment, segment.text);
  impl_->add({.is_text = true, .segment = std::move(segment)}, work);
}

std::size_t TranslationJob::sentences() const {
  return impl_->passages.size();
}

std::vector<TranslationBatch> TranslationJob::next() {
  std::vector<TranslationBatch> batches;
  std::map<BatchKey, std::size_t> numbers;
  impl_->requests.clear();
  for (Passage* passage : std::exchange(impl_->waiting, {})) {
    check_cancelled();
    const RouteLeg& leg = passage->leg();
    const auto [entry, is_new] = numbers.try_emplace(
        BatchKey{&leg, passage->is_aligned(), passage->is_alone() ? passage : nullptr}, batches.size());
    if (is_new) {
      impl_->requests.emplace_back();
      batches.push_back({.model = leg.step.model, .options = passage->options()});
    }
    passage->divide();
    for (std::size_t part = 0; part < passage->parts().size(); ++part) {
      batches[entry->second].inputs.push_back({.source = passage->parts()[part]->source.text});
      impl_->requests[entry->second].emplace_back(passage, part);
    }
  }
  return batches;
}

void TranslationJob::take(std::size_t batch, std::size_t input, GenerateResult result) {
  const auto [passage, part] = impl_->requests.at(batch).at(input);
  if (passage->take(part, std::move(result)) && passage->settle()) impl_->waiting.push_back(passage);
}

std::vector<Translation> TranslationJob::results() {
  const bool is_spaceless = is_written_without_spaces(impl_->options.target);
  std::vector<Translation> translations;
  for (TextWork& work : impl_->texts) {
    check_cancelled();
    Translation& translation = work.translation;
    if (work.form == TextWork::Form::segment) {
      translation.segment = translated(work.stretches.front(), is_spaceless, 0).segment;
    } else {
      for (int k = 0; k <= impl_->options.alternatives; ++k) {
        std::string text;
        for (const Stretch& stretch : work.stretches) {
          HtmlPart part = translated(stretch, is_spaceless, static_cast<std::size_t>(k));
          text += work.form == TextWork::Form::html ? write_html(part) : std::move(part.segment.text);
        }
        k == 0 ? translation.text = std::move(text) : translation.alternatives.emplace_back(std::move(text));
      }
    }
    translation.terms = reports_of(work);
    for (const Stretch& stretch : work.stretches) {
      if (std::ranges::any_of(stretch.passages, &Passage::is_cut_off)) translation.problem = kCutOff;
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
