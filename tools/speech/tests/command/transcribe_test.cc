// Tests encdec transcribe. The bundled model must find the text of the clips. The text of the small
// random model is meaningless, but must not depend on options that do not change results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tools/speech/tests/audio/wav_writer.h"
#include "tools/speech/tests/recordings.h"

namespace encdec {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Arguments = std::vector<std::string>;

const std::string kRandom = (fs::path(ENCDEC_GOLDEN_DIR) / "whisper_formats/hugging_face").string();
const std::string kSecondOfSilence(32'000, '\0');

// Returns a rising tone as 16-bit samples.
std::string samples(double seconds, double hertz) {
  std::vector<std::int16_t> values;
  for (int i = 0; i < static_cast<int>(seconds * 16'000); ++i) {
    const double t = i / 16'000.0;
    values.push_back(static_cast<std::int16_t>(std::lround(12'000 * std::sin(6.2832 * hertz * t * (1 + t)))));
  }
  return raw(values);
}

std::string wav(const std::string& data) {
  return WavFile{.samples = data}.bytes();
}

// Returns the samples of a clip without the header.
std::string clip_samples(const std::string& clip) {
  constexpr std::size_t kHeader = 44;
  return read_file(clip_path(clip)).substr(kHeader);
}

// Returns all clips with a second of silence after each, and their texts.
std::pair<std::string, std::string> all_clips() {
  std::string data, said;
  for (const auto& [clip, utterances] : clips()) {
    data += clip_samples(clip) + kSecondOfSilence;
    said += text_of(utterances);
  }
  return {data, said};
}

Finished transcribe(const std::string& model, Arguments arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"transcribe", "--model", model, "--quiet"});
  return encdec_command(arguments, input);
}

// Returns the output of a run without errors.
std::string text_of(const std::string& model, const Arguments& arguments, const std::string& input = "") {
  const Finished finished = transcribe(model, arguments, input);
  EXPECT_EQ(finished.status, 0) << finished.errors;
  EXPECT_EQ(finished.errors, "");
  return finished.output;
}

class TranscribeTest : public testing::Test {
 protected:
  std::string recording(const std::string& name, double seconds, double hertz) const {
    return folder_.write(name, wav(samples(seconds, hertz)));
  }

  TemporaryFolder folder_;
};

TEST_F(TranscribeTest, TheBundledModelFindsWhatIsSaidAndWhenInEveryPrecision) {
  constexpr double kNear = 0.2;  // seconds
  for (const auto& [clip, said] : clips()) {
    for (const char* precision : {"float32", "bfloat16", "int8"}) {
      for (const bool words : {false, true}) {
        Arguments arguments{"--precision", precision, "--output-format", "json", clip_path(clip)};
        if (words) arguments.emplace_back("--word-timestamps");
        const json segments = json::parse(text_of(kNumbers, arguments))["segments"];
        ASSERT_EQ(segments.size(), said.size()) << clip << precision;
        for (std::size_t i = 0; i < said.size(); ++i) {
          EXPECT_EQ(segments[i]["text"], " " + said[i].text) << clip << precision;
          EXPECT_NEAR(segments[i]["start"], said[i].start, kNear) << clip << precision;
          EXPECT_NEAR(segments[i]["end"], said[i].end, words ? 2 * kNear : kNear) << clip << precision;
          std::string text;
          for (const json& word : segments[i].value("words", json::array())) text += word["word"];
          EXPECT_EQ(text, words ? " " + said[i].text : "");
        }
      }
    }
  }
}

TEST_F(TranscribeTest, ItMatchesOpenaiWhisper) {
  const auto expect_near = [](const json& found, const json& wanted, const std::string& where) {
    for (const auto& [key, value] : wanted.items()) {
      if (value.is_number_float()) {
        EXPECT_NEAR(found[key], value, 1e-3) << where << key;
      } else if (key != "words") {
        EXPECT_EQ(found[key], value) << where << key;
      }
    }
  };
  for (const auto& expected : json::parse(read_file(fs::path(kRandom).parent_path() / "openai.json"))) {
    const std::string name = expected["name"];
    Arguments arguments = {"--output-format", "json", "--temperature-increment-on-fallback", "none",
                           recording(name + ".wav", expected["seconds"], expected["hertz"])};
    for (const std::string option : expected["options"]) arguments.push_back(option);
    const json segments = json::parse(text_of(kRandom, arguments))["segments"];
    ASSERT_EQ(segments.size(), expected["segments"].size()) << name;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const json &found = segments[i], &wanted = expected["segments"][i];
      expect_near(found, wanted, name);
      const json words = found.value("words", json::array()), wanted_words = wanted.value("words", json::array());
      ASSERT_EQ(words.size(), wanted_words.size()) << name << i;
      for (std::size_t j = 0; j < words.size(); ++j) expect_near(words[j], wanted_words[j], name);
    }
  }
}

// Longer than the bundled model's window of six seconds.
TEST_F(TranscribeTest, ALongRecordingIsTranscribedWindowByWindow) {
  const auto [data, said] = all_clips();
  const Arguments arguments{"--no-condition-on-previous-text", "-"};
  const auto found = split_lines(text_of(kNumbers, arguments, wav(data + data + data + data))),
             lines = split_lines(said + said + said + said);
  ASSERT_EQ(found.size(), lines.size());
  std::size_t right = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) right += found[i] == lines[i] ? 1 : 0;
  EXPECT_GE(right + 2, lines.size());  // the word error rate for long files is about 5 %
}

TEST_F(TranscribeTest, SilenceAndNoiseGiveNoText) {
  std::minstd_rand random(7);
  std::string noise;
  for (int i = 0; i < 5 * 16'000; ++i) noise += raw(std::vector{static_cast<std::int16_t>(random() % 600)});
  for (const std::string& data : {std::string(), kSecondOfSilence + kSecondOfSilence, noise})
    EXPECT_EQ(text_of(kNumbers, {"-"}, wav(data)), "");
}

TEST_F(TranscribeTest, EveryWayOfInputGivesTheSameText) {
  const std::string said = text_of(clips().at("timer.wav")), data = clip_samples("timer.wav");
  std::string twice;
  for (std::size_t i = 0; i < data.size(); i += 2) twice += data.substr(i, 2) + data.substr(i, 2);
  EXPECT_EQ(text_of(kNumbers, {"-"}, wav(data)), said);
  EXPECT_EQ(text_of(kNumbers, {"-"}, WavFile{.rate = 32'000, .samples = twice}.bytes()), said);
  EXPECT_EQ(text_of(kNumbers, {"--raw", "int16", "-"}, data), said);
  EXPECT_EQ(text_of(kNumbers, {"--raw", "int16", "--sample-rate", "32000", "--channels", "1", "-"}, twice), said);
}

TEST_F(TranscribeTest, FilesOfAllFormatsAreWrittenWithTheirExtensions) {
  const std::string file = recording("talk.wav", 1, 250), out = folder_.path("out");
  text_of(kRandom, {"--output-dir", out, "--output-format", "all", file, recording("other.wav", 0.7, 500)});
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 12);
  const auto same = [&](const std::string& path, std::string format) {
    std::string text = text_of(kRandom, {"--output-format", format, file});
    if (format == "json") text.pop_back();  // line end
    EXPECT_EQ(read_file(path), text) << path;
  };
  for (const std::string format : {"txt", "vtt", "srt", "tsv", "json", "lrc"}) {
    same(out + "/talk." + format, format);
    EXPECT_TRUE(fs::exists(out + "/other." + format)) << format;
  }
  for (const auto& [name, format] : {std::pair{"a.vtt", "vtt"}, {"a.SRT", "srt"}, {"a", "txt"}}) {
    EXPECT_EQ(text_of(kRandom, {"--output", folder_.path(name), file}), "");
    same(folder_.path(name), format);
  }
  text_of(kRandom, {"--output", folder_.path("b.srt"), "--output-format", "vtt", file});
  same(folder_.path("b.srt"), "vtt");
}

TEST_F(TranscribeTest, StatisticsCountAudioAndDraftTokens) {
  const std::string stats = folder_.path("stats.json"), tone = recording("a.wav", 1.5, 400);
  const Arguments plain = {"--num-beams", "1", "--output-format", "json", "--stats", stats, tone};
  const auto object = [&] { return json::parse(read_file(stats)); };
  const std::string expected = text_of(kRandom, plain);
  EXPECT_NEAR(object()["audio_seconds"], 1.5, 0.02);
  EXPECT_GT(object()["audio_seconds_per_second"], 0.0);
  EXPECT_GT(object()["generated_tokens"], 0);
  for (const Arguments& drafts :
       {Arguments{"--draft-precision", "int8"}, {"--draft-model", kRandom}, {"--prompt-lookup-num-tokens", "4"}}) {
    Arguments arguments = plain;
    arguments.insert(arguments.end(), drafts.begin(), drafts.end());
    EXPECT_EQ(text_of(kRandom, arguments), expected);
    EXPECT_GT(object()["draft_tokens"], 0) << drafts[0];
    EXPECT_GT(object()["accepted_tokens"], 0) << drafts[0];
  }
  const auto accepted = [&](const std::string& draft) {
    const std::string file = folder_.write("draft", draft);
    EXPECT_EQ(text_of(kNumbers, {"--num-beams", "1", "--draft-file", file, "--stats", stats, clip_path("timer.wav")}),
              "set a timer for ten minutes\n");
    return object()["accepted_tokens"].get<int>();
  };
  EXPECT_GT(accepted("set a timer for ten minutes\n"), 4);
  EXPECT_EQ(accepted("quite another text\n"), 0);
  const Finished noted = encdec_command({"transcribe", "--model", kRandom, "--draft-precision", "int8", tone});
  EXPECT_THAT(noted.errors, HasSubstr("search with 5 beams does not support them"));
  const Finished missing = transcribe(kRandom, {"--draft-file", folder_.write("short", "a\n"), tone, tone});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.errors, HasSubstr("short: 1 lines, expected one for each of 2 recordings"));
}

TEST_F(TranscribeTest, ARecordingThatCannotBeReadDoesNotStopTheOthers) {
  const std::string first = recording("first.wav", 3, 300), missing = folder_.path("missing.wav"),
                    bad = folder_.write("bad.wav", "RIFF\1\2\3\4WAVEfmt nothing of the kind"),
                    last = recording("last.wav", 0.5, 300);
  const std::string expected = text_of(kRandom, {first}) + text_of(kRandom, {last}) + text_of(kRandom, {first});
  for (const char* workers : {"1", "3"}) {
    const Finished finished = transcribe(kRandom, {first, missing, bad, last, first, "--workers", workers});
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.output, expected);
    Arguments errors = split_lines(finished.errors);
    ASSERT_EQ(errors.size(), 3u) << finished.errors;
    std::ranges::sort(errors.begin(), errors.end() - 1);
    EXPECT_THAT(errors[0], StartsWith("encdec: " + bad + ": "));
    EXPECT_EQ(errors[1], "encdec: " + missing + ": No such file or directory");
    EXPECT_EQ(errors[2], "encdec: not all recordings were transcribed");
  }
  EXPECT_TRUE(failed(transcribe(kRandom, {missing}), 1, {"missing.wav: No such file or directory"}));
}

TEST_F(TranscribeTest, OtherFormatsGetAHint) {
  const std::string hint = "; for other formats: ffmpeg -i FILE -f wav - | encdec transcribe --model DIR -";
  const std::string text = folder_.write("a.txt", "This is no recording."), good = recording("good.wav", 1, 300);
  EXPECT_TRUE(failed(transcribe(kRandom, {text}), 1, {"a.txt: ", ", expected WAV", hint}));
  EXPECT_TRUE(failed(transcribe(kRandom, {"-"}, "This is no recording."), 1, {"standard input: ", hint}));
  EXPECT_THAT(split_lines(transcribe(kRandom, {text, good}).errors).front(), EndsWith(hint));
  EXPECT_THAT(transcribe(kRandom, {folder_.path("missing.wav")}).errors, Not(HasSubstr("ffmpeg")));
}

TEST_F(TranscribeTest, OutputThatCannotBeWrittenStopsTheWork) {
  const std::string file = recording("a.wav", 1, 300);
  const Finished full = run({.arguments = {ENCDEC_COMMAND, "transcribe", "--model", kRandom, "--quiet", file, file},
                             .output_file = "/dev/full"});
  EXPECT_EQ(full.status, 1);
  EXPECT_EQ(full.errors, "encdec: standard output: cannot write: No space left on device\n");

  const std::string folder = folder_.path("out");
  fs::create_directories(fs::path(folder) / "a.txt");  // an output file cannot replace a folder
  const Finished finished =
      transcribe(kRandom, {file, recording("b.wav", 1, 300), "--workers", "1", "--output-dir", folder});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(split_lines(finished.errors).size(), 1u) << finished.errors;
  EXPECT_THAT(finished.errors, Not(HasSubstr("not all recordings"))) << finished.errors;
}

TEST_F(TranscribeTest, ARecordingThatEndsEarlyHasItsTextAndANotice) {
  const std::string data = samples(2, 300), part = data.substr(0, 32'000);
  const std::string cut = folder_.write("cut.wav", wav(data).substr(0, 44 + part.size())),
                    same = folder_.write("same.wav", wav(part));
  for (const Arguments& more : {Arguments(), {"--live"}}) {
    Arguments arguments{"transcribe", "--model", kRandom, cut};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = encdec_command(arguments);
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(split_lines(finished.errors).size(), 1u) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr("the recording ends before its stated length"));
    arguments[3] = same;
    EXPECT_EQ(encdec_command(arguments).output, finished.output);
    EXPECT_EQ(encdec_command(arguments).errors, "");
  }
}

TEST_F(TranscribeTest, LiveTextsAreThoseOfAFile) {
  const auto [data, said] = all_clips();
  const std::string file = folder_.write("all.wav", wav(data));
  EXPECT_EQ(text_of(kNumbers, {"--live", "--raw", "int16"}, data), said);
  EXPECT_EQ(text_of(kNumbers, {"--live", file}), said);

  using Events = std::map<std::size_t, Arguments>;  // JSON lines by utterance
  const auto events_of = [](const Arguments& input, const std::string& bytes) {
    Arguments arguments{"--live", "--output-format", "jsonl", "--partials", "always", "--step", "400"};
    arguments.insert(arguments.end(), input.begin(), input.end());
    Events events;
    for (const std::string& line : split_lines(text_of(kNumbers, arguments, bytes)))
      events[json::parse(line).value("id", 99u)].push_back(line);
    return events;
  };
  const Events events = events_of({"--raw", "int16", "-"}, data);
  EXPECT_EQ(events_of({file}, ""), events);
  EXPECT_EQ(events.size(), 5u);
  EXPECT_EQ(json::parse(events.at(99).front())["utterances"], 4);
  const std::string subtitles = text_of(kNumbers, {"--live", "--output-format", "srt", file});
  EXPECT_THAT(subtitles, testing::AllOf(StartsWith("1\n00:00:00,"), HasSubstr("\n\n4\n00:00:0")));
}

TEST_F(TranscribeTest, AnInterruptedLiveTranscriptHasItsLastText) {
  Process process({ENCDEC_COMMAND, "transcribe", "--model", kNumbers, "--quiet", "--live", "--raw", "int16"});
  process.write(all_clips().first.substr(0, 26'714 * 2 + 32'000 + 40'000));
  EXPECT_EQ(process.read_line(), "three hundred and twelve");
  process.wait_for_reading();
  process.send(SIGINT);
  EXPECT_EQ(process.read_line(), "four two seven");
  const Finished finished = process.wait();
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.errors, "");
}

TEST_F(TranscribeTest, TheDemoTranscribesRecordings) {
  const Finished sample = run({.arguments = {kEncdecDemo}}),
                 files = run({.arguments = {kEncdecDemo, "--speech", clip_path("pause.wav")}});
  EXPECT_EQ(sample.status, 0) << sample.errors;
  EXPECT_EQ(files.status, 0) << files.errors;
  const std::vector<Utterance> said = clips().at("pause.wav");
  for (const Utterance& utterance : said) {
    EXPECT_THAT(sample.output, HasSubstr(utterance.text + "\n"));
    EXPECT_THAT(files.output, HasSubstr(utterance.text + "\n"));
  }
  EXPECT_THAT(files.output, HasSubstr("times as fast as it was spoken"));
}

TEST_F(TranscribeTest, WrongUse) {
  const std::string file = recording("a.wav", 0.5, 300), talk = folder_.write("talk.txt", "");
  const struct {
    Arguments arguments;
    int status;
    Arguments parts;
  } rows[] = {
      {{}, 2, {"FILE is required"}},
      {{file, "--language", "xx"}, 1, {"language 'xx' is not known, expected one of en"}},
      {{file, "--task", "translate"}, 1, {"knows only English"}},
      {{file, "--max-words-per-line", "3"}, 2, {"--word-timestamps"}},
      {{file, "--output-format", "all"}, 2, {"--output-dir"}},
      {{file, file, "--output", "x"}, 2, {"--output-dir"}},
      {{file, file, "--output-dir", folder_.path("o")}, 2, {"two recordings"}},
      {{file, "--output", file}, 2, {"--output " + file + ": the same file as FILE"}},
      {{file, "--stats", file}, 2, {"--stats " + file + ": the same file as FILE"}},
      {{talk, "--output-dir", folder_.path("")}, 2, {"--output-dir", talk + " is a recording"}},
      {{file, "--rules", "transformers"}, 2, {"'transformers'", "expected openai"}},
      {{"none.wav", "--length-penalty", "nan"}, 2, {"--length-penalty", "'nan'", "a number from 0 to 1, or none"}},
      {{"--live", "a.wav", "b.wav"}, 2, {"--live with several recordings"}},
      {{"--live", "--clip-timestamps", "1,2"}, 2, {"--live with --clip-timestamps"}},
      {{"--output-format", "jsonl", file}, 2, {"--output-format jsonl without --live"}},
      {{"--live", "--step", "1"}, 2, {"expected an integer from 100"}},
  };
  for (const auto& [arguments, status, parts] : rows)
    EXPECT_TRUE(failed(transcribe(kRandom, arguments), status, parts)) << parts[0];
  EXPECT_TRUE(failed(encdec_command({"transcribe", "--", "--modle"}), 2, {"encdec: --model is required"}));
  for (const Arguments& text : {Arguments{"generate"}, {"score", "--target", file}, {"bench"}}) {
    Arguments arguments = text;
    arguments.insert(arguments.end(), {"--model", kRandom});
    EXPECT_TRUE(failed(encdec_command(arguments, "hello\n"), 1, {"is a speech model, expected encdec transcribe"}));
  }
}

}  // namespace
}  // namespace encdec
