"""The page of `encdec serve`, in a headless browser. Skipped if Playwright or Chromium is not installed.

ENCDEC_CHROMIUM is the path of a browser to use instead of Playwright's own, for example /usr/bin/chromium.
"""

from __future__ import annotations

import functools
import os
import urllib.parse

import pytest

from serving import EMBEDDER, KEY, NUMBERS, PRONUNCIATION, model_arguments, running

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
HELLO = "HH EH1 L OW0"
TIMER = NUMBERS / "clips/timer.wav"
OPTIONS = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
OPTIONS += [f"--use-file-for-fake-audio-capture={TIMER}%noloop"]  # the microphone


@pytest.fixture(scope="session")
def url():
    with running(*model_arguments({"words": PRONUNCIATION, "mini": EMBEDDER, "numbers": NUMBERS})) as server:
        yield server.url + "/"


@pytest.fixture(scope="session")
def browser():
    with playwright.sync_playwright() as started:
        try:
            browser = started.chromium.launch(executable_path=os.environ.get("ENCDEC_CHROMIUM"), args=OPTIONS)
        except playwright.Error as error:
            pytest.skip(f"no browser: {error}")
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, url):
    """Returns a function that opens a page. Checks at the end that pages used no other server and threw nothing."""
    contexts, hosts, errors = [], set(), []

    def open_page(address=url, routes=(), **options):
        contexts.append(browser.new_context(permissions=["microphone"], **options))
        page = contexts[-1].new_page()
        page.on("request", lambda request: hosts.add(urllib.parse.urlsplit(request.url).hostname))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.extend([line.text] if "Content Security Policy" in line.text else []))
        for path, answer in dict(routes).items():
            page.route(f"**/{path}", functools.partial(playwright.Route.fulfill, json=answer))
        page.goto(address)
        if address == url:
            expect(page.locator("#status")).to_be_empty()
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert hosts <= {"127.0.0.1", None}  # None is the host of data: addresses
    assert not errors


def write(page, text):
    page.fill("#text", text)
    page.locator("#text").press("Control+Enter")


def test_translates_by_language(open_page):
    page = open_page()
    with page.expect_request("**/translate") as asked:
        write(page, "Good morning. How are you?\nThank you.")
    assert asked.value.post_data_json["target"] == "arpabet"
    expect(page.locator("#translations")).to_have_text("G UH1 D M AO2 R N IH0 NG HH AW1 ER0 Y UW2\nTH AE1 NG K Y UW2")
    page.select_option("#from", "auto")
    page.select_option("#count", "2")
    page.click("text=Translate >> visible=true")
    expect(page.locator("#translations li")).to_have_count(2)
    expect(page.locator("#translator .facts")).to_contain_text("detected English")


def test_streams_the_text_of_a_model(open_page):
    page = open_page()
    page.select_option("#model", "words")
    expect(page.locator("#from")).to_be_hidden()
    page.evaluate("""window.shown = [], new MutationObserver(([{target}]) => shown.push(target.textContent))
                     .observe(document.getElementById("translations"), {childList: true})""")
    write(page, "transformation")
    expect(page.locator("#translations")).to_have_text("T R AE2 N S F ER0 M EY1 SH AH0 N")
    shown = page.evaluate("shown")
    assert len(shown) > 3 and all(later.startswith(earlier) for earlier, later in zip(shown, shown[1:]))
    page.select_option("#count", "2")
    write(page, "hello")
    expect(page.locator("#translations li").first).to_have_text("-0.080" + HELLO)
    expect(page.locator("#translations li")).to_have_count(2)


def test_translates_a_file(open_page):
    page = open_page()
    page.set_input_files("#file", {"name": "words.txt", "mimeType": "text/plain", "buffer": b"hello\n"})
    with page.expect_download() as saved:
        page.click("#translations a")
    assert saved.value.suggested_filename == "words.arpabet.txt"
    assert saved.value.path().read_text() == HELLO + "\n"


def test_a_new_text_or_stop_aborts_the_request(open_page):
    page = open_page()
    failed, held = [], []
    page.on("requestfailed", lambda request: failed.append(request.post_data_json["q"]))
    page.route("**/translate", lambda route: held.append(route) if len(held) < 2 else route.continue_())
    write(page, "older")
    write(page, "newer")
    page.click("#translator button:text('Stop')")
    expect(page.locator("#translator button:text('Stop')")).to_be_hidden()
    write(page, "hello")
    expect(page.locator("#translations")).to_have_text(HELLO)
    assert failed == ["older", "newer"]
    expect(page.locator("#translator .error")).to_be_hidden()


