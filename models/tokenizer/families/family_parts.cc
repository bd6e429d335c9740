#include "encdec/models/tokenizer/families/family_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "encdec/engine/base/error.h"
#include "encdec/models/tokenizer/pipeline/bpe.h"

namespace encdec::family_parts {
namespace {

// A token that has a name is special, whatever else is said of it.
AddedToken pipeline_token(AddedToken token, const TokenizerSettings& settings) {
  const auto is_same = [&](const auto& named) { return named.second == token.content; };
  token.special = token.special || std::any_of(settings.named_tokens.begin(), settings.named_tokens.end(), is_same);
  return token;
}

std::vector<PipelineTokenizer::Language> known_languages(const TokenIds& ids, const std::vector<std::string>& names) {
  std::vector<PipelineTokenizer::Language> known;
  for (const std::string& name : names) {
    if (const auto id = ids.find(name)) known.push_back({name, *id});
  }
  std::stable_sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.token < b.token; });
  return known;
}

}  // namespace

void apply_settings(const PipelineSource& source, Parts& parts) {
  const TokenizerSettings& settings = source.settings;
  std::set<std::string> known;
  for (const auto& token : parts.added_tokens) known.insert(token.content);
  for (const auto& [id, token] : settings.added_tokens) {
    parts.added_tokens.push_back(pipeline_token(token, settings));
    known.insert(token.content);
  }
  for (const std::string& content : settings.special_tokens) {
    if (known.contains(content)) continue;
    const auto described = settings.described_tokens.find(content);
    const AddedToken plain{.content = content, .special = true};
    parts.added_tokens.push_back(
        pipeline_token(described != settings.described_tokens.end() ? described->second : plain, settings));
  }
  parts.split_special_tokens = settings.split_special_tokens;
  // transformers does not clean up after BPE, which would lose spaces of the text.
  const bool always =
      source.config.boolean("clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output").value_or(false);
  parts.clean_up_spaces = settings.clean_up_spaces && (parts.model->kind() != "BPE" || always);
}

TokenIds::TokenIds(const PipelineSource& source, const Parts& parts)
    : source_(source), parts_(parts), added_(parts.added_tokens, *parts.model, parts.normalizer, source.name) {}

std::optional<std::int32_t> TokenIds::find(std::string_view token) const {
  const auto added = added_.id(token);
  return added ? added : parts_.model->id(token);
}

std::int32_t TokenIds::named(std::string_view key) const {
  const std::string token = source_.token(key);
  if (token.empty()) throw TokenizerError(fmt::format("{}: there is no {}", source_.name, key));
  if (const auto id = find(token)) return *id;
  throw TokenizerError(fmt::format("{}: the vocabulary has no {} '{}'", source_.name, key, printable(token)));
}

std::unique_ptr<const PieceModel> unigram(PipelineSource& source, std::int32_t unknown_id) {
  return std::make_unique<Unigram>(Unigram::Options{.pieces = std::move(source.pieces), .unknown_id = unknown_id},
                                   source.name);
}

std::unique_ptr<const PieceModel> byte_pairs(PipelineSource& source, std::optional<std::string> unknown_token) {
  const bool fuses = unknown_token.has_value();
  return std::make_unique<Bpe>(Bpe::Options{.vocabulary = std::move(source.vocabulary),
                                            .merges = std::move(source.merges),
                                            .unknown_token = std::move(unknown_token),
                                            .fuse_unknown = fuses},
                               source.name);
}

Normalizer sentencepiece_normalizer(const PipelineSource& source, Spaces spaces) {
  std::vector<Normalizer> steps;
  if (source.normalization_table) steps.push_back(normalizers::precompiled(*source.normalization_table));
  if (spaces == Spaces::joined) steps.push_back(normalizers::replace(regex_pattern(" {2,}", source.name), " "));
  return steps.empty() ? Normalizer() : normalizers::sequence(std::move(steps));
}

void use_metaspace(Cut cut, pre_tokenizers::PrependScheme prepend, Parts& parts) {
  using namespace pre_tokenizers;
  parts.pre_tokenizer = metaspace({.prepend = prepend});
  if (cut == Cut::words_first) parts.pre_tokenizer = sequence({whitespace_split(), parts.pre_tokenizer});
  parts.decoder = piece_decoders::metaspace({.keep_first = prepend == PrependScheme::never});
}

void use_languages(const PipelineSource& source, const Languages& languages, Parts& parts) {
  parts.languages = known_languages(TokenIds(source, parts), languages.names);
  parts.language_affixes = [languages, known = parts.languages, file = source.name](const EncodeOptions& options,
                                                                                    TextSide side) {
    const std::string& from = options.source_language.empty() ? languages.source : options.source_language;
    const std::string& to = options.target_language.empty() ? languages.target : options.target_language;
    const std::string& name = side == TextSide::source || to.empty() ? from : to;
    const auto language = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.name == name; });
    if (language == known.end()) {
      std::vector<std::string> names;
      for (const auto& one : known) names.push_back(one.name);
      throw InputError(
          fmt::format("{}: language '{}' is not known, expected one of {}", file, printable(name), shortened(names)));
    }
    Affixes affixes{languages.before, languages.after};
    (languages.language_first ? affixes.before : affixes.after).push_back(language->token);
    return affixes;
  };
}

std::string shortened(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> first;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) first.push_back(printable(names[i], 20));
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  return names.size() <= kMost ? text : fmt::format("{} and {} more", text, names.size() - kMost);
}

}  // namespace encdec::family_parts
