"""The page of `encdec serve`, in a headless browser. Skipped if Playwright or Chromium is not installed.

ENCDEC_CHROMIUM is the path of a browser to use instead of Playwright's own, for example /usr/bin/chromium.
"""

from __future__ import annotations

import json
import os
import urllib.parse

import pytest

from conftest import EMBEDDER, KEY, NUMBERS, PRONUNCIATION, WHISPER, model_arguments, noise, running

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
PHONE = {"width": 360, "height": 740}


@pytest.fixture(scope="session")
def url():
    models = {"english-pronunciation": PRONUNCIATION, "mini": EMBEDDER, "whisper": WHISPER}
    with running(*model_arguments(models)) as server:
        yield server.url + "/"


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as started:
        try:
            browser = started.chromium.launch(executable_path=os.environ.get("ENCDEC_CHROMIUM"), args=["--no-sandbox"])
        except playwright.Error as error:
            pytest.skip(f"no browser: {error}")
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, url):
    """Returns a function that opens a page. Checks at the end that pages have used no other server and thrown nothing."""
    contexts, hosts, known, errors = [], set(), {""}, []

    def open_page(address=url, color_scheme="light", viewport=None, wait=True):
        context = browser.new_context(color_scheme=color_scheme, viewport=viewport or {"width": 1200, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: hosts.add(urllib.parse.urlsplit(request.url).netloc))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(address)
        known.add(urllib.parse.urlsplit(address).netloc)
        if wait:  # until the example is translated
            expect(page.locator("#result")).to_have_text("AH1 N D ER0 S T AE2 N D IH0 NG")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert hosts <= known  # "" is the host of data: addresses
    assert not errors


def look_closer(page):
    page.click("#closer > summary")
    expect(page.locator("#attention")).to_be_visible()


def test_result_is_streamed(open_page):
    page = open_page()
    requests = []
    page.on("request", lambda request: requests.append(request))
    # Records each text of the result.
    page.evaluate("""() => {
      window.shown = [];
      const result = document.getElementById("result");
      new MutationObserver(() => shown.push(result.textContent)).observe(result, {childList: true});
    }""")
    page.fill("#text", "")
    page.locator("#text").press_sequentially("transformation", delay=20)
    expect(page.locator("#result")).to_have_text("T R AE2 N S F ER0 M EY1 SH AH0 N")
    expect(page.locator("#facts")).to_contain_text("16 tokens read, 13 written")
    shown = page.evaluate("shown")
    assert len(shown) > 3
    assert all(later.startswith(earlier) for earlier, later in zip(shown, shown[1:]))
    assert [urllib.parse.urlsplit(request.url).path for request in requests] == ["/v1/generate"]
    assert json.loads(requests[0].post_data)["stream"] is True


def test_example_is_a_word_for_a_model_of_words(open_page):
    page = open_page()
    expect(page.locator("#text")).to_have_value("understanding")
    expect(page.locator("#hint")).to_contain_text("This model reads one English word.")
    page.route("**/languages", lambda route: route.fulfill(json=[{"code": "en", "name": "English", "targets": ["fr"]}]))
    page.route("**/translate", lambda route: route.fulfill(json={"translatedText": "Bonjour !"}))
    page.reload()
    expect(page.locator("#result")).to_have_text("Bonjour !")
    expect(page.locator("#text")).to_have_value("Good morning!")
    expect(page.locator("#hint")).to_have_text("Runs when you pause, or at Ctrl+Enter.")


def test_texts_of_several_sentences_are_cut(open_page):
    page = open_page()
    with page.expect_request("**/translate"):
        page.fill("#text", "Good morning. How are you?\nThank you.")
    expect(page.locator("#result")).to_have_text("G UH1 D M AO2 R N IH0 NG HH AW1 ER0 Y UW2\nTH AE1 NG K Y UW2")
    page.select_option("#from", "auto")
    expect(page.locator("#facts")).to_contain_text("detected English")


def test_newer_text_aborts_older_request(open_page):
    page = open_page()
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.post_data))
    held = []
    page.route("**/v1/generate", lambda route: held.append(route) if not held else route.continue_())
    page.fill("#text", "older")
    page.wait_for_timeout(600)
    page.fill("#text", "transformation")
    expect(page.locator("#result")).to_have_text("T R AE2 N S F ER0 M EY1 SH AH0 N")
    assert len(failed) == 1 and "older" in failed[0]
    expect(page.locator("#translator-error")).to_be_empty()


