#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/translation/alignment.h"
#include "encdec/translation/routes.h"
#include "encdec/translation/text/kept_words.h"
#include "encdec/translation/text/segment.h"
#include "encdec/translation/text/sentences.h"
#include "encdec/translation/translation_job.h"

namespace encdec::translation {

// A step of a route, with its model's options.
struct RouteLeg {
  const Model* model = nullptr;
  RouteStep step;
  GenerateOptions options;
  bool is_spaceless = false;  // the target language is written without spaces
  std::size_t limit = 512;    // maximum number of tokens of a text

  EncodeOptions languages() const {
    return {.source_language = options.source_lang, .target_language = options.target_lang};
  }
  // Lowers the limit to the numbers of tokens that the model can read and write. The limit for writing applies too,
  // because few translations have fewer tokens than their sources.
  void set_limit();
  // Splits sentences over the limit into shorter parts, because models omit text near their limits.
  std::vector<Sentence> cut(std::vector<Sentence> sentences) const;
};

// A part of a sentence that fits a leg's model, with its translations.
struct Part {
  Sentence source;
  std::size_t begin = 0;  // byte offset in the leg's text
  int halvings = 0;       // how many times a text was halved to get this part
  std::vector<Hypothesis> hypotheses = {};
  std::vector<Alignment> alignments = {};  // one per hypothesis; none if the passage is not aligned
  std::vector<Part> halves = {};           // translated if the translation of this part did not end

  // Returns true if the model ended the best translation, false if the token limit did.
  bool is_ended() const { return hypotheses.front().finish_reason == FinishReason::stop; }
  bool is_to_be_halved() const;
};

// A protected term or a glossary term in a sentence.
struct Term {
  std::size_t begin = 0, end = 0;               // byte offsets in the sentence
  std::string target = {};                      // the text to write
  bool is_kept = false;                         // protected: `target` is the term itself
  std::optional<std::size_t> placeholder = {};  // index in Segment::placeholders
  std::size_t first_unit = 0, end_unit = 0;     // units of the term: [first_unit, end_unit)
};

// An edit that writes a term into a translation.
struct Edit {
  Replacement replacement = {};
  std::size_t term = 0;  // index of the term
  TermReport::Method method = TermReport::Method::alignment;
  std::size_t lead = 0;   // bytes of the replacement before the term
  bool is_needed = true;  // the translation lacks the term
};

// A translation of a sentence.
struct TargetSentence {
  std::string text;
  std::vector<PlacedCode> codes = {};
  std::vector<std::size_t> cuts = {};            // position of each subtitle boundary
  std::vector<std::size_t> term_positions = {};  // position of each protected term
  std::vector<TermReport::Method> methods = {};  // one for each term
};

// Returns the white space to write after a translated sentence: the white space of the source, except that the target
// language decides between one space and none.
std::string space_after(const Sentence& sentence, std::string_view translation, bool is_spaceless);

// A sentence of a segment, with its inline codes, subtitle boundaries and terms.
struct SourceSentence {
  Sentence sentence;
  std::size_t begin = 0;                   // byte offset in the segment
  bool is_cut = false;                     // split at a code, so the space after it is kept
  std::span<const InlineCode> codes = {};  // a part of Segment::codes
  std::size_t first_code = 0;              // index of `codes` in Segment::codes
  std::vector<std::size_t> cuts = {};      // subtitle boundaries in the sentence
  std::vector<double> shares = {};         // fraction of the sentence's time before each boundary
  std::vector<Term> terms = {};            // in text order

