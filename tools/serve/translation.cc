#include "serve/translation.h"

#include <encdec/models/translation/tagged_sentence.h>
#include <encdec/models/translation/text/html.h>
#include <encdec/models/translation/text/language.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <utility>

namespace encdec::serve {
namespace parts_of_translation {

// The sentences with one BatchKey, which are translated together.
struct Batch {
  GenerateOptions options;
  std::vector<GenerateInput> inputs = {};
  // One for each input if BatchKey::is_aligned, else empty.
  std::vector<TaggedSentence> tagged = {};
  std::vector<std::vector<std::vector<PlacedCode>>> placed = {};  // by hypothesis
  std::vector<GenerateResult> results = {};
};
struct BatchKey {
  ServedModel* model = nullptr;
  std::string source;       // language
  bool is_aligned = false;  // the sentences have codes, so their results need attention
  auto operator<=>(const BatchKey&) const = default;
};

// A sentence of a text, and the place of its result.
struct Piece {
  Sentence sentence;
  std::size_t begin = 0;         // position in the text, in bytes
  bool is_cut = false;           // the sentence was cut at a code, so the space after this piece is kept
  const Batch* batch = nullptr;  // null if the piece is only space
  std::size_t result = 0;        // index in Batch::results
};

// A part of an HTML text, and the sentences in it. A plain text is a single part.
struct Stretch {
  HtmlPart part;
  std::vector<Piece> pieces;
};

// A text of the request.
struct Document {
  ServedModel* model = nullptr;
  GenerateOptions options;  // options for its sentences
  Translation translation;
  std::vector<Stretch> stretches;
};

void check_languages(const ModelSet& models) {
  if (!models.source_languages().empty()) return;
  throw HttpError(400, "the languages of all models are unknown; see --languages NAME=en:fr");
}

[[noreturn]] void refuse_target(const ModelSet& models, const std::string& target) {
  check_languages(models);
  throw HttpError(400, fmt::format("no model translates to '{}', expected one of {}", target,
                                   fmt::join(models.target_languages(), ", ")));
}

[[noreturn]] void refuse_pair(const ModelSet& models, const std::string& source, const std::string& target) {
  check_languages(models);
  const auto sources = models.source_languages();
  if (std::ranges::find(sources, source) == sources.end()) {
    throw HttpError(400,
                    fmt::format("no model translates from '{}', expected one of {}", source, fmt::join(sources, ", ")));
  }
  throw HttpError(400, fmt::format("no model translates from '{}' to '{}', expected one of {}", source, target,
                                   fmt::join(models.target_languages(source), ", ")));
}

// Returns the languages in which the texts may be: the requested one, or all from which a model translates to the
// target.
std::vector<std::string> sources_of(const ModelSet& models, const TranslateOptions& options) {
  if (!options.source.empty()) {
    if (models.translator(options.source, options.target) == nullptr)
      refuse_pair(models, options.source, options.target);
    return {options.source};
  }
  std::vector<std::string> sources = models.source_languages();
  std::erase_if(sources, [&](const auto& source) { return models.translator(source, options.target) == nullptr; });
  if (sources.empty()) refuse_target(models, options.target);
  return sources;
}

GenerateOptions options_for(const Document& document, const TranslateOptions& options) {
  const ModelLanguages& languages = document.model->languages();
  GenerateOptions generate;
  generate.source_lang = languages.sources.at(document.translation.source);
  generate.target_lang = languages.targets.at(options.target);
  if (options.alternatives > 0) {
    const int beams = document.model->model().generation_config().num_beams.value_or(1);
    generate.num_return_sequences = options.alternatives + 1;
    generate.num_beams = std::max(beams, options.alternatives + 1);
  }
  return generate;
}

// Returns whether a text has at most kUsual tokens, and at most one for each position of the encoder.
bool fits(const Model& model, const std::string& text, const EncodeOptions& languages) {
  const auto limit = model.config().encoder.position_limit();
  // A token has at least one byte, and up to 8 special tokens are added. So a short text needs no tokenizer.
  constexpr std::size_t kUsual = 512;
  const std::size_t most = limit ? std::min<std::size_t>(static_cast<std::size_t>(*limit), kUsual) : kUsual;
  return text.size() + 8 <= most || model.tokenizer()->encode(text, languages).size() <= most;
}

// Returns the space to write after a piece. The last piece, a piece cut at a code, and white space other than one space
// keep what the source has. After other pieces the target language decides: nothing if it is written without spaces,
// else one space.
std::string space_behind(const Piece& piece, bool is_last, bool is_spaceless) {
  const auto& [text, space] = piece.sentence;
  if (is_last || piece.is_cut || text.empty() || (space != " " && !space.empty())) return space;
  return is_spaceless ? "" : " ";
}

// Returns the codes after position `begin` and before position `end` of a text.
std::span<const InlineCode> codes_within(const Segment& segment, std::size_t begin, std::size_t end) {
  const auto first = std::ranges::upper_bound(segment.codes, begin, {}, &InlineCode::place);
  const auto last = std::ranges::lower_bound(first, segment.codes.end(), end, {}, &InlineCode::place);
  return {first, last};
}

// Splits a text into pieces to translate. Sentences that do not fit are cut. A sentence with more than kMaxCodes codes
// is cut at its codes, because attention to words cannot place that many.
std::vector<Piece> pieces_of(const Segment& segment, Split split, const std::string& language,
                             const std::function<bool(const std::string&)>& fits) {
  constexpr std::size_t kMaxCodes = 32;
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  const auto add = [&](Sentence sentence, bool is_cut) {
    const std::size_t size = sentence.text.size() + sentence.space.size();
    pieces.push_back({.sentence = std::move(sentence), .begin = begin, .is_cut = is_cut});
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
    pieces.back().sentence.space += sentence.space;
    pieces.back().is_cut = false;
    begin += sentence.space.size();
  }
  return pieces;
}

// Returns a translated part, built from the k-th hypothesis of each piece.
HtmlPart translated(const Stretch& stretch, bool is_spaceless, std::size_t k) {
  const auto& [part, pieces] = stretch;
  if (!part.is_text) return part;
  const std::vector<InlineCode>& codes = part.segment.codes;
  HtmlPart all{.is_text = true, .segment = {}};
  std::string& text = all.segment.text;
  std::size_t next = 0;  // index of the next code to place
  const auto add_codes = [&](std::size_t end) {
    for (; next < codes.size() && codes[next].place <= end; ++next) {
      all.segment.codes.push_back({.place = text.size(), .markup = codes[next].markup});
    }
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    add_codes(piece.begin);
    if (piece.batch != nullptr) {
      // The last hypothesis if there are fewer than k + 1.
      const auto& hypotheses = piece.batch->results[piece.result].hypotheses;
      const std::size_t chosen = std::min(k, hypotheses.size() - 1);
      if (!piece.batch->tagged.empty()) {
        for (const auto& [code, place] : piece.batch->placed[piece.result][chosen]) {
          all.segment.codes.push_back({.place = text.size() + place, .markup = codes[next + code].markup});
        }
        next += piece.batch->tagged[piece.result].codes.size();
      }
      text += hypotheses[chosen].text;
      add_codes(piece.begin + piece.sentence.text.size());
    }
    text += space_behind(piece, i + 1 == pieces.size(), is_spaceless);
  }
  add_codes(part.segment.text.size());
  return all;
}

// Returns a translated text, built from the k-th hypothesis of each piece.
std::string written(const Document& document, const TranslateOptions& options, std::size_t k) {
  std::string all;
  for (const Stretch& stretch : document.stretches) {
    const HtmlPart part = translated(stretch, is_written_without_spaces(options.target), k);
    all += options.is_html ? write_html(part) : part.segment.text;
  }
  return all;
}

// The texts of a request, and the batches of their sentences.
struct Plan {
  const Call& call;
  const TranslateOptions& options;
  std::vector<std::string> sources;  // possible languages of the texts
  std::vector<Document> documents = {};
  std::map<BatchKey, Batch> batches = {};
  std::size_t sentences = 0;

