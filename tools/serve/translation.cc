#include "translation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "text/html.h"
#include "text/language.h"

namespace encdec::serve {
namespace parts_of_translation {

// A stretch of a text: markup, or sentences and where their results stand.
struct Stretch {
  std::string markup;
  std::vector<Sentence> sentences;
  std::size_t first_result = 0;  // those of the sentences that are not empty, in order
};

// One of the texts.
struct Document {
  ServedModel* model = nullptr;
  Translation translation;
  std::vector<Stretch> stretches;
};

// What all sentences of one model and one pair of languages share.
struct Batch {
  GenerateOptions options;
  std::vector<GenerateInput> inputs;
  std::vector<GenerateResult> results;
};
using BatchKey = std::pair<ServedModel*, std::string>;  // and the source's language

// Families whose models were trained on sentences, not on paragraphs.
bool reads_sentences(const Model& model) {
  constexpr std::array<std::string_view, 3> kFamilies = {"marian", "m2m_100", "mbart"};
  return std::ranges::find(kFamilies, model.config().model_type) != kFamilies.end();
}

[[noreturn]] void refuse_target(const ModelSet& models, const std::string& target) {
  throw HttpError(400, fmt::format("'{}' is not a language that anything is translated to here, expected one of {}",
                                   target, fmt::join(models.target_languages(), ", ")));
}

[[noreturn]] void refuse_pair(const ModelSet& models, const std::string& source, const std::string& target) {
  const auto sources = models.source_languages();
  if (std::ranges::find(sources, source) == sources.end()) {
    throw HttpError(400, fmt::format("'{}' is not a language that is read here, expected one of {}", source,
                                     fmt::join(sources, ", ")));
  }
  throw HttpError(400, fmt::format("'{}' is not a language that '{}' is translated to, expected one of {}", target,
                                   source, fmt::join(models.target_languages(source), ", ")));
}

// The languages that a text may be in: the one that is asked for, or all from which somebody translates there.
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

// Whether a text is no longer than a model's positions, or its decoder's usual sentences.
bool fits(const Model& model, const std::string& text, const EncodeOptions& languages) {
  const auto limit = model.config().encoder.position_limit();
  // A token is a byte at least.
  constexpr std::size_t kUsual = 512;
  const std::size_t most = limit ? std::min<std::size_t>(static_cast<std::size_t>(*limit), kUsual) : kUsual;
  return text.size() + 8 <= most || model.tokenizer()->encode(text, languages).size() <= most;
}

// The k-th best text of a result; the best where there are fewer.
const std::string& text_of(const GenerateResult& result, std::size_t k) {
  return result.hypotheses[std::min(k, result.hypotheses.size() - 1)].text;
}

// Text and the space behind it: none where the target's sentences have none, one where the source's had none.
void append(std::string& text, const std::string& sentence, const std::string& space, bool is_last, bool is_spaceless) {
  text += sentence;
  if (is_last || sentence.empty() || (space != " " && !space.empty())) {
    text += space;
  } else if (!is_spaceless) {
    text += ' ';
  }
}

std::string written(const Document& document, const Batch& batch, const TranslateOptions& options, std::size_t k) {
  const bool is_spaceless = is_written_without_spaces(options.target);
  std::string all;
  for (const Stretch& stretch : document.stretches) {
    std::string text;
    std::size_t result = stretch.first_result;
    for (std::size_t i = 0; i < stretch.sentences.size(); ++i) {
      const Sentence& sentence = stretch.sentences[i];
      const bool is_last = i + 1 == stretch.sentences.size();
      append(text, sentence.text.empty() ? std::string() : text_of(batch.results[result++], k), sentence.space, is_last,
             is_spaceless);
    }
    all += stretch.markup;
    all += options.is_html ? escape_html(text) : text;
  }
  return all;
}

}  // namespace parts_of_translation

using namespace parts_of_translation;

asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options) {
  call.check_inputs(texts.size());
  const ModelSet& models = call.parts().models;
  options.target = canonical_language(options.target);
  if (!options.source.empty()) options.source = canonical_language(options.source);
  const std::vector<std::string> sources = sources_of(models, options);
  std::size_t sentences = 0;
  std::map<BatchKey, Batch> batches;
  std::vector<Document> documents;
  for (const std::string& text : texts) {
    Document document;
    if (options.source.empty()) {
      const DetectedLanguage detected = detect_languages(text, sources).front();
      document.translation.source = detected.language;
      document.translation.confidence = detected.confidence;
    } else {
      document.translation.source = options.source;
    }
    document.model = models.translator(document.translation.source, options.target);
    const Model& model = document.model->model();
    Batch& batch = batches[{document.model, document.translation.source}];
    batch.options = options_for(document, options);
    const EncodeOptions languages{.source_language = batch.options.source_lang,
                                  .target_language = batch.options.target_lang};
    Split split = options.split;
    if (split == Split::sentences && !reads_sentences(model)) split = Split::newlines;
    std::vector<HtmlPart> parts;
    if (options.is_html) {
      parts = parse_html(text);
    } else {
      parts.push_back({.is_text = true, .content = text});
    }
    for (const HtmlPart& part : parts) {
      Stretch stretch{
          .markup = part.is_text ? std::string() : part.content, .sentences = {}, .first_result = batch.inputs.size()};
      if (part.is_text) {
        stretch.sentences = cut_to_fit(split_text(part.content, split, document.translation.source),
                                       [&](const std::string& sentence) { return fits(model, sentence, languages); });
      }
      sentences += stretch.sentences.size();
      if (sentences > call.limits().sentences) {
        throw HttpError(413, fmt::format("more than {} sentences (--max-sentences)", call.limits().sentences));
      }
      for (const Sentence& sentence : stretch.sentences) {
        if (!sentence.text.empty()) batch.inputs.push_back({.source = sentence.text});
      }
      document.stretches.push_back(std::move(stretch));
    }
    documents.push_back(std::move(document));
  }
  for (auto& [key, batch] : batches) batch.results = co_await call.generate(*key.first, batch.inputs, batch.options);

  std::vector<Translation> translations;
  for (Document& document : documents) {
    const Batch& batch = batches.at({document.model, document.translation.source});
    Translation& translation = document.translation;
    translation.text = written(document, batch, options, 0);
    for (int k = 1; k <= options.alternatives; ++k) {
      translation.alternatives.push_back(written(document, batch, options, static_cast<std::size_t>(k)));
    }
    translations.push_back(std::move(translation));
  }
  co_return translations;
}

}  // namespace encdec::serve
