#include "serve/translation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <utility>

#include "serve/tagged_sentence.h"
#include "serve/text/html.h"
#include "serve/text/language.h"

namespace encdec::serve {
namespace parts_of_translation {

// The sentences with one BatchKey, which are translated together.
struct Batch {
  GenerateOptions options;
  std::vector<GenerateInput> inputs = {};
  std::vector<TaggedSentence> tagged = {};  // one for each input if BatchKey::is_aligned, else empty
  std::vector<GenerateResult> results = {};
};
struct BatchKey {
  ServedModel* model = nullptr;
  std::string source;       // language
  bool is_aligned = false;  // the sentences have tags, so their results need attention
  auto operator<=>(const BatchKey&) const = default;
};

// A sentence of a text, and the place of its result.
struct Piece {
  Sentence sentence;
  std::size_t begin = 0;         // position in the text, in bytes
  bool is_cut = false;           // the sentence was cut at a tag, so the space after this piece is kept
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

// Returns the space to write after a piece. The last piece, a piece cut at a tag, and white space other than one space
// keep what the source has. After other pieces the target language decides: nothing if it is written without spaces,
// else one space.
std::string space_behind(const Piece& piece, bool is_last, bool is_spaceless) {
  const auto& [text, space] = piece.sentence;
  if (is_last || piece.is_cut || text.empty() || (space != " " && !space.empty())) return space;
  return is_spaceless ? "" : " ";
}

// Returns the tags after position `begin` and before position `end` of a text.
std::span<const InlineTag> tags_within(const HtmlPart& part, std::size_t begin, std::size_t end) {
  const auto first = std::ranges::upper_bound(part.tags, begin, {}, &InlineTag::place);
  const auto last = std::ranges::lower_bound(first, part.tags.end(), end, {}, &InlineTag::place);
  return {first, last};
}

// Splits a text into pieces to translate. Sentences that do not fit are cut. A sentence with more than kMaxTags tags
// is cut at its tags, because attention to words cannot place that many.
std::vector<Piece> pieces_of(const HtmlPart& part, Split split, const std::string& language,
                             const std::function<bool(const std::string&)>& fits) {
  constexpr std::size_t kMaxTags = 32;
  std::vector<Piece> pieces;
  std::size_t begin = 0;
  const auto add = [&](Sentence sentence, bool is_cut) {
    const std::size_t size = sentence.text.size() + sentence.space.size();
    pieces.push_back({.sentence = std::move(sentence), .begin = begin, .is_cut = is_cut});
    begin += size;
  };
  const auto add_until = [&](std::size_t end) {
    const std::string text = part.content.substr(begin, end - begin);
    for (Sentence& between : split_text(text, Split::never, language)) add(std::move(between), true);
  };
  for (Sentence& sentence : cut_to_fit(split_text(part.content, split, language), fits)) {
    const std::size_t end = begin + sentence.text.size();
    const std::span<const InlineTag> tags = tags_within(part, begin, end);
    if (tags.size() <= kMaxTags) {
      add(std::move(sentence), false);
      continue;
    }
    for (const InlineTag& tag : tags) add_until(tag.place);
    add_until(end);
    pieces.back().sentence.space += sentence.space;
    pieces.back().is_cut = false;
    begin += sentence.space.size();
  }
  return pieces;
}

// Returns a translated text, built from the k-th hypothesis of each piece.
std::string written(const Document& document, const TranslateOptions& options, std::size_t k) {
  const bool is_spaceless = is_written_without_spaces(options.target);
  std::string all;
  for (const auto& [part, pieces] : document.stretches) {
    if (!part.is_text) all += part.content;
    std::size_t tag = 0;
    const auto add_tags = [&, &tags = part.tags](std::size_t place) {
      while (tag < tags.size() && tags[tag].place <= place) all += tags[tag++].markup;
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      add_tags(piece.begin);
      if (piece.batch != nullptr) {
        // The last hypothesis if there are fewer than k + 1.
        const auto& hypotheses = piece.batch->results[piece.result].hypotheses;
        const std::string& text = hypotheses[std::min(k, hypotheses.size() - 1)].text;
        const bool has_tags = !piece.batch->tagged.empty();
        all += options.is_html && !has_tags ? escape_html(text) : text;
        if (has_tags) tag += piece.batch->tagged[piece.result].tags.size();
        add_tags(piece.begin + piece.sentence.text.size());
      }
      all += space_behind(piece, i + 1 == pieces.size(), is_spaceless);
    }
    add_tags(part.content.size());
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
  if (!options.is_html) return add({.is_text = true, .content = text}, document);
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
  stretch.pieces = pieces_of(stretch.part, split, document.translation.source,
                             [&](const std::string& sentence) { return fits(model, sentence, languages); });
  sentences += stretch.pieces.size();
  if (sentences > call.limits().sentences) {
    throw HttpError(413, fmt::format("more than {} sentences (--max-sentences)", call.limits().sentences));
  }
  for (Piece& piece : stretch.pieces) {
    const std::string& sentence = piece.sentence.text;
    if (sentence.empty()) continue;
    const std::span<const InlineTag> tags = tags_within(stretch.part, piece.begin, piece.begin + sentence.size());
    const BatchKey key{document.model, document.translation.source, !tags.empty()};
    const auto [place, is_new] = batches.try_emplace(key, Batch{.options = document.options});
    Batch& batch = place->second;
    if (!tags.empty()) {
      if (is_new) batch.options.attention = alignment_selection(model);
      batch.tagged.push_back({.begin = piece.begin,
                              .tags = tags,
                              .first_tag = static_cast<std::size_t>(tags.data() - stretch.part.tags.data())});
    }
    piece.batch = &batch;
    piece.result = batch.inputs.size();
    batch.inputs.push_back({.source = sentence});
  }
}

// Returns a function that puts the tags into each result as soon as it is finished, so that attention is not kept for
// all results at once. Returns an empty function for a batch without tags.
Call::OnResult place_tags(const Batch& batch, const Model& model, bool is_spaceless) {
  if (batch.tagged.empty()) return {};
  return [&batch, &model, is_spaceless](std::size_t input, GenerateResult& result) {
    const auto& text = std::get<std::string>(batch.inputs[input].source);
    write_tags(model, text, batch.tagged[input], batch.options, is_spaceless, result);
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
    const Call::OnResult on_result = place_tags(batch, key.model->model(), is_spaceless);
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
