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

// A step of a route, with the options of its model.
struct Leg {
  const Model* model = nullptr;
  RouteStep step;
  GenerateOptions options;
  bool is_spaceless = false;  // the target language is written without spaces
  std::size_t limit = 512;    // maximum number of tokens of a text

  EncodeOptions languages() const {
    return {.source_language = options.source_lang, .target_language = options.target_lang};
  }
  // Lowers the limit to the numbers of tokens that the model can read and write. Few translations have fewer tokens
  // than their sources.
  void set_limit();
  // Cuts each sentence that is over the limit into parts well within it: models leave out text near their limits.
  std::vector<Sentence> cut(std::vector<Sentence> sentences) const;
};

// A part of a sentence that fits the model of a leg, and its translations.
struct Part {
  Sentence source;
  std::size_t begin = 0;  // position in the text of the leg
  int halvings = 0;       // number of times that the text was halved to get this part
  std::vector<Hypothesis> hypotheses = {};
  std::vector<Alignment> alignments = {};  // one for each hypothesis if the sentence is aligned, else empty
  std::vector<Part> halves = {};           // translated because the best translation of the whole part is not ended

  // Returns whether the model ended the best translation. Else its limit of tokens did.
  bool is_ended() const { return hypotheses.front().finish_reason == FinishReason::stop; }
  bool is_to_be_halved() const;
};

// A word to keep or a term of a glossary, in a sentence.
struct Term {
  std::size_t begin = 0, end = 0;               // bytes of the sentence
  std::string target = {};                      // the text to write
  bool is_kept = false;                         // `target` is the word itself
  std::optional<std::size_t> placeholder = {};  // index in Segment::placeholders
  std::size_t first_unit = 0, end_unit = 0;     // units of the sentence, from `first_unit` to before `end_unit`
};

// A change that puts a term into a translation.
struct Edit {
  Replacement replacement = {};
  std::size_t term = 0;  // index of the term
  TermReport::Method method = TermReport::Method::alignment;
  std::size_t lead = 0;   // bytes of the replacement before the term
  bool is_needed = true;  // the translation lacks the term
};

// A translation of a sentence.
struct Target {
  std::string text;
  std::vector<PlacedCode> codes = {};
  std::vector<std::size_t> cuts = {};            // the place of each cut
  std::vector<std::size_t> places = {};          // the place of each word to keep; of other terms any number
  std::vector<TermReport::Method> methods = {};  // one for each term
};

// Returns the white space to write after a translated sentence. If the source has more than one space there, or another
// white space, it is kept. Otherwise the target language decides: nothing if it is written without spaces, else one
// space.
std::string space_behind(const Sentence& sentence, std::string_view translation, bool is_spaceless);

// A sentence of a segment, with what has a place in it.
struct SourceSentence {
  Sentence sentence;
  std::size_t begin = 0;                   // position in the segment, in bytes
  bool is_cut = false;                     // the sentence was cut at a code, so the space after it is kept
  std::span<const InlineCode> codes = {};  // the codes within it, a part of Segment::codes
  std::size_t first_code = 0;              // index in Segment::codes of the first of `codes`
  std::vector<std::size_t> cuts = {};      // places of the cuts within it, in the sentence
  std::vector<double> shares = {};         // shares of the sentence's time before each cut
  std::vector<Term> terms = {};            // in order

  const std::string& text() const { return sentence.text; }
  std::size_t end() const { return begin + text().size(); }
};

// A sentence on its way through the legs of its route. Order of calls, until start() or settle() returns false:
// start (divide take* settle)*.
//
// A part whose translation runs into the model's limit of tokens is translated again in halves, and these again: up to
// 8 parts, so that at most 15 translations are made of a part. If none of them ends, the model does not stop on such a
// text, and the first one is used.
//
// Words to keep are tried in three ways, until each stands in the translation once and whole: as they are, as other
// words that models copy, and left out, then put in by alignment. A term of a glossary that the translation lacks is
// put in place of the words aligned with it or, if these are not one block, forced. If the forced translation lacks it
// too, or has it only as a part of a word, the term is put beside the words aligned with it.
class Passage {
 public:
  // Keeps a reference to `legs`.
  Passage(SourceSentence source, const std::vector<Leg>& legs) : source_(std::move(source)), legs_(legs) {}

  const SourceSentence& source() const { return source_; }
  // Returns the translations, best first. Empty if the sentence is only space.
  const std::vector<Target>& targets() const { return targets_; }
  // Returns whether a limit of tokens ended a part of the best translation, so text may be missing.
  bool is_cut_off() const { return is_cut_off_; }
  // Returns the reports on the terms in the best translation.
  std::vector<TermReport> reports() const;

  const Leg& leg() const { return legs_[leg_]; }
  // Returns the parts of its text that the current leg translates now.
  const std::vector<Part*>& parts() const { return pending_; }
  // Returns whether the results must have the attention that align() needs.
  bool is_aligned() const;
  // Returns whether the passage needs options of its own.
  bool is_alone() const { return !forced_.empty(); }
  // Returns the options of the current leg.
  GenerateOptions options() const;

  // Begins the first leg. Returns false if there is nothing to translate.
  bool start();
  // Divides the text of the current leg into parts that fit its model, or halves the parts that need it.
  void divide();
  // Takes the result for a part. Returns whether all parts have their results.
  bool take(std::size_t part, GenerateResult result);
  // Ends a leg if no part needs halving. Returns whether there is more to translate.
  bool settle();

 private:
  enum class Attempt : std::uint8_t { plain, stand_ins, left_out };

  void begin_attempt();
  void find_units();
  std::vector<std::size_t> marked_places() const;
  std::string joined(std::size_t k, Alignment& alignment) const;
  std::vector<std::size_t> cuts_of(const std::string& text, const Alignment& alignment,
                                   std::span<const AlignedWord> words) const;
  // Treatment of a term that the translation lacks and whose words are not one block.
  enum class Terms : std::uint8_t { replaced, inserted };  // nothing; it is put beside them
  std::optional<Target> target_of(const std::string& text, const Alignment& alignment, Terms terms) const;
  std::optional<std::vector<Edit>> kept_words(const std::string& text, std::span<const AlignedWord> words) const;
  void add_terms(const std::string& text, std::span<const AlignedWord> words, Terms terms,
                 std::vector<Edit>& edits) const;
  Edit inserted(std::size_t number, const std::string& text, std::size_t place, TermReport::Method method) const;
  void force_terms();

  SourceSentence source_;
  const std::vector<Leg>& legs_;
  std::size_t leg_ = 0;
  std::string text_ = {};            // the text that the current leg translates
  std::vector<Part> parts_ = {};     // the parts of `text_`
  std::vector<Part*> pending_ = {};  // the parts, or halves of parts, of the last divide()
  std::size_t missing_ = 0;          // number of these without a result
  bool is_cut_off_ = false;
  Alignment alignment_ = {};  // aligns `text_` with the sentence; set in the first leg only if it has several parts
  Attempt attempt_ = Attempt::plain;
  std::string first_text_ = {};                 // the text that the first leg translates
  std::vector<Replacement> replacements_ = {};  // from the sentence to `first_text_`: one for each kept term, or none
  std::vector<TextUnit> units_ = {};            // the units of `first_text_`
  std::vector<AlignedCode> aligned_codes_ = {};
  std::vector<std::size_t> cut_units_ = {};
  std::vector<TokenIds> forced_ = {};  // phrases that the last leg must write
  std::vector<Target> targets_ = {};
  std::string best_text_ = {};  // the best translation before terms are forced, without its edits
  Alignment best_alignment_ = {};
};

}  // namespace encdec::translation
