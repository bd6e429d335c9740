#pragma once

#include <encdec/models/session/attention_map.h>

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace encdec::cli {

// Format of an attention file, chosen by the ending of its name.
enum class AttentionFormat : std::uint8_t {
  terminal,   // empty path
  svg,        // .svg: a picture
  json,       // .json, .jsonl
  unknown,    // .html, .htm, .png: pictures in a format that is not written
  alignment,  // .align, .txt and any other
};
AttentionFormat attention_format(const std::string& path);

// The layers and heads that the user chose; unset if not given.
struct TypedAttention {
  std::optional<AttentionChoice> layers;
  std::optional<AttentionChoice> heads;

  // Default for options that are not given.
  enum class Otherwise : std::uint8_t {
    all,              // each head of each layer
    last_layer_mean,  // the mean of the last layer's heads
  };
  // Returns the selection, for all kinds of attention.
  AttentionSelection selection(Otherwise otherwise) const;
};

// Adds two options with the names `layer` and `head`, such as "--layer". Their values are a number from 0, a negative
// number that counts from the end, mean, or all.
void add_attention_choices(CLI::App& command, const std::string& layer, const std::string& head, TypedAttention& typed);

}  // namespace encdec::cli
