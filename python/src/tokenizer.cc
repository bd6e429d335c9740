#include "encdec/models/tokenizer/base/tokenizer.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.h"
#include "compute.h"
#include "encdec/engine/base/error.h"
#include "encdec/models/generation/text_stream.h"
#include "encdec/models/model.h"
#include "inputs.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// A model's tokenizer. Keeps the model alive.
class ModelTokenizer {
 public:
  explicit ModelTokenizer(Model model) : model_(std::move(model)) {}

  const Tokenizer& operator*() const { return *model_.tokenizer(); }
  const Tokenizer* operator->() const { return model_.tokenizer(); }
  const Model& model() const { return model_; }

 private:
  Model model_;
};

std::vector<std::int32_t> encode(const ModelTokenizer& tokenizer, nb::object text, std::string source_lang,
                                 std::string target_lang, std::size_t max_length, bool is_target) {
  const std::string utf8 = text_from(text, "text");
  const EncodeOptions options{
      .source_language = std::move(source_lang), .target_language = std::move(target_lang), .max_length = max_length};
  const EngineCall call;
  return is_target ? tokenizer->encode_target(utf8, options) : tokenizer->encode(utf8, options);
}

nb::object decode(const ModelTokenizer& tokenizer, nb::object ids) {
  const TokenIds tokens = ids_from(ids, "ids");
  return text_of(tokenizer->decode(tokens));
}

nb::object piece(const ModelTokenizer& tokenizer, nb::object id, bool is_target) {
  return text_of(tokenizer->piece(token_from(id, "id"), is_target ? TextSide::target : TextSide::source));
}

// Returns the vocabulary size of the model's side, which may exceed the tokenizer's number of entries.
Dim vocabulary_size(const ModelTokenizer& tokenizer, bool is_target) {
  const TransformerConfig& config = tokenizer.model().config();
  return is_target && config.has_decoder() ? config.decoder.vocabulary : config.input_stack().vocabulary;
}

// A TextStream that keeps its tokenizer alive.
class ModelTextStream {
 public:
  explicit ModelTextStream(const ModelTokenizer& tokenizer) : tokenizer_(tokenizer), stream_(*tokenizer_) {}

  nb::object push(nb::object ids) { return text_of(stream_.push(ids_from(ids, "ids"))); }
  nb::object finish() { return text_of(stream_.finish()); }

 private:
  ModelTokenizer tokenizer_;
  TextStream stream_;
};

}  // namespace

void bind_tokenizer(nb::module_& module) {
  nb::class_<ModelTokenizer>(module, "Tokenizer")
      .def(
          "__init__",
          [](ModelTokenizer* self, const Model& owner) {
            if (owner.tokenizer() == nullptr) throw TokenizerError(owner.parts().origin + ": no tokenizer files");
            new (self) ModelTokenizer(owner);
          },
          nb::arg("model"))
      .def("encode", &encode, nb::arg("text").none(), nb::arg("source_lang"), nb::arg("target_lang"),
           nb::arg("max_length"), nb::arg("is_target"))
      .def("decode", &decode, nb::arg("ids").none())
      .def("piece", &piece, nb::arg("id").none(), nb::arg("is_target"))
      .def("vocabulary_size", &vocabulary_size, nb::arg("is_target"))
      .def(
          "token_id", [](const ModelTokenizer& self, const std::string& token) { return self->token_id(token); },
          nb::arg("token"))
      .def(
          "language_token",
          [](const ModelTokenizer& self, const std::string& language) { return self->language_token(language); },
          nb::arg("language"))
      .def_prop_ro("languages", [](const ModelTokenizer& self) { return self->languages(); })
      .def_prop_ro("kind", [](const ModelTokenizer& self) { return self->kind(); });
  nb::class_<ModelTextStream>(module, "TextStream")
      .def(nb::init<const ModelTokenizer&>(), nb::arg("tokenizer"))
      .def("push", &ModelTextStream::push, nb::arg("ids"))
      .def("finish", &ModelTextStream::finish);
}

}  // namespace encdec::python