@pytest.mark.parametrize("answer, message", [
    ({"status": 429, "headers": {"Retry-After": "7"}, "json": {"error": "full"}}, "full (try again in 7 s)"),
    ({"status": 502, "body": "<html>"}, "The server responded 502 Bad Gateway"),
    ({"status": 400, "json": {"error": "<img src=x> <b>bold</b>"}}, "<img src=x> <b>bold</b>"),
    ({"body": 'data: {"text":"A"}\n\ndata: {"error":"out of memory"}\n\n'}, "out of memory"),
    ({"body": 'data: {"text":"A"}\n\n'}, "The response was cut off."),
    (None, "The server does not respond. Is it still running?"),
])  # fmt: skip
def test_says_what_is_wrong(open_page, answer, message):
    page = open_page()
    page.select_option("#model", "words")
    page.route("**/v1/generate", lambda route: route.fulfill(**answer) if answer else route.abort())
    write(page, "hello")
    expect(page.locator("#translator .error")).to_have_text(message)
    assert page.locator("#translator .error *").count() == 0
    page.unroute_all()
    write(page, "hello")
    expect(page.locator("#translator .error")).to_be_hidden()


def test_asks_for_a_key(open_page, guarded):
    page = open_page(guarded.url + "/")
    page.fill("#key-text", "wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("unknown API key")
    page.fill("#key-text", KEY)
    page.keyboard.press("Enter")
    expect(page.locator("#key")).to_be_hidden()
    page.reload()
    write(page, "hello")
    expect(page.locator("#translations")).to_have_text(HELLO)


def test_waits_for_models(open_page):
    page = open_page()
    answers = [{"status": 503, "headers": {"Retry-After": "1"}, "json": {"error": "loading"}}]
    page.route("**/v1/models", lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
    page.reload()
    expect(page.locator("#status")).to_have_text("loading (try again in 1 s)")
    expect(page.locator("#translator")).to_be_visible()
    expect(page.locator("#status")).to_be_empty()


def test_transcribes_a_recording(open_page):
    page = open_page()
    page.set_input_files("#recording", TIMER)
    expect(page.locator("#transcript li")).to_have_text("00:00set a timer for ten minutes")
    expect(page.locator("#listener .facts")).to_contain_text("english")
    with page.expect_download() as saved:
        page.click("#subtitles")
    assert saved.value.path().read_text().startswith("1\n00:00:00,")
    page.set_input_files("#recording", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"text"})
    expect(page.locator("#listener .error")).to_contain_text("'file'")
    expect(page.locator("#transcript li")).to_have_count(0)


def test_transcribes_the_microphone(open_page):
    page = open_page()
    page.click("#microphone")
    expect(page.locator("#transcript li")).to_contain_text("set a timer for ten minutes", timeout=30_000)
    page.click("#listener button:text('Stop')")
    expect(page.locator("#listener .facts, #listener .error")).to_have_text(["", ""])


VECTORS = {"data": [{"embedding": vector} for vector in ([3, 4], [4, -3], [30, 40])]}
LABELS = [[{"label": "good", "score": 0.75}, {"label": "bad", "score": 0.25}], [{"label": "bad", "score": 1}]]
RANKS = {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}


@pytest.mark.parametrize("kind, path, answer, rows", [
    ("embedding", "v1/embeddings", VECTORS, ["1.000<b>two</b>", "0.000one"]),
    ("classifier", "predict", LABELS, ["good 0.750, bad 0.250one", "bad 1.000<b>two</b>"]),
    ("reranker", "v1/rerank", RANKS, ["0.900<b>two</b>", "0.100one"]),
])  # fmt: skip
def test_scores(open_page, kind, path, answer, rows):
    page = open_page(routes={"info?*": {"version": "1", "model_type": {kind: {}}}, path: answer})
    assert page.locator("form:visible").count() == 1  # forms for which there is no model are hidden
    page.fill("#lines", "one\n\n<b>two</b>")
    page.click("#comparer .main")
    expect(page.locator("#scores li")).to_have_text(rows)
    assert page.locator("#scores b").count() == 0
    assert page.locator("#query").is_visible() == (kind != "classifier")


@pytest.mark.parametrize("scheme, background", [("light", "rgb(245, 246, 248)"), ("dark", "rgb(16, 19, 24)")])
def test_fits_a_phone_and_has_names_for_all_controls(open_page, scheme, background):
    page = open_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    write(page, "understanding " + "a" * 120)
    expect(page.locator("#translator .facts")).not_to_be_empty()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == background
    for control in page.locator("select, input, textarea, button").all():
        assert control.evaluate("it => it.labels?.[0]?.textContent || it.ariaLabel || it.textContent"), control
