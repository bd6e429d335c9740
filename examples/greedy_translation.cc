// Translates one text greedily, token by token, as Model::generate() does for one source.
//
//     greedy_translation [MODEL [TEXT]]
//
// MODEL is the folder of an encoder-decoder, by default the bundled model english-pronunciation.
// The default of TEXT is "photography". Prints the text of the likeliest tokens, and whether Model::generate() returns
// the same text.
#include <encdec/engine/base/error.h>
#include <encdec/models/model/model.h>
#include <encdec/models/session/session.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <string>

namespace {

using namespace encdec;

std::string translate(const Model& model, const std::string& text) {
  if (model.tokenizer() == nullptr || !model.config().has_encoder() || !model.config().has_decoder()) {
    throw ConfigError(model.config().model_type + ", expected an encoder-decoder with tokenizer files");
  }
  const Tokenizer& tokenizer = *model.tokenizer();
  const GenerateOptions& settings = model.generation_config();
  Session session(model.network(), std::make_shared<ThreadTeam>(1));

  // The encoder reads the source once, with the end token that encode() appends. The session keeps
  // the keys and values that the decoder's cross-attention reads at every step.
  const TokenIds source_ids = tokenizer.encode(text);
  const int source = session.encode(std::span(&source_ids, 1)).sources.front();

  // The decoder reads one token at a time. The session keeps the keys and values of earlier tokens.
  const int target = session.open_target(source);
  TokenIds tokens = {settings.decoder_start_token.value()};
  bool has_ended = false;
  while (!has_ended && tokens.size() < 256) {
    const Session::TargetTokens last{.target = target, .tokens = std::span(tokens).last(1)};
    const Tensor logits = session.decode(std::span(&last, 1));  // [1, V]
    const float* first = logits.row(0);
    tokens.push_back(static_cast<std::int32_t>(std::max_element(first, first + logits.width()) - first));
    has_ended = std::ranges::find(*settings.eos_tokens, tokens.back()) != settings.eos_tokens->end();
  }
  session.close_target(target);
  session.close_source(source);
  return tokenizer.decode(std::span(tokens).subspan(1));  // without the start token
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Model model = Model::load(argc > 1 ? argv[1] : ENCDEC_EXAMPLE_INPUT);
    const std::string source = argc > 2 ? argv[2] : "photography";
    const std::string text = translate(model, source);
    const std::string generated = model.generate({source}, {.num_beams = 1}).front().hypotheses.front().text;
    fmt::print("{}: {}\nModel::generate() makes {}\n", source, text, text == generated ? "the same" : generated);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "greedy_translation: %s\n", error.what());
    return 1;
  }
  return 0;
}
