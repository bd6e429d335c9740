#include "encdec/models/model.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "attention/svg.h"
#include "bindings.h"
#include "compute.h"
#include "encdec/models/model/fingerprint.h"
#include "inputs.h"
#include "options.h"
#include "results.h"

namespace encdec::python {
namespace {

namespace nb = nanobind;

// A stream of inputs. With OnError::null, skips inputs that the model does not accept.
struct InputStream final : ListStream<GenerateInput> {
  InputStream(std::span<const GenerateInput> inputs, OnError on_error_) : ListStream(inputs), on_error(on_error_) {}
  bool skips(const Error& /*error*/) override { return on_error == OnError::null; }

  const OnError on_error;
};

// Returns a dict for each source. If `null_on_error`, returns None for a source that the model does not accept.
nb::list generate(const Model& model, nb::list sources, nb::object known, nb::dict keywords, bool null_on_error) {
  const OnError on_error = null_on_error ? OnError::null : OnError::raise;
  const GenerateOptions options = generate_options(keywords);
  const std::vector<GenerateInput> inputs = inputs_from(sources, known, on_error);
  InputStream stream(inputs, on_error);
  const auto results = compute([&] {
    model.generate_stream(stream, options);
    return std::move(stream.results);
  });
  nb::list list;
  for (const GenerateResult& result : results) list.append(to_python(result));
  return list;
}

nb::list score(const Model& model, nb::list sources, nb::list targets, nb::dict keywords) {
  const ScoreOptions options = score_options(keywords);
  const TextsOrRows source_list = texts_or_rows(sources, "source");
  const TextsOrRows target_list = texts_or_rows(targets, "target");
  if (source_list.index() != target_list.index() && sources.size() != 0 && targets.size() != 0) {
    throw nb::type_error("sources and targets: expected texts for both, or token ids for both");
  }
  const auto results = compute([&] {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&source_list)) {
      return model.score(*texts, std::get<std::vector<std::string>>(target_list), options);
    }
    return model.score_ids(std::get<1>(source_list), std::get<1>(target_list), options);
  });
  nb::list list;
  for (const ScoreResult& result : results) {
    nb::dict fields;
    fields["score"] = result.score;
    fields["token_scores"] = result.token_scores;
    list.append(fields);
  }
  return list;
}

nb::dict forward(const Model& model, nb::list sources, nb::list targets) {
  const auto source_rows = rows_from(sources, "source");
  const auto target_rows = rows_from(targets, "target");
  const ForwardResult result = compute([&] { return model.forward(source_rows, target_rows); });
  const auto array = [](const Tensor& tensor) { return tensor.empty() ? nb::none() : to_array(tensor); };
  nb::dict fields;
  fields["logits"] = array(result.logits);
  fields["encoder_last_hidden_state"] = array(result.encoder_last_hidden_state);
  return fields;
}

nb::object attention(const Model& model, nb::object source, nb::object target, nb::dict keywords) {
  const AttentionMapOptions options = attention_options(keywords);
  const bool is_text = PyUnicode_Check(source.ptr()) != 0;
  if (is_text) {
    const std::string source_text = text_from(source, "source");
    const std::string target_text = target.is_none() ? std::string() : text_from(target, "target");
    return to_python(compute([&] { return model.attention(source_text, target_text, options); }));
  }
  const TokenIds source_ids = ids_from(source, "source");
  const TokenIds target_ids = target.is_none() ? TokenIds() : ids_from(target, "target");
  return to_python(compute([&] { return model.attention_ids(source_ids, target_ids, options); }));
}

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Returns a picture of weights [queries, keys], as SVG.
std::string draw_attention(const std::string& kind, nb::list queries, nb::list keys, const Matrix& weights) {
  cli::LabelledAttention attention;
  attention.queries = texts_from(queries);
  attention.keys = texts_from(keys);
  if (weights.size() == 0 || weights.shape(0) != queries.size() || weights.shape(1) != keys.size()) {
    throw ShapeError(
        "the shape of the weights does not match the tokens, expected [rows, columns] and at least one of each");
  }
  // Draw one layer with one head, both without a name.
  attention.layers = attention.heads = {""};
  attention.map.kind = attention_kind(kind);
  attention.map.weights = Tensor::allocate({1, 1, static_cast<Dim>(queries.size()), static_cast<Dim>(keys.size())});
  std::copy_n(weights.data(), weights.size(), attention.map.weights.data<float>());
  return cli::draw_svg("", {&attention, 1});
}

nb::dict to_dict(const StackConfig& stack) {
  nb::dict dict;
  dict["vocabulary"] = stack.vocabulary;
  dict["layers"] = stack.layers;
  dict["heads"] = stack.attention.heads;
  dict["hidden_dim"] = stack.hidden_dim;
  dict["positions"] = stack.position_limit() ? nb::cast(*stack.position_limit()) : nb::none();
  return dict;
}

nb::dict to_dict(const TransformerConfig& config) {
  nb::dict dict;
  dict["model_type"] = config.model_type;
  dict["architecture"] = std::string(to_string(config.architecture));
  dict["model_dim"] = config.model_dim();
  dict["encoder"] = config.has_encoder() ? nb::object(to_dict(config.encoder)) : nb::none();
  dict["decoder"] = config.has_decoder() ? nb::object(to_dict(config.decoder)) : nb::none();
  dict["pad_token"] = config.pad_token ? nb::cast(*config.pad_token) : nb::none();
  dict["decoder_start_token"] = config.decoder_start_token ? nb::cast(*config.decoder_start_token) : nb::none();
  return dict;
}

std::vector<std::string> notes_of(const Model& model) {
  std::vector<std::string> notes = model.notes().lines;
  for (const std::string& note : {model.notes().precision, model.notes().weights}) {
    if (!note.empty()) notes.push_back(note);
  }
  return notes;
}

// Loads a model. `path` is bytes, because the name of a folder need not be valid UTF-8.
Model load(nb::bytes path, nb::dict keywords) {
  const std::filesystem::path folder(plain(path));
  const LoadOptions options = load_options(keywords);
  return compute([&] { return Model::load(folder, options); });
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def_static("load", &load, nb::arg("path"), nb::arg("options"))
      .def("generate", &generate, nb::arg("sources"), nb::arg("known").none(), nb::arg("options"),
           nb::arg("null_on_error"))
      .def("score", &score, nb::arg("sources"), nb::arg("targets"), nb::arg("options"))
      .def("forward", &forward, nb::arg("sources"), nb::arg("targets"))
      .def("attention", &attention, nb::arg("source"), nb::arg("target").none(), nb::arg("options"))
      .def("content",
           [](const Model& model) {
             return to_string(compute([&] { return content_of(*model.checkpoint().weights); }));
           })
      .def("fingerprint", [](const Model& model) { return compute([&] { return model.fingerprint(); }); })
      .def_prop_ro("reads_audio", [](const Model& model) { return model.config().source_kind() == SourceKind::frames; })
      .def_prop_ro("has_tokenizer", [](const Model& model) { return model.tokenizer() != nullptr; })
      .def_prop_ro("backend", [](const Model& model) { return model.backend_of(model.precision()); })
      .def_prop_ro("precision", [](const Model& model) { return std::string(to_string(model.precision())); })
      .def_prop_ro("notes", &notes_of)
      .def_prop_ro("config", [](const Model& model) { return to_dict(model.config()); })
      .def_prop_ro("generation_config", [](const Model& model) { return to_dict(model.generation_config()); });
  module.def("draw_attention", &draw_attention, nb::arg("kind"), nb::arg("queries"), nb::arg("keys"),
             nb::arg("weights"));
}

}  // namespace encdec::python
