#pragma once

#include <encdec/models/translation/text/sentences.h>

#include <string>
#include <vector>

#include "serve/call.h"

namespace encdec::serve {

// The options of a request for translation.
struct TranslateOptions {
  std::string source = {};  // language code in any spelling; empty to detect the language
  std::string target = {};  // language code in any spelling
  bool is_html = false;
  int alternatives = 0;            // number of translations beside the best one
  Split split = Split::sentences;  // sentences become newlines if the model was trained on longer texts
};

// The translation of one text.
struct Translation {
  std::string text;
  std::vector<std::string> alternatives;
  std::string source = {};    // canonical code of the source language
  double confidence = 100.0;  // confidence in a detected source language, in percent
};

// Translates texts sentence by sentence. Sentences of all texts with the same model and languages form one request of
// the queue. Throws HttpError, 400, for languages that no model has. `options` must be a variable: GCC 12 destroys a
// temporary aggregate in a co_await expression twice.
asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options);

}  // namespace encdec::serve