def test_empty_text_has_no_result(open_page):
    page = open_page()
    page.fill("#text", "hello")
    expect(page.locator("#result")).to_have_text("HH EH1 L OW0")
    page.fill("#text", " ")
    expect(page.locator("#result")).to_be_empty()
    expect(page.locator("#copy-result")).to_be_disabled()


def test_alternatives_have_scores(open_page):
    page = open_page()
    page.fill("#text", "hello world")
    look_closer(page)
    page.select_option("#count", "3")
    items = page.locator(".hypothesis")
    expect(items).to_have_count(3)
    expect(items.nth(0)).to_contain_text("HH EH1 L OW0 W ER2 L D")
    expect(items.nth(0)).to_contain_text("43.1 %")
    expect(items.nth(0)).to_contain_text("-0.094")
    expect(items.nth(1)).to_contain_text("HH EH1 L AH0 W ER2 L D")


def test_attention_is_read(open_page):
    page = open_page()
    page.fill("#text", "hello world")
    look_closer(page)
    grid = page.locator("#attention table")
    expect(grid.locator("thead th")).to_have_count(13)
    expect(grid.locator("tbody tr")).to_have_count(9)
    cell = grid.locator("tbody tr").nth(1).locator("td").nth(2)
    cell.hover()
    expect(page.locator("#attention-reading")).to_have_text("▁EH1 looked at e with weight 0.605")
    expect(grid.locator("td.linked")).to_have_count(8)
    # Another alternative has another map.
    page.locator(".hypothesis").nth(1).click()
    expect(grid.locator("tbody th").nth(3)).to_have_text("▁AH0")


def test_attention_of_one_of_several_sentences(open_page):
    page = open_page()
    page.fill("#text", "Good morning.\nhello world")
    look_closer(page)
    page.select_option("#sentence", "1")
    expect(page.locator("#attention tbody th").first).to_have_text("▁HH")


def test_similarities(open_page):
    page = open_page()
    cells = page.locator("#similarities tbody td")
    expect(cells).to_have_count(36)
    values = [float(text) for text in cells.all_text_contents()]
    assert values[::7] == [1.0] * 6
    assert all(values[6 * i + k] == values[6 * k + i] for i in range(6) for k in range(6))
    page.select_option("#order", "2")
    first = [float(text) for text in cells.all_text_contents()[:6]]
    assert first == sorted(first, reverse=True)
    expect(page.locator("#similarities tbody th").first).to_contain_text("Bread needs flour")
    page.fill("#sentences", "one\ntwo\n\nthree")
    expect(cells).to_have_count(9)


def names_agree(page):
    links = page.locator("nav a:not([hidden])")
    heading = lambda link: page.locator(f"{link.get_attribute('href')} h2").text_content()
    return links.count() > 1 and all(heading(link) == link.text_content() for link in links.all())


def test_menu_has_the_names_of_the_sections(open_page, guarded):
    assert names_agree(open_page())
    page = open_page(guarded.url + "/", wait=False)  # has several models that generate
    page.fill("#key-text", KEY)
    page.keyboard.press("Enter")
    page.select_option("#model", "english-pronunciation")
    expect(page.locator("#translator h2")).to_have_text("Generate")
    assert names_agree(page)


@pytest.mark.parametrize("scheme, low, high", [("light", 200, 255), ("dark", 0, 60)])
def test_colours_follow_the_system(open_page, scheme, low, high):
    page = open_page(color_scheme=scheme)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert all(low <= int(part) <= high for part in background.removeprefix("rgb(").removesuffix(")").split(","))


