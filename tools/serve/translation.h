#pragma once

#include <string>
#include <vector>

#include "serve/call.h"
#include "serve/text/sentences.h"

namespace encdec::serve {

// What protocols of translation ask for.
struct TranslateOptions {
  std::string source = {};  // a code in any spelling; empty to find out
  std::string target = {};
  bool is_html = false;
  int alternatives = 0;            // beside the best
  Split split = Split::sentences;  // lines, where the model was trained on more than sentences
};

// A text in another language.
struct Translation {
  std::string text;
  std::vector<std::string> alternatives;
  std::string source = {};    // canonical
  double confidence = 100.0;  // of that, where it was found out
};

// Temporaries of aggregates must not stand in a co_await: gcc 12 destroys them twice. Translates texts, sentence by
// sentence, all as one batch. Throws HttpError, 400, for languages that no model has.
asio::awaitable<std::vector<Translation>> translate(Call& call, std::vector<std::string> texts,
                                                    TranslateOptions options);

}  // namespace encdec::serve