  void add(const std::string& text);

 private:
  void add(HtmlPart part, Document& document);
};

void Plan::add(const std::string& text) {
  Document& document = documents.emplace_back();
  document.translation.source = options.source;
  if (options.source.empty()) {
    const DetectedLanguage detected = detect_languages(text, sources, options.is_html).front();
    document.translation.source = detected.language;
    document.translation.confidence = detected.confidence;
  }
  document.model = call.parts().models.translator(document.translation.source, options.target);
  document.options = options_for(document, options);
  if (!options.is_html) return add({.is_text = true, .segment = {.text = text}}, document);
  for (HtmlPart& part : parse_html(text)) add(std::move(part), document);
}

void Plan::add(HtmlPart part, Document& document) {
  Stretch& stretch = document.stretches.emplace_back();
  stretch.part = std::move(part);
  if (!stretch.part.is_text) return;
  const Model& model = document.model->model();
  const EncodeOptions languages{.source_language = document.options.source_lang,
                                .target_language = document.options.target_lang};
  const Split split =
      options.split == Split::sentences && !document.model->translates_sentences() ? Split::newlines : options.split;
  stretch.pieces = pieces_of(stretch.part.segment, split, document.translation.source,
                             [&](const std::string& sentence) { return fits(model, sentence, languages); });
  sentences += stretch.pieces.size();
  if (sentences > call.limits().sentences) {
    throw HttpError(413, fmt::format("more than {} sentences (--max-sentences)", call.limits().sentences));
  }
  for (Piece& piece : stretch.pieces) {
    const std::string& sentence = piece.sentence.text;
    if (sentence.empty()) continue;
    const std::vector<InlineCode>& all = stretch.part.segment.codes;
    const auto codes = codes_within(stretch.part.segment, piece.begin, piece.begin + sentence.size());
    const BatchKey key{document.model, document.translation.source, !codes.empty()};
    const auto [place, is_new] = batches.try_emplace(key, Batch{.options = document.options});
    Batch& batch = place->second;
    if (!codes.empty()) {
      if (is_new) batch.options.attention = alignment_selection(model);
      batch.tagged.push_back(
          {.begin = piece.begin, .codes = codes, .first_code = static_cast<std::size_t>(codes.data() - all.data())});
    }
    piece.batch = &batch;
    piece.result = batch.inputs.size();
    batch.inputs.push_back({.source = sentence});
  }
}

// Returns a function that places the codes in each result as soon as it is finished, so that attention is not kept for
// all results at once. Returns an empty function for a batch without codes.
Call::OnResult placer(Batch& batch, const Model& model, bool is_spaceless) {
  if (batch.tagged.empty()) return {};
  batch.placed.resize(batch.inputs.size());
  return [&batch, &model, is_spaceless](std::size_t input, GenerateResult& result) {
    const auto& text = std::get<std::string>(batch.inputs[input].source);
    batch.placed[input] = place_codes(model, text, batch.tagged[input], batch.options, is_spaceless, result);
  };
}

}  // namespace parts_of_translation

using namespace parts_of_translation;

asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options) {
  call.check_inputs(texts.size());
  options.target = canonical_language(options.target);
  if (!options.source.empty()) options.source = canonical_language(options.source);
  Plan plan{.call = call, .options = options, .sources = sources_of(call.parts().models, options)};
  for (const std::string& text : texts) plan.add(text);
  const bool is_spaceless = is_written_without_spaces(options.target);
  for (auto& [key, batch] : plan.batches) {
    const Call::OnResult on_result = placer(batch, key.model->model(), is_spaceless);
    batch.results = co_await call.generate(*key.model, batch.inputs, batch.options, on_result);
  }

  std::vector<Translation> translations;
  for (Document& document : plan.documents) {
    Translation& translation = document.translation;
    translation.text = written(document, options, 0);
    for (int k = 1; k <= options.alternatives; ++k) {
      translation.alternatives.push_back(written(document, options, static_cast<std::size_t>(k)));
    }
    translations.push_back(std::move(translation));
  }
  co_return translations;
}

}  // namespace encdec::serve
