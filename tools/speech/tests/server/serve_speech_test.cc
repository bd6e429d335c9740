// Tests encdec serve with recordings, by a small random model. Its text is meaningless, but must be the same as the
// command's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/command.h"
#include "tests/tools/files.h"
#include "tests/tools/serve_process.h"
#include "tools/speech/tests/audio/wav_writer.h"

namespace encdec {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kWhisper = std::string(ENCDEC_GOLDEN_DIR) + "/whisper_formats/hugging_face";
const std::string kPath = "/v1/audio/transcriptions";

// Returns a WAV file of noise with 16-bit samples.
std::string sound(double seconds, std::uint32_t rate = 16'000) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(seconds * rate));
  std::uint32_t state = 1;
  for (std::int16_t& sample : samples) {
    state = state * 1'664'525 + 1'013'904'223;
    sample = static_cast<std::int16_t>((state >> 18) - 8192);
  }
  return WavFile{.rate = rate, .samples = raw(samples)}.bytes();
}

// Returns a POST request with a form and a file, as clients of all these protocols send it.
std::string form_text(const std::string& path, const std::string& file, const std::vector<std::string>& fields = {},
                      const std::string& headers = {}) {
  std::string body;
  for (const std::string& field : fields) {
    const std::size_t equals = field.find('=');
    body += fmt::format("--x\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n", field.substr(0, equals),
                        field.substr(equals + 1));
  }
  body += "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n" + file + "\r\n--x--\r\n";
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: {}\r\n{}\r\n{}",
      path, body.size(), headers, body);
}

std::string answer_to(const ServeProcess& server, const std::string& request) {
  Connection connection(server.socket());
  connection.send(request);
  return connection.receive();
}

json json_of(const std::string& answer) {
  EXPECT_EQ(status_of(answer), "200") << answer;
  return json::parse(body_of(answer));
}

TEST(ServeSpeech, AnswersEqualTheCommandsOutput) {
  const ServeProcess server({"--model", kWhisper});
  const TemporaryFolder folder;
  const std::string file = sound(1.7), path = folder.write("a.wav", file);
  const Finished command = encdec_command({"transcribe", "--model", kWhisper, "--threads", "1", "--quiet",
                                           "--word-timestamps", "--output-format", "json", path});
  const json wanted = json::parse(command.output);
  const json verbose =
      json_of(answer_to(server, form_text(kPath, file, {"response_format=verbose_json", "word_timestamps=true"})));
  EXPECT_EQ(verbose["segments"], wanted["segments"]);
  EXPECT_EQ(verbose["language"], "english");
  EXPECT_EQ(verbose["duration"], 1.7);
  // With word timestamps, windows begin at other positions. These two answers have none.
  EXPECT_EQ(json_of(answer_to(server, form_text(kPath, file)))["text"],
            json_of(answer_to(server, form_text(kPath, file, {"response_format=verbose_json"})))["text"]);
  EXPECT_EQ(server.metric("encdec_audio_seconds_total{model=\"hugging_face\"}"), 3 * 1.7);

  const std::string stream =
      answer_to(server, form_text(kPath, file, {"response_format=verbose_json", "word_timestamps=1", "stream=true"}));
  EXPECT_THAT(stream, HasSubstr("text/event-stream"));
  json segments = json::array(), last;
  for (std::size_t place = stream.find("data: "); place != std::string::npos;
       place = stream.find("data: ", place + 1)) {
    last = json::parse(stream.substr(place + 6, stream.find("\n\n", place) - place - 6));
    if (last["type"] == "transcript.text.delta") segments.push_back(last["segment"]);
  }
  EXPECT_EQ(segments, wanted["segments"]);
  EXPECT_EQ(last["type"], "transcript.text.done");
  EXPECT_EQ(last["segments"], wanted["segments"]);
}

