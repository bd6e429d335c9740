#include "encdec/models/tokenizer/base/added_tokens.h"

#include <algorithm>
#include <utility>

#include "encdec/engine/base/cancellation.h"

namespace encdec {
namespace {

// Returns the offset after the character at `position`, or `position` itself at the end of the text.
std::size_t after(std::string_view text, std::size_t position) {
  return position < text.size() ? position + first_character(text.substr(position)).bytes : position;
}

}  // namespace

void WordTrie::add(std::string_view word) {
  if (word.empty()) return;
  std::uint32_t node = 0;
  for (const auto [character, offset] : code_points(word)) {
    const auto [entry, is_new] = nodes_[node].next.emplace(character, static_cast<std::uint32_t>(nodes_.size()));
    node = entry->second;
    if (is_new) nodes_.emplace_back();
  }
  nodes_[node].is_word = true;
}

std::uint32_t WordTrie::step(std::uint32_t node, std::string_view text, std::size_t position) const {
  if (position >= text.size()) return 0;
  const auto found = nodes_[node].next.find(first_character(text.substr(position)).value);
  return found != nodes_[node].next.end() ? found->second : 0;
}

// Returns the word to split off, after `matches[whole]` has ended a word just before character `current`. If an earlier
// match leads to a word, returns the longest word of the first such match, else the longest word of `matches[whole]`.
// Like transformers, continues an earlier match after `current`, even if the match did not consume that character.
WordTrie::Range WordTrie::longest(std::string_view text, const std::vector<PartialMatch>& matches, std::size_t whole,
                                  std::size_t current) const {
  // Returns the end of the longest word that continues `node` from byte `next`; 0 if there is none.
  const auto last_end = [&](std::uint32_t node, std::size_t next) {
    std::size_t end = 0;
    for (; node != 0; next = after(text, next)) {
      if (nodes_[node].is_word) end = next;
      node = step(node, text, next);
    }
    return end;
  };
  for (std::size_t i = 0; i < whole; ++i) {
    if (const std::size_t end = last_end(matches[i].node, after(text, current)); end != 0)
      return {matches[i].start, end};
  }
  return {matches[whole].start, last_end(matches[whole].node, current)};
}

std::vector<std::string_view> WordTrie::split(std::string_view text) const {
  std::vector<std::string_view> parts;
  std::size_t done = 0;  // end of the last part
  const auto cut_at = [&](std::size_t end) {
    if (end <= done) return;
    parts.push_back(text.substr(done, end - done));
    done = end;
  };
  std::vector<PartialMatch> matches;  // sorted by `start`
  std::vector<PartialMatch> kept;     // the matches that continue at `current`
  for (std::size_t current = 0; current < text.size(); current = after(text, current)) {
    poll_cancelled();
    if (current < done) continue;  // inside a word that was split off
    // Advance all matches by one character. The first complete match splits the text.
    kept.clear();
    bool found = false;
    for (std::size_t i = 0; i < matches.size() && !found; ++i) {
      if (nodes_[matches[i].node].is_word) {
        const Range word = longest(text, matches, i, current);
        cut_at(word.start);
        cut_at(word.end);
        found = true;
      } else if (const std::uint32_t next = step(matches[i].node, text, current); next != 0) {
        matches[i].node = next;
        kept.push_back(matches[i]);
      }
    }
    if (found) kept.clear();
    // A new match may begin here, unless the word just found includes this character.
    if (const std::uint32_t first = step(0, text, current); first != 0 && current >= done) {
      kept.push_back({current, first});
    }
    std::swap(matches, kept);
  }
  // A match that is complete at the end of the text also counts.
  const auto last = std::find_if(matches.begin(), matches.end(),
                                 [&](const PartialMatch& match) { return nodes_[match.node].is_word; });
  if (last != matches.end()) cut_at(last->start);
  cut_at(text.size());
  return parts;
}

AddedTokens::AddedTokens(std::map<std::int32_t, AddedToken> tokens, const std::vector<std::string>& special_tokens,
                         const Vocabulary& vocabulary)
    : tokens_(std::move(tokens)) {
  for (const auto& [id, token] : tokens_) ids_[token.content] = id;
  // New ids start after the ids of the vocabulary and of the added tokens that the vocabulary lacks.
  auto next_id = static_cast<std::int32_t>(vocabulary.size());
  for (const auto& [token, id] : ids_) next_id += vocabulary.id(token) ? 0 : 1;
  for (const std::string& token : special_tokens) {
    if (token.empty()) continue;
    if (!ids_.contains(token)) {
      const auto known = vocabulary.id(token);
      const std::int32_t id = known ? *known : next_id++;
      tokens_[id] = {.content = token};
      ids_[token] = id;
    }
    special_.insert(token);
    special_ids_.insert(ids_[token]);
  }
  for (const auto& [id, token] : tokens_) trie_.add(token.content);
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text) const {
  std::vector<std::string> parts;
  for (const std::string_view part : trie_.split(text)) parts.emplace_back(part);
  // Apply each token's options to the texts on both sides of the token.
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto found = ids_.find(parts[i]);
    if (found == ids_.end()) continue;
    const AddedToken& token = tokens_.at(found->second);
    const std::string left = i > 0 ? parts[i - 1] : "";
    const std::string right = i + 1 < parts.size() ? parts[i + 1] : "";
    if (token.strip_right && !right.empty()) parts[i + 1] = strip_left(right);
    if (token.strip_left && !left.empty()) parts[i - 1] = strip_right(left);
    if (!token.single_word) continue;
    // If a single_word token touches another word, treat the token as text: join it to that word.
    if (!left.empty() && left.back() != ' ') {
      parts[i - 1] += std::exchange(parts[i], "");
    } else if (!right.empty() && right.front() != ' ') {
      parts[i + 1].insert(0, std::exchange(parts[i], ""));
    }
  }
  std::vector<Part> result;
  for (std::string& part : parts) {
    if (part.empty()) continue;
    const bool is_token = ids_.contains(part);
    result.push_back({std::move(part), is_token});
  }
  return result;
}

const std::string* AddedTokens::token(std::int32_t id) const {
  const auto found = tokens_.find(id);
  return found != tokens_.end() ? &found->second.content : nullptr;
}

}  // namespace encdec
