#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/model/model.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/models/speech/transcription/transcription_task.h"

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

  // Decodes jobs side by side.
  void run(const std::vector<DecodeJob>& jobs, const Script& script) const {
    SessionPool::Lease lease(model_.parts().sessions);
    Session& session = *lease;
    std::vector<Tensor> frames;
    for (const DecodeJob& job : jobs) frames.push_back(job.prompt.frames);
    const auto opened = session.encode(frames).sources;
    const std::vector<int> sources(opened.begin(), opened.end());
    std::vector<std::unique_ptr<Search>> searches;
    for (std::size_t i = 0; i < jobs.size(); ++i) searches.push_back(jobs[i].search(jobs[i], sources[i], session));
    while (!searches.empty()) step(session, searches, script);
    for (const int source : sources) session.close_source(source);
  }

 private:
  static void step(Session& session, std::vector<std::unique_ptr<Search>>& searches, const Script& script) {
    std::vector<Session::TargetTokens> inputs;
    std::vector<std::size_t> ends;
    for (const auto& search : searches) {
      search->add_inputs(inputs);
      ends.push_back(inputs.size());
    }
    Tensor logits = session.decode(inputs);
    ProcessorScratch scratch;
    for (std::size_t i = 0, input = 0; i < searches.size(); ++i) {
      for (std::size_t row = 0; input < ends[i]; ++row, ++input) {
        const std::span values(logits.row(static_cast<std::int64_t>(input)), static_cast<std::size_t>(logits.width()));
        std::ranges::fill(values, -50.0F);
        if (const auto next = script.find(inputs[input].tokens.back()); next != script.end()) {
          for (const auto& [token, probability] : next->second) {
            values[static_cast<std::size_t>(token)] = static_cast<float>(std::log(probability));
          }
        }
        searches[i]->read(row, {.logits = values, .source_attention = {}, .scratch = scratch});
      }
    }
    for (auto& search : searches) {
      const Search::State state = search->advance(session);
      if (state == Search::State::completing) search->complete(session);
      if (state != Search::State::running) search.reset();
    }
    std::erase(searches, nullptr);
  }

  Model model_ = Model::load(std::filesystem::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face");
  WhisperFacts facts_{model_.checkpoint(), model_.config(), model_.tokenizer()};
};

}  // namespace encdec::scripted_whisper