TEST(ServeSpeech, ARecordingThatEndsEarlyIsToldInTheAnswer) {
  const ServeProcess server({"--model", kWhisper});
  const std::string file = sound(1.7), cut = file.substr(0, file.size() - 10'000), told = "the recording ends before";
  for (const char* format : {"json", "verbose_json", "text", "srt", "vtt"}) {
    const std::string field = fmt::format("response_format={}", format);
    EXPECT_THAT(answer_to(server, form_text(kPath, cut, {field})), HasSubstr("Warning: 299 - \"" + told)) << format;
    EXPECT_THAT(answer_to(server, form_text(kPath, file, {field})), testing::Not(HasSubstr(told))) << format;
  }
  EXPECT_THAT(json_of(answer_to(server, form_text(kPath, cut)))["warning"].get<std::string>(), StartsWith(told));
  EXPECT_THAT(answer_to(server, form_text(kPath, cut, {"stream=true"})), HasSubstr(told));
}

TEST(ServeSpeech, MoonshineIsServed) {
  const std::string model = std::string(ENCDEC_GOLDEN_DIR) + "/moonshine/streaming";
  const ServeProcess server({"--model", model});
  const TemporaryFolder folder;
  const std::string file = sound(2.1), path = folder.write("a.wav", file);
  const Finished command =
      encdec_command({"transcribe", "--model", model, "--threads", "1", "--quiet", "--output-format", "json", path});
  const json verbose = json_of(answer_to(server, form_text(kPath, file, {"response_format=verbose_json"})));
  EXPECT_EQ(verbose["segments"], json::parse(command.output)["segments"]);
  EXPECT_EQ(verbose["segments"].size(), 2);  // the longest window of this model has 1.4 s
  EXPECT_THAT(answer_to(server, form_text("/v1/audio/translations", file)),
              HasSubstr("task translate is not available with moonshine_streaming"));
}

TEST(ServeSpeech, AlignsAKnownTextAsTheCommandDoes) {
  const std::string numbers = ENCDEC_PRETRAINED_DIR "/english-numbers", clip = numbers + "/clips/timer.wav";
  const ServeProcess server({"--model", numbers});
  const TemporaryFolder folder;
  const std::string text = "set a timer\nfor ten minutes\n", path = "/v1/audio/alignments", file = read_file(clip);
  const std::string known = folder.write("timer.txt", text);
  const auto command = [&](const std::string& format) {
    return encdec_command({"align", "--model", numbers, "--text", known, "--output-format", format, clip}).output;
  };
  const json wanted = json::parse(command("json"));
  EXPECT_EQ(wanted["words"].size(), 6u);
  const std::string longer = answer_to(server, form_text(path, file, {"text=" + std::string(200'000, 'a')}));
  EXPECT_EQ(status_of(longer), "400");
  EXPECT_THAT(longer, HasSubstr("a text of 200000 bytes, expected at most 128317 for 2.0 s of sound"));
  EXPECT_EQ(json_of(answer_to(server, form_text(path, file, {"text=" + text}))), wanted);
  for (const char* format : {"srt", "vtt", "tsv", "textgrid"}) {
    const std::string answer =
        answer_to(server, form_text(path, file, {"text=" + text, fmt::format("response_format={}", format)}));
    EXPECT_EQ(status_of(answer), "200");
    EXPECT_EQ(body_of(answer), command(format));
  }
  const auto refused = [&](const std::vector<std::string>& fields, const std::string& part) {
    const std::string answer = answer_to(server, form_text(path, file, fields));
    EXPECT_EQ(status_of(answer), "400") << answer;
    EXPECT_THAT(body_of(answer), AllOf(HasSubstr(part), HasSubstr("invalid_request_error")));
  };
  refused({}, "'text' is missing or empty");
  refused({"text=..."}, "without a word");
  refused({"text=one", "response_format=xml"}, "expected one of json, srt, vtt, tsv, textgrid");
  refused({"text=one", "language=de"}, "'de'");
}

TEST(ServeSpeech, BadRequestsAreRefusedInTheFormOfTheProtocol) {
  const ServeProcess server({"--model", kWhisper});
  const auto expect = [&](const std::string& request, const std::string& status,
                          const std::vector<std::string>& parts) {
    const std::string answer = answer_to(server, request);
    EXPECT_EQ(status_of(answer), status) << answer;
    for (const std::string& part : parts) EXPECT_THAT(body_of(answer), HasSubstr(part));
  };
  const std::string file = sound(0.5), invalid = R"("type":"invalid_request_error")";
  expect(form_text(kPath, file, {"model=english-pronunciation"}), "404", {"generates text", "model_not_found"});
  expect(form_text(kPath, file, {"model=nobody"}), "404", {"'nobody'", "hugging_face"});
  expect(form_text(kPath, "no recording"), "400", {"'file'", "expected WAV", invalid});
  EXPECT_THAT(answer_to(server, form_text(kPath, "no recording")), testing::Not(HasSubstr("ffmpeg")));
  expect(form_text(kPath, ""), "400", {"'file' is missing or empty", invalid});
  expect(form_text(kPath, file.substr(0, 30), {"stream=true"}), "400", {"'file'", invalid});
  expect(form_text(kPath, file, {"language=de"}), "400", {"'de'", "hugging_face", invalid});
  expect(form_text(kPath, file, {"beam_size=17"}), "400", {"beam_size is 17, expected at most 16", invalid});
  expect(form_text(kPath, file, {"temperature=-1"}), "400", {"'temperature' is '-1'", invalid});
  expect(form_text(kPath, file, {"timestamp_granularities[]=word"}), "400", {"verbose_json", invalid});
  expect(form_text(kPath, file, {"vad_filter=true"}), "400", {"--vad-model", invalid});
  expect(form_text("/v1/audio/translations", file), "400", {"knows only English", invalid});
  expect(form_text(kPath, file, {"response_format=xml"}), "400", {"'response_format'", invalid});
  expect(post_text(kPath, "{}"), "415", {"multipart/form-data", invalid});
  expect(post_text("/v1/completions", R"({"model":"hugging_face","prompt":"x"})"), "404", {"transcribes recordings"});
  const json models = json_of(server.get("/v1/models"))["data"];
  EXPECT_EQ(models[1]["task"], "automatic-speech-recognition");
  EXPECT_EQ(models[1]["language"], json::parse(R"(["en"])"));
}

TEST(ServeSpeech, BodiesWithRecordingsHaveTheirOwnLimit) {
  const ServeProcess server({"--model", kWhisper, "--max-body-bytes", "1000", "--max-recording-bytes", "100000"});
  const std::string small = sound(1.0), large = sound(4.0);
  EXPECT_EQ(status_of(answer_to(server, form_text(kPath, small))), "200");
  EXPECT_THAT(answer_to(server, form_text(kPath, large)),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("more than 100000 bytes")));
  EXPECT_THAT(answer_to(server, form_text("/translate_file", small)),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("more than 1000 bytes")));
  const std::string head = "POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_THAT(answer_to(server, head + fmt::format("{:x}\r\n{}\r\n", large.size(), large)),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("more than 100000 bytes")));
  EXPECT_EQ(json_of(server.get("/info"))["limits"]["max_recording_bytes"], 100'000);
}

TEST(ServeSpeech, TheLengthOfRecordingsIsLimited) {
  const ServeProcess server({"--model", kWhisper, "--max-recording-seconds", "2"});
  EXPECT_EQ(status_of(answer_to(server, form_text(kPath, sound(2.0)))), "200");
  const auto refused = AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("more than 2 s (--max-recording-seconds)"));
  EXPECT_THAT(answer_to(server, form_text(kPath, sound(2.1))), refused);
  // The header of this file does not give its length.
  const std::string samples = raw(std::vector<std::int16_t>(40'000));
  EXPECT_THAT(answer_to(server, form_text(kPath, WavFile{.samples = samples, .data_size = 0xffff'ffff}.bytes())),
              refused);
}

TEST(ServeSpeech, WorkForAClientThatDisconnectsIsCancelled) {
  const ServeProcess server({"--model", kWhisper});
  const std::string tokens = "encdec_generated_tokens_total{model=\"hugging_face\"}";
  {
    const Connection gone(server.socket());
    gone.send(form_text(kPath, sound(600)));
    while (server.metric(tokens) == 0) std::this_thread::yield();
  }
  while (server.metric("encdec_requests_running") > 1) std::this_thread::yield();  // this request for metrics itself
  EXPECT_EQ(server.metric("encdec_requests_abandoned_total{route=\"/v1/audio/transcriptions\"}"), 1);
  EXPECT_EQ(server.metric("encdec_audio_seconds_total{model=\"hugging_face\"}"), 0);
  EXPECT_EQ(status_of(answer_to(server, form_text(kPath, sound(0.5)))), "200");
}

TEST(ServeSpeech, ClientsWithShortTimeoutsDoNotDisturbOthers) {
  const ServeProcess server({"--model", kWhisper});
  const std::string file = sound(2.0);
  std::vector<std::thread> clients;
  for (int client = 0; client < 3; ++client) {
    clients.emplace_back([&, client] {
      for (int i = 0; i < 40; ++i) {
        const std::string limit = fmt::format("X-Request-Timeout-Ms: {}\r\n", 1 + (7 * i + client) % 60);
        const std::string status = status_of(answer_to(server, form_text(kPath, file, {}, limit)));
        EXPECT_TRUE(status == "200" || status == "504") << status;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(status_of(answer_to(server, form_text(kPath, file))), "200");
}

// A recording of hours takes far longer to transcribe than its timeout. The next request must not wait for it.
TEST(ServeSpeech, ATimeoutStopsTheTranscription) {
  const ServeProcess server({"--model", kWhisper});
  const std::string hours = WavFile{.rate = 2000, .bits = 8, .samples = std::string(25'000'000, 'x')}.bytes();
  const std::string late = answer_to(server, form_text(kPath, hours, {}, "X-Request-Timeout-Ms: 100\r\n"));
  EXPECT_EQ(status_of(late), "504") << late;
  const std::string next = answer_to(server, form_text(kPath, sound(0.5), {}, "X-Request-Timeout-Ms: 10000\r\n"));
  EXPECT_EQ(status_of(next), "200") << next;
  EXPECT_EQ(server.metric("encdec_audio_seconds_total{model=\"hugging_face\"}"), 0.5);
}

}  // namespace
}  // namespace encdec
