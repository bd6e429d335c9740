#pragma once

#include <encdec/models/model.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "attention/labelled_attention.h"
#include "command/output_file.h"

namespace encdec::cli {

// Format of an attention file, chosen by its extension.
enum class AttentionFormat : std::uint8_t {
  terminal,   // empty path
  svg,        // .svg: a picture
  json,       // .json, .jsonl
  unknown,    // .html, .htm, .png: pictures in formats that are not supported
  alignment,  // any other extension, such as .align or .txt
};
AttentionFormat attention_format(const std::string& path);

// The layers and heads that the user chose.
struct TypedAttention {
  std::optional<AttentionChoice> layers;
  std::optional<AttentionChoice> heads;

  // Replaces unset members.
  enum class Otherwise : std::uint8_t {
    all,              // each head of each layer
    last_layer_mean,  // the mean of the last layer's heads
  };
  // Returns the selection of layers and heads, for all kinds of attention.
  AttentionSelection selection(Otherwise otherwise) const;
};

// Adds two options named `layer` and `head`. A value is "mean", "all", or a number; if negative, counted from the end.
void add_attention_choices(CLI::App& command, const std::string& layer, const std::string& head, TypedAttention& typed);

// The file of `generate --attention`: one line for each input. Its extension chooses the format:
//   .json, .jsonl  {"hypotheses": [{"alignment": "0-0 1-2", ...}]}; see also json_members()
//   any other      hard alignment of the best hypothesis, without the end token; see hard_alignment()
// A hypothesis without tokens is left out of the JSON; in other files its line is empty.
// Order of calls: write* commit
class AttentionFile {
 public:
  // REQUIRES: `model` outlives this object.
  AttentionFile(const std::string& path, const TypedAttention& typed, const Model& model);

  // Returns the attention that generate() must compute.
  const AttentionSelection& selection() const { return selection_; }

  // Writes the result of the next input.
  void write(const GenerateResult& result);
  void commit() { output_.commit(); }

 private:
  AttentionFormat format_;
  AttentionSelection selection_;
  OutputFile output_;
  const Model& model_;
};

}  // namespace encdec::cli
