#include "encdec/models/families/name_table.h"

#include <algorithm>
#include <optional>
#include <string>

namespace encdec {
namespace {

// The parts of a name that matched % and * in a canonical pattern, and the rest of the name.
struct Match {
  std::string_view side;
  std::string_view layer;
  std::string_view rest;
};

// Matches a canonical pattern with the start of a name. The match must end before a dot or at the end of the name.
std::optional<Match> match(std::string_view pattern, std::string_view name) {
  Match result;
  if (pattern.starts_with('%')) {
    if (!name.starts_with("encoder") && !name.starts_with("decoder")) return std::nullopt;
    result.side = name.substr(0, std::string_view("encoder").size());
    name.remove_prefix(result.side.size());
    pattern.remove_prefix(1);
  }
  // "*" matches the text up to the next dot.
  const std::size_t star = pattern.find('*');
  if (star != std::string_view::npos) {
    if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
    const std::size_t end = std::min(name.find('.', star), name.size());
    result.layer = name.substr(star, end - star);
    name.remove_prefix(end);
    pattern.remove_prefix(star + 1);
  }
  if (!name.starts_with(pattern)) return std::nullopt;
  result.rest = name.substr(pattern.size());
  if (!result.rest.empty() && !result.rest.starts_with('.')) return std::nullopt;
  return result;
}

// Replaces "%" by the side, "*" by the layer number, and "*+1" by the layer number plus one.
void fill(std::string& stored, const Match& found) {
  if (const auto side = stored.find('%'); side != std::string::npos) stored.replace(side, 1, found.side);
  const auto star = stored.find('*');
  if (star == std::string::npos) return;
  if (stored.compare(star, 3, "*+1") == 0) {
    stored.replace(star, 3, std::to_string(std::stoi(std::string(found.layer)) + 1));
  } else {
    stored.replace(star, 1, found.layer);
  }
}

}  // namespace

StoredName transposed(StoredName name) {
  name.transposed = true;
  return name;
}

StoredName part_of(StoredName name, int part, int parts) {
  name.part = part;
  name.parts = parts;
  return name;
}

WeightNames names_by_table(std::vector<NamePattern> table, const std::vector<NamePattern>& more) {
  table.insert(table.end(), more.begin(), more.end());
  return [table = std::move(table)](const std::string& canonical) {
    std::vector<StoredName> names;
    for (const NamePattern& row : table) {
      const auto matched = match(row.canonical, canonical);
      if (!matched) continue;
      for (StoredName stored : row.stored) {
        fill(stored.name, *matched);
        stored.name += matched->rest;
        names.push_back(std::move(stored));
      }
      break;
    }
    return names;
  };
}

bool has_prefix(const WeightStore& weights, std::string_view prefix) {
  const auto first = weights.tensors().lower_bound(prefix);
  return first != weights.tensors().end() && first->first.starts_with(prefix);
}

WeightNames without_missing_prefix(std::string_view prefix, const WeightStore& weights, WeightNames names) {
  if (has_prefix(weights, prefix)) return names;
  return [prefix = std::string(prefix), names = std::move(names)](const std::string& canonical) {
    std::vector<StoredName> candidates = names(canonical);
    for (StoredName& stored : candidates) {
      if (stored.name.starts_with(prefix)) stored.name.erase(0, prefix.size());
    }
    return candidates;
  };
}

WeightNames with_gamma_and_beta(WeightNames names) {
  return [names = std::move(names)](const std::string& canonical) {
    std::vector<StoredName> candidates = names(canonical);
    const std::size_t count = candidates.size();
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [now, old] :
           {std::pair("LayerNorm.weight", "LayerNorm.gamma"), {"LayerNorm.bias", "LayerNorm.beta"}}) {
        if (!candidates[i].name.ends_with(now)) continue;
        StoredName older = candidates[i];
        older.name.replace(older.name.size() - std::string_view(now).size(), std::string::npos, old);
        candidates.push_back(std::move(older));
      }
    }
    return candidates;
  };
}

std::vector<NamePattern> with_bart_layers(std::vector<NamePattern> table) {
  const std::initializer_list<NamePattern> layers = {
      {"%.positional_encoding", {"model.%.embed_positions"}},
      {"%.norm", {"model.%.layer_norm"}},
      {"%.*.self_attention.query", {"model.%.layers.*.self_attn.q_proj"}},
      {"%.*.self_attention.key", {"model.%.layers.*.self_attn.k_proj"}},
      {"%.*.self_attention.value", {"model.%.layers.*.self_attn.v_proj"}},
      {"%.*.self_attention.output", {"model.%.layers.*.self_attn.out_proj"}},
      {"%.*.self_attention_norm", {"model.%.layers.*.self_attn_layer_norm"}},
      {"%.*.cross_attention.query", {"model.%.layers.*.encoder_attn.q_proj"}},
      {"%.*.cross_attention.key", {"model.%.layers.*.encoder_attn.k_proj"}},
      {"%.*.cross_attention.value", {"model.%.layers.*.encoder_attn.v_proj"}},
      {"%.*.cross_attention.output", {"model.%.layers.*.encoder_attn.out_proj"}},
      {"%.*.cross_attention_norm", {"model.%.layers.*.encoder_attn_layer_norm"}},
      {"%.*.feed_forward.expand", {"model.%.layers.*.fc1"}},
      {"%.*.feed_forward.project", {"model.%.layers.*.fc2"}},
      {"%.*.feed_forward_norm", {"model.%.layers.*.final_layer_norm"}},
  };
  table.insert(table.end(), layers);
  return table;
}

}  // namespace encdec
