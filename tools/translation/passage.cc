#include "encdec/translation/passage.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "encdec/models/generation/generation_settings.h"
#include "encdec/translation/text/cuts.h"

namespace encdec::translation {
namespace {

using Method = TermReport::Method;

// Returns true for ASCII letters and digits, and for all bytes of non-ASCII characters.
bool is_wordlike(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Returns up to `count` placeholder words that do not occur in `text` and that all models can read and write.
std::vector<std::string> usable_stand_ins(const std::vector<RouteLeg>& legs, const std::string& text,
                                          std::size_t count) {
  std::vector<std::string> words;
  for (const std::string_view word : stand_ins()) {
    if (words.size() == count) break;
    if (text.find(word) != std::string::npos) continue;
    const bool is_known = std::ranges::all_of(legs, [word](const RouteLeg& leg) {
      const Tokenizer& tokenizer = *leg.model->tokenizer();
      const TokenIds ids = tokenizer.encode(word, leg.languages());
      const auto unknown = tokenizer.unknown_token();
      if (unknown && std::ranges::find(ids, *unknown) != ids.end()) return false;
      return decode_known(tokenizer, encode_target_part(tokenizer, word, leg.languages())) == word;
    });
    if (is_known) words.emplace_back(word);
  }
  return words;
}

// Returns the position at which place_codes() would insert an inline code before the first unit of a term.
std::size_t position_of(const Term& term, std::span<const AlignedWord> words) {
  const AlignedCode code{.unit = term.first_unit};
  return place_codes(words, std::span(&code, 1)).front().position;
}

// Returns the halves of a part if the translation of at least one half has ended, else the part itself.
std::vector<Part> finished(Part part) {
  std::vector<Part> all;
  for (Part& half : part.halves) std::ranges::move(finished(std::move(half)), std::back_inserter(all));
  if (std::ranges::any_of(all, &Part::is_ended)) return all;
  all.clear();
  all.push_back(std::move(part));
  return all;
}

// Returns the alignment of a text with itself: weight 1 for each unit.
Alignment identity(const std::vector<TextUnit>& units) {
  Alignment alignment{.units = units.size()};
  alignment.weights.resize(units.size() * units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    alignment.ends.push_back(units[i].end);
    alignment.weights[i * units.size() + i] = 1;
  }
  return alignment;
}

}  // namespace

void RouteLeg::set_limit() {
  // With at most `most` source tokens, max_length_factor tokens per source token do not exceed the limit `written`.
  const GenerateOptions settings = model->generation_config() | options;
  const auto written = static_cast<float>(new_token_limit(settings));
  const auto most = static_cast<Dim>(written / std::max(1.0F, settings.max_length_factor.value_or(0)));
  const TransformerConfig& config = model->config();
  for (const auto& other : {config.encoder.position_limit(), config.decoder.position_limit(), std::optional(most)}) {
    if (other) limit = std::min(limit, static_cast<std::size_t>(*other));
  }
}

std::vector<Sentence> RouteLeg::cut(std::vector<Sentence> sentences) const {
  const auto fits = [this](const std::string& text, std::size_t most) {
    // Do not encode short texts: each token has at least one byte, and at most 8 special tokens are added.
    return text.size() + 8 <= most || model->tokenizer()->encode(text, languages()).size() <= most;
  };
  std::vector<Sentence> all;
  for (Sentence& sentence : sentences) {
    const std::size_t most = fits(sentence.text, limit) ? limit : limit * 3 / 4;
    std::ranges::move(
        split_to_fit({std::move(sentence)}, step.source, [&](const std::string& part) { return fits(part, most); }),
        std::back_inserter(all));
  }
  return all;
}

bool Part::is_to_be_halved() const {
  // Shorter texts have too little context. After kMaxHalvings, assume that the model does not stop on this text.
  constexpr std::size_t kShortest = 32;
  constexpr int kMaxHalvings = 3;
  return !is_ended() && halvings < kMaxHalvings && source.text.size() > kShortest;
}

std::string space_after(const Sentence& sentence, std::string_view translation, bool is_spaceless) {
  const auto& [text, space] = sentence;
  if (text.empty() || (space != " " && !space.empty())) return space;
  // The source has no space here because its script has no spaces, or because a word was split.
  if (space.empty() && (!ends_without_space(text) || ends_without_space(translation))) return "";
  return is_spaceless ? "" : " ";
}

bool Passage::is_aligned() const {
  return !source_.codes.empty() || !source_.cuts.empty() || attempt_ == Attempt::left_out ||
         std::ranges::find(source_.terms, false, &Term::is_kept) != source_.terms.end();
}

GenerateOptions Passage::options() const {
  GenerateOptions options = leg().options;
  if (is_aligned()) options.attention = alignment_selection(leg().model->config());
  if (is_alone()) {
    const int beams = options.num_beams.value_or(leg().model->generation_config().num_beams.value_or(1));
    options.num_beams = std::max({4, static_cast<int>(forced_.size()) + 2, beams});
    options.force_words = forced_;
  }
  return options;
}

bool Passage::start() {
  const std::string& text = source_.text();
  std::size_t begin = 0;
  // Look for words outside the protected terms.
  bool has_words = false;
  const auto look_at = [&](std::size_t end) {
    has_words |= std::ranges::any_of(text.substr(begin, end - begin), is_wordlike);
  };
  for (const Term& term : source_.terms) {
    if (!term.is_kept) continue;
    look_at(term.begin);
    begin = term.end;
  }
  look_at(text.size());
  if (has_words || begin == 0) {  // without protected terms, translate even a text without words
    begin_attempt();
    return true;
  }
  // The text has only protected terms, so it is its own translation.
  TargetSentence& target = targets_.emplace_back();
  target.text = text;
  for (std::size_t i = 0; i < source_.codes.size(); ++i) {
    target.codes.push_back({.code = i, .position = source_.codes[i].position - source_.begin});
  }
  target.cuts = source_.cuts;
  for (const Term& term : source_.terms) target.term_positions.push_back(term.begin);
  target.methods.resize(source_.terms.size(), Method::present);
  return false;
}

void Passage::begin_attempt() {
  const std::string& text = source_.text();
  replacements_.clear();
  std::vector<std::string> words;
  if (attempt_ == Attempt::stand_ins) {
    const auto kept = static_cast<std::size_t>(std::ranges::count(source_.terms, true, &Term::is_kept));
    words = usable_stand_ins(legs_, text, kept);
    if (words.size() < kept) attempt_ = Attempt::left_out;
  }
  for (const Term& term : source_.terms) {
    if (!term.is_kept || attempt_ == Attempt::plain) continue;
    Replacement replacement{.begin = term.begin, .end = term.end};
    if (attempt_ == Attempt::stand_ins) {
      replacement.by = words[replacements_.size()];
    } else {  // leave out the term and one adjacent space
      const std::size_t previous = replacements_.empty() ? 0 : replacements_.back().end;
      if (term.begin > previous && text[term.begin - 1] == ' ') {
        --replacement.begin;
      } else if (term.begin == 0 && text[term.end] == ' ') {
        ++replacement.end;
      }
    }
    replacements_.push_back(std::move(replacement));
  }
  text_ = first_text_ = replaced(text, replacements_);
  leg_ = 0;
  is_cut_off_ = false;
}

void Passage::divide() {
  const auto add = [this](std::vector<Sentence> sentences, std::size_t begin, int halvings, std::vector<Part>& parts) {
    for (Sentence& sentence : sentences) {
      const std::size_t size = sentence.text.size() + sentence.space.size();
      parts.push_back({.source = std::move(sentence), .begin = begin, .halvings = halvings});
      begin += size;
    }
    for (Part& part : parts) pending_.push_back(&part);
  };
  // The first call for a leg splits the text into parts. Later calls halve some of these parts.
  const std::vector<Part*> taken = std::exchange(pending_, {});
  if (taken.empty()) add(leg().cut({{text_, ""}}), 0, 0, parts_);
  for (Part* part : taken) {
    if (!part->is_to_be_halved()) continue;
    const std::size_t size = part->source.text.size();
    add(split_to_fit({part->source}, leg().step.source, [size](const std::string& half) { return half.size() < size; }),
        part->begin, part->halvings + 1, part->halves);
  }
  if (leg_ == 0 && is_aligned()) {
    find_units();
    if (pending_.size() > 1) alignment_ = identity(units_);  // take() needs this for compose()
  }
  missing_ = pending_.size();
}

bool Passage::take(std::size_t number, GenerateResult result) {
  Part& part = *pending_[number];
  part.hypotheses = std::move(result.hypotheses);
  // Drop alternatives that the token limit ended.
  if (part.is_ended())
    std::erase_if(part.hypotheses, [](const Hypothesis& other) { return other.finish_reason != FinishReason::stop; });
  if (is_aligned()) {
    // Align the hypotheses with the whole sentence: directly, or through the alignment of `text_`.
    const bool is_sentence = leg_ == 0 && part.source.text.size() == text_.size();
    const std::vector<std::size_t> marks = is_sentence ? marked_positions() : std::vector<std::size_t>();
    const SourceUnits units(*leg().model->tokenizer(), part.source.text, leg().languages(), marks);
    for (Hypothesis& hypothesis : part.hypotheses) {
      Alignment alignment = align(*leg().model, units, hypothesis);
      part.alignments.push_back(is_sentence ? std::move(alignment) : compose(alignment_, part.begin, units, alignment));
      hypothesis.attention = {};
    }
  }
  return --missing_ == 0;
}

// Returns the offsets of the codes in `first_text_`.
std::vector<std::size_t> Passage::marked_positions() const {
  std::vector<std::size_t> positions;
  for (const InlineCode& code : source_.codes) positions.push_back(moved(code.position - source_.begin, replacements_));
  return positions;
}

// Finds the units of the sentence, and the unit of each code, cut and term in the sentence.
void Passage::find_units() {
  const std::vector<std::size_t> positions = marked_positions();
  units_ = units_of(first_text_, positions);
  const auto unit_at = [&](std::size_t position) {
    return static_cast<std::size_t>(std::ranges::upper_bound(units_, position, {}, &TextUnit::end) - units_.begin());
  };
  const auto unit_of = [&](std::size_t position) { return unit_at(moved(position, replacements_)); };
  aligned_codes_.clear();
  const std::size_t end_code = source_.first_code + source_.codes.size();
  for (const std::size_t position : positions) {
    const InlineCode& code = source_.codes[aligned_codes_.size()];
    AlignedCode& aligned = aligned_codes_.emplace_back();
    aligned.unit = unit_at(position);
    aligned.follows_space = position > 0 && (aligned.unit == 0 || units_[aligned.unit - 1].end < position);
    aligned.precedes_space =
        position < first_text_.size() && (aligned.unit == units_.size() || units_[aligned.unit].begin > position);
    if (!code.partner) continue;
    const std::size_t number = source_.first_code + aligned_codes_.size() - 1;
    aligned.kind = *code.partner > number ? AlignedCode::Kind::begin : AlignedCode::Kind::end;
    aligned.is_whole = *code.partner >= source_.first_code && *code.partner < end_code;
  }
  cut_units_.clear();
  for (const std::size_t position : source_.cuts) cut_units_.push_back(unit_of(position));
  for (Term& term : source_.terms) {
    term.first_unit = unit_of(term.begin);
    term.end_unit = std::max(term.first_unit + 1, unit_of(term.end));
  }
}

// Joins the k-th hypothesis of each part, or the last hypothesis of a part with fewer. Sets `alignment` if the sentence
// is aligned.
std::string Passage::joined(std::size_t k, Alignment& alignment) const {
  std::string whole;
  for (const Part& part : parts_) {
    const std::size_t chosen = std::min(k, part.hypotheses.size() - 1);
    if (is_aligned()) {
      const Alignment& own = part.alignments[chosen];
      if (alignment.ends.empty()) alignment.units = own.units;
      for (std::size_t token = 0; token < own.ends.size() && own.units == alignment.units; ++token) {
        alignment.ends.push_back(whole.size() + own.ends[token]);
        alignment.weights.insert(alignment.weights.end(), own.row(token).begin(), own.row(token).end());
      }
    }
    const std::string& text = part.hypotheses[chosen].text;
    whole += text;
    if (&part != &parts_.back()) whole += space_after(part.source, text, leg().is_spaceless);
  }
  return whole;
}

bool Passage::settle() {
  Alignment alignment;
  const bool was_forced = is_alone();
  if (!was_forced && std::ranges::any_of(pending_, &Part::is_to_be_halved)) return true;
  // Replace each part by its halves if the translation of at least one half ended.
  pending_.clear();
  for (Part& part : std::exchange(parts_, {})) std::ranges::move(finished(std::move(part)), std::back_inserter(parts_));
  const bool is_ended = std::ranges::all_of(parts_, &Part::is_ended);
  is_cut_off_ |= !was_forced && !is_ended;
  // If another leg follows, that leg translates the best translation of this leg.
  if (&leg() != &legs_.back()) {
    text_ = joined(0, alignment);
    parts_.clear();
    if (!text_.empty()) {
      alignment_ = std::move(alignment);
      ++leg_;
      return true;
    }
  }
  // Build a target from each translation that contains all protected terms.
  std::size_t count = 1;
  for (const Part& part : parts_) count = std::max(count, part.hypotheses.size());
  std::vector<TargetSentence> found;
  for (std::size_t k = 0; k < count; ++k) {
    alignment = {};
    const std::string text = joined(k, alignment);
    if (auto target = marked(text, alignment, Terms::replaced)) {
      if (found.empty() && !is_alone()) {
        best_text_ = text;
        best_alignment_ = alignment;
      }
      found.push_back(*std::move(target));
    }
  }
  const bool is_one_part = parts_.size() == 1;
  parts_.clear();
  forced_.clear();
  if (found.empty() && !was_forced) {  // a protected term is missing
    attempt_ = attempt_ == Attempt::plain ? Attempt::stand_ins : Attempt::left_out;
    begin_attempt();
    return true;
  }
  // Use a forced translation only if it contains all terms and has ended.
  const bool lacks = found.empty() || (!is_ended && !is_cut_off_) ||
                     std::ranges::find(found.front().methods, Method::failed) != found.front().methods.end();
  if (!was_forced || !lacks) {
    for (std::size_t i = 0; was_forced && i < source_.terms.size(); ++i) {
      Method& method = found.front().methods[i];
      if (targets_.front().methods[i] == Method::failed && method == Method::present) method = Method::forced;
    }
    targets_ = std::move(found);
  }
  // Force missing terms once, in sentences of one part. If a term is still missing, insert it.
  if (lacks && !was_forced && is_one_part) force_terms();
  if (lacks && !is_alone()) targets_.front() = *marked(best_text_, best_alignment_, Terms::inserted);
  return is_alone();
}

// Collects the missing terms, which the next run of the last leg must write. Each term needs a beam, so collects none
// if there are too many.
void Passage::force_terms() {
  constexpr std::size_t kMaxForced = 14;
  for (std::size_t i = 0; i < source_.terms.size(); ++i) {
    if (targets_.front().methods[i] != Method::failed) continue;
    const TokenIds ids = encode_after_space(*leg().model->tokenizer(), source_.terms[i].target, leg().languages());
    if (!ids.empty() && std::ranges::find(forced_, ids) == forced_.end()) forced_.push_back(ids);
  }
  if (forced_.size() > kMaxForced) forced_.clear();
}

// Returns the positions of the subtitle boundaries in a translation.
std::vector<std::size_t> Passage::cuts_of(const std::string& text, const Alignment& alignment,
                                          std::span<const AlignedWord> words) const {
  std::vector<CutWord> all;
  for (const AlignedWord& word : words) {
    // Keep adjacent units together, such as a word and the comma after it.
    const bool continues = !legs_.back().is_spaceless && !all.empty() && all.back().end == word.begin;
    if (!continues) all.push_back({.begin = word.begin, .weights = std::vector<float>(source_.cuts.size() + 1)});
    all.back().end = word.end;
  }
  // Add up the attention of each word by subtitle of the source.
  for (CutWord& word : all) {
    const std::vector<float> weights = weights_of(alignment, word.begin, word.end);
    for (std::size_t unit = 0; unit < weights.size(); ++unit) {
      const auto part = std::ranges::upper_bound(cut_units_, unit) - cut_units_.begin();
      word.weights[static_cast<std::size_t>(part)] += weights[unit];
    }
  }
  return place_cuts(text, all, source_.shares);
}

// Returns the edits that write the protected terms, or nullopt if the translation lacks a term.
std::optional<std::vector<Edit>> Passage::kept_words(const std::string& text,
                                                     std::span<const AlignedWord> words) const {
  std::vector<Edit> edits;
  std::vector<std::string> forms;
  for (std::size_t i = 0; i < source_.terms.size(); ++i) {
    const Term& term = source_.terms[i];
    if (!term.is_kept) continue;
    Edit edit{.replacement = {.by = term.target}, .term = i, .method = Method::present};
    if (attempt_ == Attempt::left_out) {
      edit = inserted(i, text, position_of(term, words), Method::alignment);
    } else if (attempt_ == Attempt::stand_ins) {
      edit.method = Method::stand_in;
    }
    forms.push_back(attempt_ == Attempt::plain ? term.target : replacements_[edits.size()].by);
    edits.push_back(std::move(edit));
  }
  if (attempt_ == Attempt::left_out) return edits;
  const auto positions = find_kept(text, first_text_, forms);
  if (!positions) return std::nullopt;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    edits[i].replacement.begin = (*positions)[i];
    edits[i].replacement.end = (*positions)[i] + forms[i].size();
  }
  return edits;
}

// Adds the edits that write glossary terms. If the translation already has a term, the edit only reports this.
void Passage::add_terms(const std::string& text, std::span<const AlignedWord> words, Terms terms,
                        std::vector<Edit>& edits) const {
  for (std::size_t i = 0; i < source_.terms.size(); ++i) {
    const Term& term = source_.terms[i];
    if (term.is_kept) continue;
    Edit edit{.term = i, .method = Method::present, .is_needed = false};
    const auto count = std::ranges::count(source_.terms, term.target, &Term::target);
    if (count_term(text, term.target, legs_.back().is_spaceless) < static_cast<std::size_t>(count)) {
      const auto translates = [&](const AlignedWord& word) {
        return word.unit >= term.first_unit && word.unit < term.end_unit;
      };
      const auto is_unaligned = [&](const AlignedWord& word) { return word.unit == units_.size(); };
      // Find the run of words aligned with the term. The run may contain unaligned words, but not at its ends.
      const auto first = std::ranges::find_if(words, translates);
      auto last = std::find_if_not(first, words.end(),
                                   [&](const auto& word) { return translates(word) || is_unaligned(word); });
      while (last != first && is_unaligned(*(last - 1))) --last;
      if (first != last && std::none_of(last, words.end(), translates)) {
        edit = {.replacement = {.begin = first->begin, .end = (last - 1)->end}, .term = i};
        edit.replacement.by = term.target;
      } else if (terms == Terms::inserted) {
        edit = inserted(i, text, position_of(term, words), Method::inserted);
      } else {
        continue;
      }
    }
    edits.push_back(std::move(edit));
  }
}

// Returns a translation with its codes, cuts and terms, or nullopt if the translation lacks a protected term.
std::optional<TargetSentence> Passage::marked(const std::string& text, const Alignment& alignment, Terms terms) const {
  std::vector<AlignedWord> words;
  if (is_aligned()) words = align_words(alignment, text, first_text_, units_);
  std::optional<std::vector<Edit>> edits = kept_words(text, words);
  if (!edits) return std::nullopt;
  add_terms(text, words, terms, *edits);
  std::ranges::stable_sort(*edits, {}, [](const Edit& edit) { return edit.replacement.begin; });

  TargetSentence target;
  target.term_positions.resize(source_.terms.size());
  target.methods.resize(source_.terms.size(), Method::failed);
  std::vector<Replacement> replacements;
  // Convert the edits to replacements, and record the position and method of each term.
  for (Edit& edit : *edits) {
    if (!edit.is_needed) {
      target.methods[edit.term] = edit.method;
      continue;
    }
    const std::size_t end = replacements.empty() ? 0 : replacements.back().end;
    if (edit.replacement.begin < end) {  // two terms overlap
      if (terms == Terms::replaced) continue;
      edit = inserted(edit.term, text, end, Method::inserted);
    }
    target.methods[edit.term] = edit.method;
    const std::string before = replaced(std::string_view(text).substr(0, edit.replacement.begin), replacements);
    target.term_positions[edit.term] = before.size() + edit.lead;
    replacements.push_back(std::move(edit.replacement));
  }
  // Place the codes and cuts in `text`, then move them to the same positions in the edited text.
  target.text = replaced(text, replacements);
  target.codes = place_codes(words, aligned_codes_);
  for (PlacedCode& code : target.codes) code.position = moved(code.position, replacements);
  if (!source_.cuts.empty()) target.cuts = cuts_of(text, alignment, words);
  for (std::size_t& position : target.cuts) position = moved(position, replacements);
  // If the source has a code between two spaces, models write only one space. Add the second space.
  for (std::size_t i = 0; i < target.codes.size(); ++i) {
    const auto [code, position] = target.codes[i];
    const bool has_two = aligned_codes_[code].follows_space && aligned_codes_[code].precedes_space;
    if (!has_two || target.text[position] != ' ' || (position > 0 && target.text[position - 1] == ' ')) continue;
    target.text.insert(position, 1, ' ');
    for (std::size_t j = i; j < target.codes.size(); ++j) ++target.codes[j].position;
    for (std::size_t& other : target.cuts) other += other > position ? 1 : 0;
    for (std::size_t& other : target.term_positions) other += other > position ? 1 : 0;
  }
  return target;
}

// Returns the edit that inserts a term as a separate word, with spaces around it as in the source.
Edit Passage::inserted(std::size_t number, const std::string& text, std::size_t position, Method method) const {
  const Term& term = source_.terms[number];
  Edit edit{.replacement = {.begin = position, .end = position, .by = term.target}, .term = number, .method = method};
  if (legs_.back().is_spaceless) return edit;
  const bool follows_space = term.begin == 0 || source_.text()[term.begin - 1] == ' ';
  if (position < text.size() && text[position] != ' ') edit.replacement.by += ' ';
  if (follows_space && position > 0 && text[position - 1] != ' ') {
    edit.replacement.by.insert(0, 1, ' ');
    edit.lead = 1;
  }
  return edit;
}

std::vector<TermReport> Passage::reports() const {
  std::vector<TermReport> reports;
  if (targets_.empty()) return reports;
  for (std::size_t i = 0; i < source_.terms.size(); ++i) {
    const Term& term = source_.terms[i];
    const Method method = targets_.front().methods[i];
    if (term.is_kept && method == Method::present) continue;
    reports.push_back(
        {.source = source_.text().substr(term.begin, term.end - term.begin), .target = term.target, .method = method});
  }
  return reports;
}

}  // namespace encdec::translation