def test_texts_contrast_with_what_is_behind(open_page):
    """Every number of the similarities has the contrast of 4.5 that WCAG requires, in both colour schemes."""
    for scheme in ["light", "dark"]:
        page = open_page(color_scheme=scheme)
        expect(page.locator("#similarities tbody td")).to_have_count(36)
        worst = page.evaluate("""() => {
          const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
          const luminance = color => {
            context.fillStyle = color;
            context.fillRect(0, 0, 1, 1);
            const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(
              c => c / 255 <= .04045 ? c / 255 / 12.92 : ((c / 255 + .055) / 1.055) ** 2.4);
            return .2126 * r + .7152 * g + .0722 * b;
          };
          const cell = document.querySelector("#similarities tbody td");
          let worst = 21;
          for (let part = 0; part <= 1; part += .01) {
            cell.style.setProperty("--part", part);
            cell.classList.toggle("strong", part > .69);
            const style = getComputedStyle(cell);
            const [a, b] = [luminance(style.color), luminance(style.backgroundColor)];
            worst = Math.min(worst, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
          }
          return worst;
        }""")
        assert worst >= 4.5, scheme


def test_phone_needs_no_horizontal_scrolling(open_page):
    page = open_page(viewport=PHONE)
    page.fill("#text", "understanding transformers " + "a" * 120)
    look_closer(page)
    expect(page.locator("#similarities tbody td")).to_have_count(36)
    page.click("#reference > summary")
    for summary in page.locator(".call summary").all():
        summary.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_keyboard_alone(open_page):
    page = open_page()
    focused = lambda: page.evaluate("document.activeElement.id || document.activeElement.tagName")

    def tab_to(name):
        for _ in range(30):
            page.keyboard.press("Tab")
            if focused() == name:
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", name
                return
        raise AssertionError(f"no way to {name}")

    tab_to("from")
    tab_to("to")
    tab_to("text")
    page.keyboard.press("Control+A")
    page.keyboard.type("hello world")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#result")).to_have_text("HH EH1 L OW0 W ER2 L D")
    tab_to("copy-result")
    page.keyboard.press("Enter")
    expect(page.locator("#copy-result")).to_have_text("Copied")
    tab_to("SUMMARY")
    page.keyboard.press("Enter")
    expect(page.locator("#attention")).to_be_visible()
    tab_to("count")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hypothesis input").nth(1)).to_be_checked()
    tab_to("TD")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#attention-reading")).to_have_text("▁EH1 looked at h with weight 0.020")
    page.keyboard.press("End")
    expect(page.locator("#attention-reading")).to_contain_text("looked at </s>")
    tab_to("sentences")


