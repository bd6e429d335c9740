// Tests Whisper's windows and attempts with a script in place of the model's logits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "encdec/models/generation/decode_feed.h"
#include "encdec/models/model/model.h"
#include "encdec/models/session/session_pool.h"
#include "encdec/speech/transcription/transcription_task.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

// Special tokens of the golden Whisper model. Smaller ids are text. Timestamps begin at kTimes
// (0.00 s) and end at 0.40 s.
constexpr std::int32_t kEnd = 287, kStart = 288, kEnglish = 289, kGerman = 291, kTranscribe = 389, kStartOfPrev = 391,
                       kNoSpeech = 392, kNoTimestamps = 393, kTimes = 394;

// Probabilities of next tokens, by the last token that the decoder has read. Tokens that are not
// listed are improbable.
using Script = std::map<std::int32_t, std::map<std::int32_t, double>>;

// The golden Whisper model, with windows of 0.4 s and 24 decoder positions. A script replaces its
// logits. Its vocabulary has languages.
class Whisper {
 public:
  Whisper() { facts_.tokens.is_multilingual = true; }

  TranscriptionTask task(const TranscribeOptions& options) const { return {model_.parts(), facts_, options}; }

  // Decodes jobs in one batch. A second script, if given, proposes up to 4 draft tokens per step.
  void run(const std::vector<DecodeJob>& jobs, const Script& script, const Script* drafts = nullptr) const {
    SessionPool::Lease lease(model_.parts().sessions), draft(model_.parts().sessions);
    const std::vector<int> sources = encode(*lease, jobs), draft_sources = encode(*draft, jobs);
    Searches searches;
    DraftLength length;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      searches.push_back(jobs[i].search(jobs[i], sources[i], *lease));
      if (drafts != nullptr) searches.back()->draft_with(*draft, draft_sources[i], length);
    }
    while (!searches.empty()) {
      if (drafts != nullptr) {
        for (const auto& search : searches) search->draft(4);
        while (play(*draft, searches, *drafts, &Search::add_draft_inputs, &Search::read_draft)) {
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
    EXPECT_EQ(draft->open_target(draft_sources.front()), 0) << "drafting has left a target open";
  }

 private:
  using Searches = std::vector<std::unique_ptr<Search>>;

  static std::vector<int> encode(Session& session, const std::vector<DecodeJob>& jobs) {
    std::vector<Tensor> frames;
    for (const DecodeJob& job : jobs) frames.push_back(job.prompt.frames);
    const auto opened = session.encode(frames).sources;
    return {opened.begin(), opened.end()};
  }

  // Decodes the searches' inputs, and passes the script's logits to them. Returns false if there
  // are no inputs.
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

// Options for windows without timestamps and with one attempt.
TranscribeOptions untimed(int beam_size) {
  return {.language = "en", .temperatures = {0}, .beam_size = beam_size, .suppress_tokens = {}, .timestamps = false};
}

std::vector<DecodedWindow> decode_all(const TranscribeOptions& options, const Script& script,
                                      const std::vector<std::uint64_t>& positions, const Script* drafts = nullptr) {
  const Whisper whisper;
  const TranscriptionTask task = whisper.task(options);
  std::vector<std::shared_ptr<DecodedWindow>> results;
  std::vector<DecodeJob> jobs;
  for (const std::uint64_t first : positions) {
    results.push_back(std::make_shared<DecodedWindow>());
    Tensor frames = Tensor::allocate({40, 16});
    std::fill_n(frames.data<float>(), frames.elements(), 0.0F);
    jobs.push_back(task.window(std::move(frames), {.first = first, .frames = 40}, kEnglish, {}, results.back()));
  }
  whisper.run(jobs, script, drafts);
  std::vector<DecodedWindow> windows;
  for (const auto& result : results) windows.push_back(*result);
  return windows;
}

DecodedWindow decode(const TranscribeOptions& options, const Script& script) {
  return decode_all(options, script, {0}).front();
}

// The likeliest first token, 1, leads to a less likely text than token 2.
const Script kMisleading = {{kStart, {{kNoSpeech, 0.25}, {1, 0.75}}},
                            {kNoTimestamps, {{1, 0.6}, {2, 0.4}}},
                            {1, {{11, 0.4}, {12, 0.3}, {13, 0.3}}},
                            {2, {{21, 1}}},
                            {11, {{kEnd, 1}}},
                            {12, {{kEnd, 1}}},
                            {13, {{kEnd, 1}}},
                            {21, {{kEnd, 1}}}};

TEST(WindowSearch, BeamsFindALikelierTextThanGreedySearch) {
  const DecodedWindow greedy = decode(untimed(1), kMisleading), beams = decode(untimed(2), kMisleading);
  EXPECT_EQ(greedy.tokens, (TokenIds{1, 11}));
  EXPECT_NEAR(greedy.avg_logprob, std::log(0.6 * 0.4) / 3, 1e-5) << "the end token counts";
  EXPECT_NEAR(greedy.no_speech_prob, 0.25, 1e-5) << "read after the start token";
  EXPECT_EQ(beams.tokens, (TokenIds{2, 21}));
  EXPECT_NEAR(beams.avg_logprob, std::log(0.4) / 3, 1e-5);
  Script ends = kMisleading;
  ends[kNoTimestamps][kEnd] = 0.9;
  EXPECT_EQ(decode(untimed(1), ends).tokens, greedy.tokens) << "the end cannot come first";
}

TEST(WindowSearch, PatienceIsTheNumberOfFinishedBeams) {
  const Script script = {{kStart, {{1, 1}}},
                         {kNoTimestamps, {{1, 0.6}, {2, 0.4}}},
                         {1, {{kEnd, 0.55}, {11, 0.45}}},
                         {2, {{21, 0.95}, {kEnd, 0.05}}},
                         {11, {{kEnd, 1}}},
                         {21, {{kEnd, 1}}}};
  TranscribeOptions options = untimed(2);
  options.patience = 0.5;  // one finished beam ends the search, although a running beam is better
  EXPECT_FALSE(decode(options, script).has_ended);
  options.patience = 1;
  const DecodedWindow window = decode(options, script);
  EXPECT_EQ(window.tokens, (TokenIds{2, 21}));
  EXPECT_TRUE(window.has_ended);
}

TEST(WindowSearch, ThePenaltyComparesTextsOfDifferentLengths) {
  // Means are log(0.45) / 3 and log(0.55) / 1.
  const Script script = {{kStart, {{1, 1}}}, {kNoTimestamps, {{1, 0.45}, {2, 0.55}}},
                         {1, {{11, 1}}},     {11, {{12, 1}}},
                         {12, {{kEnd, 1}}},  {2, {{kEnd, 1}}}};
  TranscribeOptions options = untimed(2);
  EXPECT_EQ(decode(options, script).tokens, (TokenIds{1, 11, 12}));
  options.length_penalty = 0;
  EXPECT_EQ(decode(options, script).tokens, TokenIds{2});
}

TEST(WindowSearch, DraftsChangeNothing) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Script later = kMisleading, wrong = kMisleading, endless = kMisleading;
  later[11] = {{12, 1}};                  // the draft ends one token late
  wrong[kNoTimestamps] = {{1, 0.7}};      // a right draft token
  wrong[1] = {{2, 1}};                    // and a wrong one after it
  endless[11] = endless[1] = {{1, nan}};  // draft logits of NaN
  endless[12] = endless[13] = {{13, 0.9}};
  Script breaks = kMisleading;
  breaks[2] = {{1, nan}};  // the model computes NaN after a wrong draft token
  for (const Script* drafts : std::initializer_list<const Script*>{&kMisleading, &later, &wrong, &endless}) {
    for (const bool timestamps : {false, true}) {
      TranscribeOptions options = untimed(1);
      options.timestamps = timestamps;
      const DecodedWindow expected = decode(options, kMisleading),
                          window = decode_all(options, breaks, {0}, drafts).front();
      EXPECT_EQ(window.tokens, expected.tokens);
      EXPECT_EQ(window.has_ended, expected.has_ended);
      EXPECT_EQ(window.avg_logprob, expected.avg_logprob);
      EXPECT_EQ(window.no_speech_prob, expected.no_speech_prob);
    }
  }
}

TEST(WindowSearch, ALimitEndsATextWithoutEnd) {
  const Script endless = {{kStart, {{1, 1}}}, {kNoTimestamps, {{1, 0.6}, {2, 0.4}}}, {1, {{1, 1}}}, {2, {{2, 1}}}};
  constexpr std::size_t kLimit = 12;  // half of the 24 positions
  for (const int beams : {1, 3}) {
    const DecodedWindow window = decode(untimed(beams), endless);
    EXPECT_EQ(window.tokens, TokenIds(kLimit, 1)) << beams;
    EXPECT_FALSE(window.has_ended);
  }
}

TEST(WindowSearch, AttemptsGoOnUntilATextPassesTheThresholds) {
  TranscribeOptions options = untimed(1);
  options.temperatures = {0, 0.2, 0.4, 1};
  options.compression_ratio_threshold = std::nullopt;
  options.logprob_threshold = std::log(0.3);
  Script script = kMisleading;
  EXPECT_EQ(decode(options, script).temperature, 0) << "the mean of log(0.6), log(0.4) and 0 is above log(0.3)";
  script[1] = {{11, 0.02}};  // the other tokens are less probable
  script[2] = {{21, 0.02}};
  for (std::int32_t token = 100; token < 200; ++token) script[1][token] = script[2][token] = 0.0098;
  for (std::int32_t token = 100; token < 200; ++token) script[token] = {{kEnd, 0.5}, {1, 0.5}};
  options.logprob_threshold = -0.5;
  EXPECT_EQ(decode(options, script).temperature, 1) << "no attempt passes; the last one is kept";
  options.no_speech_threshold = 0.2;
  EXPECT_EQ(decode(options, script).temperature, 0) << "there is nothing to find in silence";
  options.logprob_threshold = std::nullopt;
  options.compression_ratio_threshold = 0.01;
  EXPECT_EQ(decode(options, script).temperature, 1) << "repetitive";
}

TEST(WindowSearch, SamplesDependOnNoOtherWindowAndTheLikeliestIsKept) {
  TranscribeOptions options = untimed(1);
  options.temperatures = {1};
  options.best_of = 4;
  options.compression_ratio_threshold = options.logprob_threshold = std::nullopt;
  const std::vector<DecodedWindow> together = decode_all(options, kMisleading, {0, 40, 80, 120, 160, 200});
  for (std::size_t i = 0; i < together.size(); ++i) {
    const DecodedWindow alone = decode_all(options, kMisleading, {40 * i}).front();
    EXPECT_EQ(together[i].tokens, alone.tokens);
    EXPECT_EQ(together[i].avg_logprob, alone.avg_logprob);
  }
  const auto mean = [&](int best_of) {
    options.best_of = best_of;
    double sum = 0;
    for (const DecodedWindow& window : decode_all(options, kMisleading, {0, 40, 80, 120, 160, 200, 240, 280})) {
      sum += window.avg_logprob;
    }
    return sum / 8;
  };
  EXPECT_NEAR(mean(30), std::log(0.4) / 3, 1e-5) << "of many samples one is the best";
  EXPECT_LT(mean(1), std::log(0.4) / 3);
}

// The events of a transcription.
struct Told {
  std::vector<TokenIds> prompts;  // the prompt of each job
  std::vector<TranscriptSegment> segments;
  Transcript transcript;
  std::vector<double> seconds_done;  // after each job
};

// Starts and ends of segments, in hundredths of a second.
using Times = std::vector<std::pair<int, int>>;
Times times_of(const std::vector<TranscriptSegment>& segments) {
  Times times;
  for (const TranscriptSegment& segment : segments) {
    times.emplace_back(std::lround(segment.start * 100), std::lround(segment.end * 100));
  }
  return times;
}

// Transcribes `seconds` of a tone. Job i uses scripts[i], or the last script if there are fewer.
Told transcribe(const TranscribeOptions& options, double seconds, const std::vector<Script>& scripts) {
  static const Whisper whisper;
  const TranscriptionTask task = whisper.task(options);
  const auto transcriber = task.open(tone(seconds));
  Told told;
  for (;;) {
    while (!transcriber->read()) {
    }
    const auto job = transcriber->next();
    if (!job) break;
    told.prompts.push_back(job->prompt.target);
    whisper.run({*job}, scripts[std::min(told.prompts.size(), scripts.size()) - 1]);
    for (TranscriptSegment& segment : transcriber->finish({})) told.segments.push_back(std::move(segment));
    told.seconds_done.push_back(transcriber->seconds_done());
  }
  told.transcript = transcriber->transcript();
  return told;
}

TranscribeOptions plain() {
  return {.language = "en",
          .temperatures = {0},
          .beam_size = 1,
          .suppress_tokens = {},
          .compression_ratio_threshold = {},
          .logprob_threshold = {},
          .no_speech_threshold = {}};
}

// Returns a script for token `text` from 0.00 s to 0.20 s, and incomplete text after it.
Script half_a_window(std::int32_t text) {
  return {{kStart, {{1, 1}}},
          {kTranscribe, {{kTimes, 1}}},
          {kTimes, {{text, 1}}},
          {text, {{kTimes + 10, 1}}},
          {kTimes + 10, {{kTimes + 10, 0.6}, {kEnd, 0.4}}}};
}
// Returns a script for token `text` from 0.00 s to 0.20 s, without text after it.
Script whole_window(std::int32_t text) {
  Script script = half_a_window(text);
  script[kTimes + 10] = {{kEnd, 1}};
  return script;
}
TokenIds said(std::int32_t text) {
  return {kTimes, text, kTimes + 10};
}
TokenIds prompt(const std::vector<TokenIds>& earlier) {
  TokenIds prompt;
  if (!earlier.empty()) prompt.push_back(kStartOfPrev);
  for (const TokenIds& tokens : earlier) prompt.insert(prompt.end(), tokens.begin(), tokens.end());
  prompt.insert(prompt.end(), {kStart, kEnglish, kTranscribe});
  return prompt;
}

TEST(SplitWindow, SegmentsEndAtPairsOfTimes) {
  const Whisper whisper;
  const TranscriptionTask task = whisper.task(plain());
  const struct {
    TokenIds tokens;
    Times times;
    std::size_t advance;  // of 40 frames
  } rows[] = {
      {{kTimes, 1, kTimes + 5, kTimes + 5, 2, kTimes + 9, kTimes + 12, 3}, {{0, 10}, {10, 18}}, 18},
      {{kTimes, 1, kTimes + 5, kTimes + 8, 2, kTimes + 12}, {{0, 10}, {16, 24}}, 40},  // no speech follows
      {{kTimes + 2, 1, kTimes + 6}, {{0, 12}}, 40},
      {{kTimes, 1}, {{0, 40}}, 40},  // 0.00 s does not end a segment
      {{1}, {{0, 40}}, 40},
      {{}, {{0, 40}}, 40},
      {{kTimes, kTimes}, {{0, 0}}, 40},
  };
  for (const auto& [tokens, times, advance] : rows) {
    const SplitWindow cut = split_window({.tokens = tokens}, {.first = 0, .frames = 40}, task.tokens());
    EXPECT_EQ(times_of(cut.segments), times);
    EXPECT_EQ(cut.advance, advance);
  }
}

TEST(RecordingTranscriber, TheNextWindowBeginsWhereTheTextEnds) {
  const Told told = transcribe(plain(), 0.7, {half_a_window(50), whole_window(60), whole_window(70)});
  EXPECT_EQ(times_of(told.segments), (Times{{0, 20}, {20, 40}, {60, 80}}));
  EXPECT_EQ(told.segments[1].seek, 20u);
  EXPECT_EQ(told.segments[2].id, 2u);
  EXPECT_GT(told.segments[2].compression_ratio, 0);
  EXPECT_EQ(told.seconds_done, (std::vector{0.2, 0.6, 0.7}));
  EXPECT_EQ(told.transcript.duration, 0.7);
  EXPECT_EQ(told.transcript.language, "en");
  EXPECT_EQ(told.prompts, (std::vector{prompt({}), prompt({said(50)}), prompt({said(50), said(60)})}));
}

TEST(RecordingTranscriber, TheLanguageIsDetectedFirst) {
  TranscribeOptions options = plain();
  options.language.clear();
  const Script german = {{kStart, {{kGerman, 0.6}, {kEnglish, 0.2}, {1, 0.2}}}};
  const Told told = transcribe(options, 0.3, {german, whole_window(50)});
  EXPECT_EQ(told.prompts, (std::vector<TokenIds>{{kStart}, {kStart, kGerman, kTranscribe}}));
  EXPECT_EQ(told.transcript.language, "de");
  EXPECT_NEAR(told.transcript.language_probability, 0.75, 1e-5) << "among the languages";
  EXPECT_EQ(told.segments.size(), 1u);
}

TEST(RecordingTranscriber, ASilentWindowHasNoText) {
  TranscribeOptions options = plain();
  options.no_speech_threshold = 0.5;
  Script silence = whole_window(50);
  silence[kStart] = {{kNoSpeech, 0.9}, {1, 0.1}};
  const Told told = transcribe(options, 0.8, {silence, whole_window(60)});
  EXPECT_EQ(times_of(told.segments), (Times{{40, 60}}));
  EXPECT_EQ(told.prompts[1], prompt({}));
}

// Returns the prompt after a first window that was decoded at `temperature`.
TokenIds second_prompt(TranscribeOptions options, double temperature) {
  options.temperatures = {temperature};
  options.best_of = 1;
  return transcribe(options, 0.5, {whole_window(50)}).prompts.at(1);
}

TEST(RecordingTranscriber, PreviousTextIsLeftOutAfterAHighTemperature) {
  EXPECT_EQ(second_prompt(plain(), 0.5), prompt({said(50)}));
  EXPECT_EQ(second_prompt(plain(), 0.6), prompt({}));
}

TEST(RecordingTranscriber, TextThatWasLeftOutStaysLeftOut) {
  Script improbable = whole_window(50);
  improbable[kTimes].clear();
  for (std::int32_t token = 100; token < 200; ++token) {
    improbable[kTimes][token] = 0.01;
    improbable[token] = {{kTimes + 10, 1}};
  }
  TranscribeOptions options = plain();
  options.temperatures = {0, 0.9};
  options.best_of = 1;
  options.logprob_threshold = -0.3;
  const Told told = transcribe(options, 1.1, {improbable, whole_window(60), whole_window(70)});
  EXPECT_EQ(told.segments.front().temperature, 0.9);
  EXPECT_EQ(told.prompts[1], prompt({}));
  EXPECT_EQ(told.prompts[2], prompt({said(60)}));
}

TEST(RecordingTranscriber, AnInitialPromptThatIsCarriedIsInEveryPrompt) {
  TranscribeOptions options = plain();
  options.initial_prompt = "two";
  const Told told = transcribe(options, 0.3, {whole_window(50)});
  EXPECT_EQ(told.transcript.text.find("two"), std::string::npos);
  const TokenIds two(told.prompts[0].begin() + 1, told.prompts[0].end() - 3);
  ASSERT_FALSE(two.empty());
  options.carry_initial_prompt = true;
  EXPECT_EQ(second_prompt(options, 0), prompt({two, said(50)}));
  EXPECT_EQ(second_prompt(options, 0.6), prompt({two})) << "other text is left out";
  options.initial_prompt = "one two three four five six seven eight nine ten";
  const TokenIds cut = second_prompt(options, 0);
  EXPECT_EQ(TokenIds(cut.end() - 6, cut.end() - 3), said(50)) << "no share is left: the prompt's front is cut off";
  EXPECT_EQ(cut.size(), 11u + 4) << "11 tokens of previous text: half of 24 positions less one";
}

}  // namespace
}  // namespace encdec
