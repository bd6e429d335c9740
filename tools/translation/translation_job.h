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

struct TranslateOptions {
  std::string source = {};  // language code in any spelling; empty to detect the language
  std::string target = {};  // language code in any spelling
  std::string via = {};     // see TranslationRoutes::find(); a language code in any spelling
  bool is_html = false;     // texts are HTML
  int alternatives = 0;     // number of further translations, by the last model of a route
  // Glossary and protected terms, or null.
  std::shared_ptr<const Glossary> glossary = {};
  Split split = Split::sentences;  // models for longer texts use newlines instead
  // Options of all models. The job sets languages, attention, beams and forced words as needed.
  GenerateOptions generate = {};
};

// Returns the possible source languages: the language in the options or, if empty, all languages with a route to the
// target. Makes the languages in the options canonical. Throws InputError if there is no route.
std::vector<std::string> possible_sources(const TranslationRoutes& routes, TranslateOptions& options);

// Translation::problem if the token limit ended a translation.
inline constexpr std::string_view kCutOff =
    "the model reached its limit of tokens, so the end of a sentence may be missing";

// How a translation got a glossary term or a protected term.
struct TermReport {
  enum class Method : std::uint8_t {
    present,    // the model wrote the term without help
    stand_in,   // the model copied a placeholder word, which the term replaces
    alignment,  // the term replaces the words aligned with it, or is inserted there
    forced,     // beam search had to write the term
    inserted,   // the term is inserted next to the words aligned with it
    failed,     // the translation lacks the term
  };
  std::string source;  // the term as in the text
  std::string target;  // the term to write
  Method method = Method::present;
};

// Names of the methods in reports.
inline constexpr std::array kTermMethods = {
    Named{TermReport::Method::present, "present"},     Named{TermReport::Method::stand_in, "stand_in"},
    Named{TermReport::Method::alignment, "alignment"}, Named{TermReport::Method::forced, "forced"},
    Named{TermReport::Method::inserted, "inserted"},   Named{TermReport::Method::failed, "failed"},
};

// The translation of one text.
struct Translation {
  std::string text = {};  // empty for a Segment
  std::vector<std::string> alternatives = {};
  Segment segment = {};                 // the translation of a Segment
  std::string source = {};              // canonical code of the source language
  double confidence = 100.0;            // of the detection of the source language, in percent
  std::vector<std::string> route = {};  // languages along the route: {"de", "en", "fr"}
  // Reports on glossary terms, and on protected terms that the model did not write by itself.
  std::vector<TermReport> terms = {};
  std::string problem = {};  // kCutOff, or empty
};

// Inputs for one model.
struct TranslationBatch {
  std::size_t model = 0;  // number of the model
  GenerateOptions options = {};
  std::vector<GenerateInput> inputs = {};
};

// Translates texts sentence by sentence, but does not run models: next() returns inputs to generate from, and take()
// stores the results. Splits texts into sentences once, in the source language; on a route through a pivot language,
// each sentence stays one input. Not thread-safe. Order of calls, until next() returns nothing: add* (next take*)*
// results.
class TranslationJob {
 public:
  // Keeps references. `models` are in the order of `routes`. Throws InputError without a route.
  TranslationJob(std::span<const Model> models, const TranslationRoutes& routes, TranslateOptions options);
  ~TranslationJob();

  // Adds a text to translate.
  void add(const std::string& text);
  // REQUIRES: placeholders do not begin or end with white space, or they may be reported as failed.
  void add(Segment segment);
  // Returns the number of sentences in all texts so far.
  std::size_t sentences() const;

  // Returns the inputs to generate from now; empty if all texts are translated.
  // REQUIRES: all results of the previous batches have been taken.
  std::vector<TranslationBatch> next();
  // Stores the result for an input of a batch of the last next(). Results may come in any order.
  void take(std::size_t batch, std::size_t input, GenerateResult result);
  // Returns the translations, in the order of the texts.
  std::vector<Translation> results();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Runs a job in the caller's thread with Model::generate_inputs(). Returns the translations.
std::vector<Translation> translate(std::span<const Model> models, TranslationJob& job);

}  // namespace encdec