def test_copies(open_page):
    page = open_page()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.fill("#text", "hello")
    expect(page.locator("#result")).to_have_text("HH EH1 L OW0")
    page.click("#copy-result")
    expect(page.locator("#copy-result")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "HH EH1 L OW0"


def test_says_what_the_server_refuses(open_page):
    page = open_page()
    page.fill("#text", "hello")
    look_closer(page)
    page.evaluate("document.getElementById('count').append(new Option('99', '99'))")
    page.select_option("#count", "99")
    expect(page.locator("#closer-error")).to_have_text("num_beams is 99, expected at most 16 (--max-beams)")
    page.select_option("#count", "2")
    expect(page.locator("#closer-error")).to_be_hidden()


def test_says_that_no_server_answers(open_page):
    page = open_page()
    page.route("**/*", lambda route: route.abort())
    page.fill("#text", "hello")
    expect(page.locator("#translator-error")).to_have_text("The server does not answer. Is it still running?")
    page.unroute("**/*")
    page.locator("#text").press("Control+Enter")
    expect(page.locator("#result")).to_have_text("HH EH1 L OW0")
    expect(page.locator("#translator-error")).to_be_hidden()


@pytest.mark.parametrize("path, status, body, message", [
    ("v1/embeddings", 429, {"error": {"message": "512 requests wait"}}, "512 requests wait (try again in 7 s)"),
    ("v1/embeddings", 502, None, "The server answers 502 Bad Gateway"),
])
def test_errors_of_other_forms(open_page, path, status, body, message):
    page = open_page()
    headers = {"Retry-After": "7"} if status == 429 else {}
    page.route(f"**/{path}", lambda route: route.fulfill(
        status=status, headers=headers, body=json.dumps(body) if body else "<html>"))
    page.fill("#sentences", "one\ntwo")
    expect(page.locator("#explorer-error")).to_have_text(message)


def test_error_within_a_stream(open_page):
    page = open_page()
    page.route("**/v1/generate", lambda route: route.fulfill(
        content_type="text/event-stream", body='data: {"text":"A","token_ids":[1]}\n\ndata: {"error":"out of memory"}\n\n'))
    page.fill("#text", "hello")
    expect(page.locator("#translator-error")).to_have_text("out of memory")
    expect(page.locator("#result")).to_be_empty()


def test_waits_for_models(open_page):
    page = open_page()
    answers = iter([503])

    def answer(route):
        if next(answers, None):
            route.fulfill(status=503, headers={"Retry-After": "1"}, body='{"error":"the models are still being loaded"}')
        else:
            route.continue_()

    page.route("**/frontend/settings", answer)
    page.reload()
    expect(page.locator("#status")).to_have_text("the models are still being loaded; asking again soon.")
    expect(page.locator("#translator")).to_be_visible()
    expect(page.locator("#status")).to_be_empty()


def test_texts_of_the_server_are_no_markup(open_page):
    page = open_page()
    page.route("**/v1/generate", lambda route: route.fulfill(status=400, body='{"error":"<img src=x> <b>bold</b>"}'))
    page.fill("#text", "hello")
    expect(page.locator("#translator-error")).to_have_text("<img src=x> <b>bold</b>")
    assert page.locator("#translator-error *").count() == 0


def test_describes_the_api(open_page, url):
    page = open_page()
    expect(page.locator("#limits")).to_contain_text("4 MiB")
    assert not [label for label in page.locator("#limits dt").all_text_contents() if "_" in label]
    expect(page.locator("#calls")).to_be_hidden()
    page.click("#reference > summary")
    page.locator(".call summary", has_text="/v1/embeddings").click()
    example = page.locator(".call[open] pre")
    expect(example).to_have_text(
        f"curl '{url}v1/embeddings' -H 'Content-Type: application/json' "
        """-d '{"model":"mini","input":["The cat sleeps.","A kitten naps."]}'""")


def test_names_clients_of_what_is_loaded(open_page):
    page = open_page()
    expect(page.locator("#clients")).to_contain_text("OpenAI, Hugging Face, LibreTranslate, DeepL, and whisper.cpp")
    page.route("**/languages", lambda route: route.fulfill(json=[]))
    page.reload()
    expect(page.locator("#clients")).to_contain_text("OpenAI, Hugging Face, and whisper.cpp")
    expect(page.locator("#clients")).not_to_contain_text("DeepL")


def test_hides_what_no_model_does(open_page):
    page = open_page()
    for kind, hidden, shown in [("embedding", "#translator", "#explorer"), ("generation", "#explorer", "#translator"),
                                ("generation", "#listener", "#translator"), ("transcription", "#translator", "#listener")]:
        page.unroute_all()
        page.route("**/info?*", lambda route: route.fulfill(
            json={"version": "1", "limits": {"max_beams": 4}, "model_type": {kind: {}}}))
        page.route("**/languages", lambda route: route.fulfill(json=[]))
        page.reload()
        expect(page.locator(shown)).to_be_visible()
        expect(page.locator(hidden)).to_be_hidden()


def test_swaps_languages(open_page):
    page = open_page()
    page.route("**/languages", lambda route: route.fulfill(json=[
        {"code": "en", "name": "English", "targets": ["de", "fr"]}, {"code": "de", "name": "German", "targets": ["en"]}]))
    page.route("**/translate", lambda route: route.fulfill(
        json={"translatedText": f"to {route.request.post_data_json['target']}"}))
    page.reload()
    expect(page.locator("#translator")).to_be_visible()
    page.select_option("#to", "fr")
    expect(page.locator("#swap")).to_be_disabled()
    page.select_option("#to", "de")
    page.fill("#text", "hello")
    expect(page.locator("#result")).to_have_text("to de")
    page.click("#swap")
    expect(page.locator("#from")).to_have_value("de")
    expect(page.locator("#text")).to_have_value("to de")
    expect(page.locator("#result")).to_have_text("to en")


def test_key_and_several_models(open_page, guarded):
    page = open_page(guarded.url + "/", wait=False)
    expect(page.locator("#key")).to_be_visible()
    expect(page.locator("#start-error")).to_be_hidden()
    page.fill("#key-text", "wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#start-error")).to_contain_text("unknown API key")
    page.fill("#key-text", KEY)
    page.keyboard.press("Enter")
    expect(page.locator("#translator")).to_be_visible()
    expect(page.locator("#key")).to_be_hidden()
    page.fill("#text", "hello world")
    expect(page.locator("#result")).not_to_be_empty()
    page.click("#closer > summary")
    expect(page.locator(".hypothesis input")).to_have_count(5)
    page.select_option("#model", "english-pronunciation")
    expect(page.locator("#from")).to_be_hidden()
    expect(page.locator("#result")).to_have_text("HH EH1 L OW0 W ER2 L D")
    expect(page.locator("#attention")).to_be_visible()
    page.reload()
    expect(page.locator("#translator")).to_be_visible()
    page.click("#forget-key")
    expect(page.locator("#key")).to_be_visible()