  const std::string& text() const { return sentence.text; }
  std::size_t end() const { return begin + text().size(); }
};

// A sentence that is translated along the legs of its route. Order of calls, until start() or settle() returns false:
// start (divide take* settle)*.
//
// A part whose translation reaches the token limit is translated again in halves, at most three times: up to 8 parts
// and 15 translations. If no half ends, the model does not stop on such a text, and the first translation is used.
//
// The passage tries three ways to keep protected terms, until each term occurs in the translation once, as a whole
// word: it leaves the terms unchanged; it replaces them by placeholder words that models copy; it leaves them out, and
// inserts them by alignment. A missing glossary term replaces the words aligned with it, if these words are contiguous.
// Otherwise, beam search is forced to write the term. If that fails, the term is inserted next to the words aligned
// with it.
class Passage {
 public:
  // Keeps a reference to `legs`.
  Passage(SourceSentence source, const std::vector<RouteLeg>& legs) : source_(std::move(source)), legs_(legs) {}

  const SourceSentence& source() const { return source_; }
  // Returns the translations, best first. Empty if the sentence is only white space.
  const std::vector<TargetSentence>& targets() const { return targets_; }
  // Returns true if the token limit ended a part of the best translation, so text may be missing.
  bool is_cut_off() const { return is_cut_off_; }
  // Returns the reports on the terms in the best translation.
  std::vector<TermReport> reports() const;

  const RouteLeg& leg() const { return legs_[leg_]; }
  // Returns the parts that the current leg is to translate.
  const std::vector<Part*>& parts() const { return pending_; }
  // Returns true if results need the attention that align() reads.
  bool is_aligned() const;
  // Returns true if terms are forced, so that the passage cannot share a batch.
  bool is_alone() const { return !forced_.empty(); }
  // Returns the options of the current leg.
  GenerateOptions options() const;

  // Begins the first leg. Returns false if there is nothing to translate.
  bool start();
  // Splits the leg's text into parts that fit its model, or halves the parts that need it.
  void divide();
  // Stores the result for a part. Returns true if all parts have results.
  bool take(std::size_t part, GenerateResult result);
  // Ends the leg if no part needs halving. Returns true if there is more to translate.
  bool settle();

 private:
  enum class Attempt : std::uint8_t { plain, stand_ins, left_out };

  void begin_attempt();
  void find_units();
  std::vector<std::size_t> marked_positions() const;
  std::string joined(std::size_t k, Alignment& alignment) const;
  std::vector<std::size_t> cuts_of(const std::string& text, const Alignment& alignment,
                                   std::span<const AlignedWord> words) const;
  // What to do with a missing term whose aligned words are not contiguous: leave it out, or insert it next to them.
  enum class Terms : std::uint8_t { replaced, inserted };
  std::optional<TargetSentence> marked(const std::string& text, const Alignment& alignment, Terms terms) const;
  std::optional<std::vector<Edit>> kept_words(const std::string& text, std::span<const AlignedWord> words) const;
  void add_terms(const std::string& text, std::span<const AlignedWord> words, Terms terms,
                 std::vector<Edit>& edits) const;
  Edit inserted(std::size_t number, const std::string& text, std::size_t position, TermReport::Method method) const;
  void force_terms();

  SourceSentence source_;
  const std::vector<RouteLeg>& legs_;
  std::size_t leg_ = 0;
  std::string text_ = {};            // the text that the current leg translates
  std::vector<Part> parts_ = {};     // parts of `text_`
  std::vector<Part*> pending_ = {};  // parts, or halves of parts, of the last divide()
  std::size_t missing_ = 0;          // number of `pending_` parts without a result
  bool is_cut_off_ = false;
  Alignment alignment_ = {};  // `text_` to sentence; not set in a first leg of one part
  Attempt attempt_ = Attempt::plain;
  std::string first_text_ = {};                 // the text that the first leg translates
  std::vector<Replacement> replacements_ = {};  // from the sentence to `first_text_`
  std::vector<TextUnit> units_ = {};            // units of `first_text_`
  std::vector<AlignedCode> aligned_codes_ = {};
  std::vector<std::size_t> cut_units_ = {};
  std::vector<TokenIds> forced_ = {};  // phrases that the last leg must write
  std::vector<TargetSentence> targets_ = {};
  std::string best_text_ = {};  // the best translation, unedited and unforced
  Alignment best_alignment_ = {};
};

}  // namespace encdec::translation
