// DeepL's protocol: glossaries of version 2, with one dictionary, and of version 3 (github.com/DeepLcom/openapi).
#include <encdec/models/translation/text/language.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>

#include "serve/glossaries.h"
#include "serve/parameters.h"
#include "serve/routes.h"

namespace encdec::serve {
namespace deepl_glossaries {

using Json = nlohmann::ordered_json;
using Stored = Glossaries::Stored;

Json dictionary_json(const Dictionary& dictionary) {
  return {{"source_lang", dictionary.source},
          {"target_lang", dictionary.target},
          {"entry_count", dictionary.terms->terms().size()}};
}

std::string time_of(const StoredGlossary& glossary) {
  constexpr std::int64_t kSecond = 1000;
  const std::tm time = fmt::gmtime(static_cast<std::time_t>(glossary.created_ms / kSecond));
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", time, glossary.created_ms % kSecond);
}

Json json_of(const StoredGlossary& glossary) {
  Json json = {{"glossary_id", glossary.id},
               {"name", glossary.name},
               {"dictionaries", Json::array()},
               {"creation_time", time_of(glossary)}};
  for (const Dictionary& dictionary : glossary.dictionaries)
    json["dictionaries"].push_back(dictionary_json(dictionary));
  return json;
}

// Returns a glossary in the form of version 2. REQUIRES: it has one dictionary.
Json json_of_pair(const StoredGlossary& glossary) {
  Json json = {{"glossary_id", glossary.id}, {"ready", true}, {"name", glossary.name}};
  json.update(dictionary_json(glossary.dictionaries.front()));
  json["creation_time"] = time_of(glossary);
  return json;
}

// Version 2 does not see glossaries with several dictionaries.
bool is_pair(const StoredGlossary& glossary) {
  return glossary.dictionaries.size() == 1;
}

std::string checked_name(std::string name) {
  constexpr std::size_t kMaxBytes = 1024;
  if (!name.empty() && name.size() <= kMaxBytes) return name;
  throw HttpError(400, fmt::format("'name' has {} bytes, expected 1 to {}", name.size(), kMaxBytes));
}

bool have_same_pair(const Dictionary& a, const Dictionary& b) {
  return a.source == b.source && a.target == b.target;
}

Dictionary read_dictionary(const Call& call, const Parameters& parameters) {
  Dictionary dictionary{.source = canonical_language(parameters.text("source_lang")),
                        .target = canonical_language(parameters.text("target_lang")),
                        .terms = nullptr};
  if (call.parts().models.routes().find(dictionary.source, dictionary.target).empty()) {
    throw HttpError(400, fmt::format("'source_lang' and 'target_lang' are '{}' and '{}', expected a pair of GET "
                                     "/v2/glossary-language-pairs",
                                     shown(dictionary.source), shown(dictionary.target)));
  }
  dictionary.terms = read_entries(parameters.text("entries"), parameters.text("entries_format", "tsv"));
  return dictionary;
}

std::vector<Dictionary> read_dictionaries(const Call& call, const JsonObject& json) {
  std::vector<Dictionary> dictionaries;
  for (const JsonObject& item : json.required_objects("dictionaries")) {
    Dictionary dictionary = read_dictionary(call, Parameters(item));
    if (std::ranges::any_of(dictionaries, [&](const auto& other) { return have_same_pair(other, dictionary); }))
      throw HttpError(400, "'dictionaries' has a pair of languages twice, expected once");
    dictionaries.push_back(std::move(dictionary));
  }
  return dictionaries;
}

// Puts a dictionary into a glossary, in place of the one with its languages.
void put(StoredGlossary& glossary, const Dictionary& dictionary) {
  std::erase_if(glossary.dictionaries, [&](const auto& other) { return have_same_pair(other, dictionary); });
  glossary.dictionaries.push_back(dictionary);
}

// Returns a dictionary with the terms that only `old` has.
Dictionary merged(Dictionary dictionary, const Dictionary* old) {
  if (old == nullptr) return dictionary;
  const auto terms = std::make_shared<Glossary>(*dictionary.terms);
  for (const auto& [source, target] : old->terms->terms()) {
    if (!terms->terms().contains(source)) terms->add(source, target);
  }
  dictionary.terms = terms;
  return dictionary;
}

const Dictionary& find_dictionary(const StoredGlossary& glossary, const Parameters& parameters) {
  const std::string source = parameters.text("source_lang"), target = parameters.text("target_lang");
  if (source.empty() || target.empty()) throw HttpError(400, "'source_lang' or 'target_lang' is missing");
  const Dictionary* dictionary = glossary.find(canonical_language(source), canonical_language(target));
  if (dictionary != nullptr) return *dictionary;
  throw HttpError(404, fmt::format("no dictionary from '{}' to '{}'", shown(source), shown(target)));
}

Stored find(Call& call) {
  return call.parts().glossaries.find(owner_of(call), call.path_word(0));
}

Stored find_pair(Call& call) {
  Stored glossary = find(call);
  if (!is_pair(*glossary)) throw HttpError(404, "a glossary with several dictionaries; see /v3/glossaries");
  return glossary;
}

asio::awaitable<void> list_pairs(Call& call) {
  const TranslationRoutes& routes = call.parts().models.routes();
  Json pairs = Json::array();
  for (const std::string& source : routes.sources()) {
    for (const std::string& target : routes.targets(source)) {
      pairs.push_back({{"source_lang", source}, {"target_lang", target}});
    }
  }
  call.respond({{"supported_languages", pairs}});
  co_return;
}

asio::awaitable<void> create_v2(Call& call) {
  const Parameters parameters(call);
  StoredGlossary glossary{.name = checked_name(parameters.text("name")), .owner = owner_of(call)};
  glossary.dictionaries.push_back(read_dictionary(call, parameters));
  call.respond(json_of_pair(*call.parts().glossaries.add(std::move(glossary))), 201);
  co_return;
}

asio::awaitable<void> create_v3(Call& call) {
  const JsonObject json = call.json();
  StoredGlossary glossary{.name = checked_name(json.required_string("name")),
                          .owner = owner_of(call),
                          .dictionaries = read_dictionaries(call, json)};
  call.respond(json_of(*call.parts().glossaries.add(std::move(glossary))), 201);
  co_return;
}

asio::awaitable<void> list_v2(Call& call) {
  Json list = Json::array();
  for (const Stored& glossary : call.parts().glossaries.list(owner_of(call))) {
    if (is_pair(*glossary)) list.push_back(json_of_pair(*glossary));
  }
  call.respond({{"glossaries", list}});
  co_return;
}

asio::awaitable<void> list_v3(Call& call) {
  Json list = Json::array();
  for (const Stored& glossary : call.parts().glossaries.list(owner_of(call))) list.push_back(json_of(*glossary));
  call.respond({{"glossaries", list}});
  co_return;
}

asio::awaitable<void> show_v2(Call& call) {
  call.respond(json_of_pair(*find_pair(call)));
  co_return;
}

asio::awaitable<void> show_v3(Call& call) {
  call.respond(json_of(*find(call)));
  co_return;
}

asio::awaitable<void> entries_v2(Call& call) {
  call.answer({.body = write_entries(*find_pair(call)->dictionaries.front().terms),
               .content_type = "text/tab-separated-values; charset=utf-8"});
  co_return;
}

asio::awaitable<void> entries_v3(Call& call) {
  const Parameters parameters(call);
  const Stored glossary = find(call);
  const Dictionary& dictionary = find_dictionary(*glossary, parameters);
  const Json json = {{"source_lang", dictionary.source},
                     {"target_lang", dictionary.target},
                     {"entries", write_entries(*dictionary.terms)},
                     {"entries_format", "tsv"}};
  call.respond({{"dictionaries", Json::array({json})}});
  co_return;
}

asio::awaitable<void> change_v3(Call& call) {
  const JsonObject json = call.json();
  const std::optional<std::string> name = json.string("name");
  std::vector<Dictionary> dictionaries;
  if (json.has("dictionaries")) dictionaries = read_dictionaries(call, json);
  if (dictionaries.size() > 1) {
    throw HttpError(400, fmt::format("'dictionaries' has {} items, expected at most 1", dictionaries.size()));
  }
  const std::function<void(StoredGlossary&)> change = [&](StoredGlossary& glossary) {
    if (name) glossary.name = checked_name(*name);
    for (const Dictionary& added : dictionaries) {
      put(glossary, merged(added, glossary.find(added.source, added.target)));
    }
  };
  call.respond(json_of(*call.parts().glossaries.change(owner_of(call), call.path_word(0), change)));
  co_return;
}

asio::awaitable<void> replace_dictionary(Call& call) {
  const Dictionary dictionary = read_dictionary(call, Parameters(call));
  const std::function<void(StoredGlossary&)> change = [&](StoredGlossary& glossary) { put(glossary, dictionary); };
  call.parts().glossaries.change(owner_of(call), call.path_word(0), change);
  call.respond(dictionary_json(dictionary));
  co_return;
}

void answer_deleted(Call& call) {
  call.answer({.status = 204, .content_type = {}});
}

asio::awaitable<void> remove_dictionary(Call& call) {
  const Parameters parameters(call);
  const std::function<void(StoredGlossary&)> change = [&](StoredGlossary& glossary) {
    const Dictionary removed = find_dictionary(glossary, parameters);
    std::erase_if(glossary.dictionaries, [&](const Dictionary& other) { return other.terms == removed.terms; });
  };
  call.parts().glossaries.change(owner_of(call), call.path_word(0), change);
  answer_deleted(call);
  co_return;
}

asio::awaitable<void> remove(Call& call) {
  call.parts().glossaries.remove(owner_of(call), call.path_word(0));
  answer_deleted(call);
  co_return;
}

constexpr std::array kRoutes = {
    Route{"GET", "/v2/glossary-language-pairs", &list_pairs, &deepl_error},
    Route{"POST", "/v2/glossaries", &create_v2, &deepl_error},
    Route{"GET", "/v2/glossaries", &list_v2, &deepl_error},
    Route{"GET", "/v2/glossaries/*/entries", &entries_v2, &deepl_error},
    Route{"GET", "/v2/glossaries/*", &show_v2, &deepl_error},
    Route{"DELETE", "/v2/glossaries/*", &remove, &deepl_error},
    Route{"POST", "/v3/glossaries", &create_v3, &deepl_error},
    Route{"GET", "/v3/glossaries", &list_v3, &deepl_error},
    Route{"GET", "/v3/glossaries/*/entries", &entries_v3, &deepl_error},
    Route{"PUT", "/v3/glossaries/*/dictionaries", &replace_dictionary, &deepl_error},
    Route{"DELETE", "/v3/glossaries/*/dictionaries", &remove_dictionary, &deepl_error},
    Route{"GET", "/v3/glossaries/*", &show_v3, &deepl_error},
    Route{"PATCH", "/v3/glossaries/*", &change_v3, &deepl_error},
    Route{"DELETE", "/v3/glossaries/*", &remove, &deepl_error},
};

}  // namespace deepl_glossaries

std::span<const Route> deepl_glossary_routes() {
  return deepl_glossaries::kRoutes;
}

}  // namespace encdec::serve