def choose_recording(page, seconds=1.4):
    page.set_input_files("#recording", {"name": "noise.wav", "mimeType": "audio/wav", "buffer": noise(seconds)})


def said(*segments):
    """Returns the stream of a transcript. Each segment is a list of words; each word takes a second."""
    events, second = [], 0
    for words in segments:
        spans = [{"word": f" {word}", "start": second + i, "end": second + i + .5} for i, word in enumerate(words)]
        segment = {"start": second, "end": second + len(words), "text": "".join(span["word"] for span in spans), "words": spans}
        second += len(words)
        events.append({"type": "transcript.text.delta", "delta": segment["text"], "segment": segment})
    events.append({"type": "transcript.text.done", "text": "", "duration": second, "language": "english", "task": "transcribe"})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def answer_speech(page, *segments):
    page.route("**/v1/audio/*", lambda route: route.fulfill(content_type="text/event-stream", body=said(*segments)))


def test_recording_is_transcribed(open_page):
    page = open_page()
    choose_recording(page)
    expect(page.locator("#transcription-status")).to_contain_text("0:01 of sound in")
    expect(page.locator("#transcription-status")).to_contain_text("English")
    assert page.locator(".segment").count() > 0
    expect(page.locator("#player")).to_be_visible()
    page.wait_for_function("document.getElementById('player').duration === 1.4")
    expect(page.locator("#listener-error")).to_be_hidden()
    expect(page.locator("#task-choice")).to_be_hidden()  # an English-only model


