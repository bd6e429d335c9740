#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encdec/models/model.h"
#include "encdec/translation/routes.h"
#include "encdec/translation/text/glossary.h"
#include "encdec/translation/text/segment.h"
#include "encdec/translation/text/sentences.h"

namespace encdec {

// Options of TranslationJob.
struct TranslateOptions {
  std::string source = {};  // language code in any spelling; empty to detect the language
  std::string target = {};  // language code in any spelling
  std::string via = {};     // see TranslationRoutes::find(); a language in any spelling
  bool is_html = false;     // texts are HTML
  int alternatives = 0;     // number of translations beside the best one; of a route, only the last model has several
  // Terms and words to keep. Null for none.
  std::shared_ptr<const Glossary> glossary = {};
  Split split = Split::sentences;  // sentences become newlines if the model was trained on longer texts
  // Options of all models. The job sets languages, attention and, where it needs them, beams and forced words.
  GenerateOptions generate = {};
};

// Returns the languages in which a text may be: that of the options or, if they have none, all with a route to the
// target. Replaces the languages of the options by their canonical codes. Throws InputError if there is no route.
std::vector<std::string> possible_sources(const TranslationRoutes& routes, TranslateOptions& options);

// The problem of a translation that a limit of tokens ended.
inline constexpr std::string_view kCutOff =
    "the model reached its limit of tokens, so the end of a sentence may be missing";

// How a translation got a term of a glossary or a word to keep.
struct TermReport {
  enum class Method : std::uint8_t {
    present,    // the model wrote the term by itself
    stand_in,   // the model copied another word in its place
    alignment,  // put where the attention of the model says
    forced,     // beam search was made to write the term
    inserted,   // put next to the words that the attention of the model points to
    failed,     // the translation lacks the term
  };
  std::string source;  // the term as the text has it
  std::string target;  // the term to write
  Method method = Method::present;
};

// The names of the methods in reports.
inline constexpr std::array kTermMethods = {
    Named{TermReport::Method::present, "present"},     Named{TermReport::Method::stand_in, "stand_in"},
    Named{TermReport::Method::alignment, "alignment"}, Named{TermReport::Method::forced, "forced"},
    Named{TermReport::Method::inserted, "inserted"},   Named{TermReport::Method::failed, "failed"},
};

// The translation of one text.
struct Translation {
  std::string text = {};  // empty for a Segment
  std::vector<std::string> alternatives = {};
  Segment segment = {};                 // the translation of a Segment, with its codes, placeholders and cuts
  std::string source = {};              // canonical code of the source language
  double confidence = 100.0;            // confidence in a detected source language, in percent
  std::vector<std::string> route = {};  // languages from the source to the target: {"de", "en", "fr"}
  // Reports on the terms of the glossary, and on the words to keep that the model did not write by itself.
  std::vector<TermReport> terms = {};
  std::string problem = {};  // kCutOff, or empty
};

// Inputs for one model.
struct TranslationBatch {
  std::size_t model = 0;  // number of the model
  GenerateOptions options = {};
  std::vector<GenerateInput> inputs = {};
};

// The translation of texts, sentence by sentence, without the running of models: next() returns what models are to
// generate, and take() gets the results. Texts are cut into sentences once, in their own language; on a route through
// another language each sentence stays one sentence. Not for several threads at once. Order of calls:
// add* (next take*)* results, until next() returns nothing.
class TranslationJob {
 public:
  // Keeps references. `models` are those of `routes`, in their order. Throws InputError for languages without a route.
  TranslationJob(std::span<const Model> models, const TranslationRoutes& routes, TranslateOptions options);
  ~TranslationJob();

  // Add a text to translate.
  void add(const std::string& text);
  // REQUIRES: placeholders do not begin or end with white space; others are reported as failed if they end a sentence.
  void add(Segment segment);
  // Returns the number of sentences in all texts so far.
  std::size_t sentences() const;

  // Returns the inputs to generate from now. Empty if all texts are translated.
  // REQUIRES: all results of the previous batches have been taken.
  std::vector<TranslationBatch> next();
  // Takes the result for an input of a batch of the last call of next(). Results may come in any order.
  void take(std::size_t batch, std::size_t input, GenerateResult result);
  // Returns the translations, in the order of the texts.
  std::vector<Translation> results();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Runs a job in the caller's thread: calls Model::generate_inputs() for each batch. Returns the translations.
std::vector<Translation> translate(std::span<const Model> models, TranslationJob& job);

}  // namespace encdec
