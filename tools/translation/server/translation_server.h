#pragma once

#include <encdec/translation/routes.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "server/call.h"
#include "translation/server/downloads.h"

namespace encdec::serve {

// What a server knows about translation.
struct TranslationServer : ServerSlice {
  std::size_t max_sentences = 16'384;  // in the texts of one request
  std::size_t max_alternatives = 8;    // further translations of one text
  // All models, as TranslationJob takes them, and the ways between languages, by ServedModel::number().
  std::vector<Model> translators = {};
  TranslationRoutes ways = {};
  std::optional<Downloads> downloads = {};  // set by load()
};

std::span<const Route> libretranslate_routes();
std::span<const Route> deepl_routes();

}  // namespace encdec::serve