def test_transcript_follows_the_sound(open_page):
    page = open_page()
    answer_speech(page, ["One", "two"], ["three", "four"])
    choose_recording(page, 4)
    expect(page.locator(".segment")).to_have_text(["One two", "three four"])
    seek = "seconds => { document.getElementById('player').currentTime = seconds; }"
    for seconds, segment, word in [(0.2, "One two", "One"), (1.2, "One two", "two"), (3.1, "three four", "four")]:
        page.evaluate(seek, seconds)
        expect(page.locator(".segment.now")).to_have_text(segment)
        expect(page.locator(".segment .now")).to_have_text(word)
    page.evaluate(seek, 2.7)  # between two words
    expect(page.locator(".segment .now")).to_have_count(0)
    # A click on a word or a time plays the recording from there.
    place = "document.getElementById('player').currentTime"
    page.locator(".segment span span", has_text="four").click()
    page.wait_for_function(f"{place} >= 3 && {place} < 4")
    page.locator(".segment button").nth(0).click()
    page.wait_for_function(f"{place} < 1")
    page.evaluate("document.getElementById('player').pause()")
    # The copied text has no times.
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy-transcript")
    expect(page.locator("#copy-transcript")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "One two\nthree four\n"


@pytest.mark.parametrize("extension, content", [
    ("srt", "1\n00:00:00,000 --> 00:00:02,000\nOne two\n\n2\n00:00:02,000 --> 00:00:04,000\nthree -> four\n\n"),
    ("vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nOne two\n\n00:00:02.000 --> 00:00:04.000\nthree -> four\n\n"),
])
def test_transcript_is_saved_as_subtitles(open_page, extension, content):
    page = open_page()
    expect(page.locator(f"#save-{extension}")).to_be_hidden()
    answer_speech(page, ["One", "two"], ["three", "--> four"])
    choose_recording(page, 4)
    with page.expect_download() as saved:
        page.click(f"#save-{extension}")
    assert saved.value.suggested_filename == f"noise.{extension}"
    with open(saved.value.path(), encoding="utf-8") as file:
        assert file.read() == content


def test_says_what_is_no_recording(open_page):
    page = open_page()
    answer_speech(page, ["One"])
    choose_recording(page)
    expect(page.locator(".segment")).to_have_count(1)
    page.unroute_all()
    page.set_input_files("#recording", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"text"})
    expect(page.locator("#listener-error")).to_have_text(
        "The server cannot read “a.txt” as a recording. Try a WAV, FLAC, MP3 or Ogg file.")
    expect(page.locator(".segment")).to_have_count(0)


def test_languages_of_speech(open_page):
    page = open_page()
    page.route("**/v1/models", lambda route: route.fulfill(json={"data": [{"id": "whisper", "language": ["en", "de"]}]}))
    page.reload()
    expect(page.locator("#spoken option")).to_have_text(["Detect language", "English", "German"])
    answer_speech(page, ["One"])
    choose_recording(page)
    expect(page.locator(".segment")).to_have_count(1)
    for select, value, path, field in [("#spoken", "de", "transcriptions", b'name="language"\r\n\r\nde\r\n'),
                                       ("#task", "translations", "translations", b'name="stream"')]:
        with page.expect_request(f"**/v1/audio/{path}") as asked:
            page.select_option(select, value)
        assert field in asked.value.post_data_buffer
    expect(page.locator("#spoken")).to_be_hidden()


def test_speech_is_no_markup(open_page):
    page = open_page()
    answer_speech(page, ["<b>One</b>"])
    choose_recording(page)
    expect(page.locator(".segment")).to_have_text(["<b>One</b>"])
    assert page.locator("#transcript b").count() == 0


def test_the_microphone_writes_what_is_said(browser):
    fake = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    fake += [f"--use-file-for-fake-audio-capture={NUMBERS}/clips/timer.wav%noloop"]
    with running("--model", f"numbers={NUMBERS}") as server:
        speaking = browser.browser_type.launch(
            executable_path=os.environ.get("ENCDEC_CHROMIUM"), args=["--no-sandbox", *fake]
        )
        page = speaking.new_context(permissions=["microphone"]).new_page()
        page.goto(server.url)
        page.locator("#microphone").click()
        expect(page.locator("#transcript")).to_have_text("set a timer for ten minutes", timeout=30_000)
        page.locator("#microphone").click()
        expect(page.locator("#microphone")).to_have_text("Speak")
        expect(page.locator("#listener-error")).to_have_text("")
        speaking.close()
