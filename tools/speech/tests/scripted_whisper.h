#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/model/model.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/speech/transcription/transcription_task.h"

namespace encdec::scripted_whisper {

// Special tokens of the golden Whisper model. Smaller ids are text; times are from kTimes, 0.00 s, to 0.40 s.
inline constexpr std::int32_t kEnd = 287, kStart = 288, kEnglish = 289, kGerman = 291, kTranscribe = 389,
                              kStartOfPrev = 391, kNoSpeech = 392, kNoTimestamps = 393, kTimes = 394;

// The probabilities of next tokens, by the last token that the decoder has read. Other tokens are improbable.
using Script = std::map<std::int32_t, std::map<std::int32_t, double>>;

// The golden Whisper model, of windows of 0.4 s and 24 decoder positions, with a script in place of its logits. Its
// vocabulary has languages.
class Whisper {
 public:
  Whisper() { facts_.tokens.is_multilingual = true; }

  TranscriptionTask task(const TranscribeOptions& options) const { return {model_.parts(), facts_, options}; }

  // Decodes jobs side by side. If there is a second script, it guesses up to 4 tokens at a time.
  void run(const std::vector<DecodeJob>& jobs, const Script& script, const Script* guesses = nullptr) const {
    SessionPool::Lease lease(model_.parts().sessions), draft(model_.parts().sessions);
    const std::vector<int> sources = encode(*lease, jobs), draft_sources = encode(*draft, jobs);
    Searches searches;
    DraftLength length;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      searches.push_back(jobs[i].search(jobs[i], sources[i], *lease));
      if (guesses != nullptr) searches.back()->draft_with(*draft, draft_sources[i], length);
    }
    while (!searches.empty()) {
      if (guesses != nullptr) {
        for (const auto& search : searches) search->draft(4);
        while (play(*draft, searches, *guesses, &Search::add_draft_inputs, &Search::read_draft)) {
        }
      }
      play(*lease, searches, script, &Search::add_inputs, &Search::read);
      for (auto& search : searches) {
        const Search::State state = search->advance(*lease);
        if (state == Search::State::completing) search->complete(*lease);
        if (state != Search::State::running) search.reset();
      }
      std::erase(searches, nullptr);
    }
    EXPECT_EQ(draft->open_target(draft_sources.front()), 0) << "a guess has left a target open";
  }

 private:
  using Searches = std::vector<std::unique_ptr<Search>>;

  static std::vector<int> encode(Session& session, const std::vector<DecodeJob>& jobs) {
    std::vector<Tensor> frames;
    for (const DecodeJob& job : jobs) frames.push_back(job.prompt.frames);
    const auto opened = session.encode(frames).sources;
    return {opened.begin(), opened.end()};
  }

  // Decodes what the searches add, and lets them read the script's logits. Returns false if they add nothing.
  static bool play(Session& session, const Searches& searches, const Script& script,
                   void (Search::*add)(std::vector<Session::TargetTokens>&),
                   void (Search::*read)(std::size_t, const StepOutput&)) {
    std::vector<Session::TargetTokens> inputs;
    std::vector<std::size_t> ends;
    for (const auto& search : searches) {
      (search.get()->*add)(inputs);
      ends.push_back(inputs.size());
    }
    if (inputs.empty()) return false;
    Tensor logits = session.decode(inputs);
    ProcessorScratch scratch;
    std::int64_t row = 0;
    for (std::size_t i = 0, input = 0; i < searches.size(); ++i) {
      for (std::size_t own = 0; input < ends[i]; ++input) {
        for (const std::int32_t token : inputs[input].tokens.last(inputs[input].logits)) {
          const std::span values(logits.row(row++), static_cast<std::size_t>(logits.width()));
          write_logits(script, token, values);
          (searches[i].get()->*read)(own++, {.logits = values, .source_attention = {}, .scratch = scratch});
        }
      }
    }
    return true;
  }

  static void write_logits(const Script& script, std::int32_t last, std::span<float> logits) {
    std::ranges::fill(logits, -50.0F);
    const auto next = script.find(last);
    if (next == script.end()) return;
    for (const auto& [token, probability] : next->second) {
      logits[static_cast<std::size_t>(token)] = static_cast<float>(std::log(probability));
    }
  }

  Model model_ = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face");
  WhisperFacts facts_{model_.checkpoint(), model_.config(), model_.tokenizer()};
};

}  // namespace encdec::scripted_whisper
