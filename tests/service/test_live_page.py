"""The page of live sessions in a browser: lanes grow, the verdict turns, and nothing of it needs a mouse."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from tests.diagrams.player.hostile import ATTACK, COMMENT
from tests.service.bench import ALLOCATE, COMPLETE, HIVED, PREEMPT, WIDE, until
from tests.service.slow_record import SPIN, spinning
from tests.service.test_live import TOKEN, Client, client
from tests.support.browsing import browser, serious
from tests.support.needs import needs_chromium
from tests.support.sample import thinned

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_chromium

__all__ = ["browser"]

CRASH = {"action": "crash"}

REFUSED = "the server responded with a status of 40"
"""What the browser logs when the page learns that it needs a token, or may not list sessions."""


@contextmanager
def opened(browser: Browser, asking: Client, path: str, script: str = "", **options: Any) -> Iterator[Page]:
    """A page of the server. It fails if it complains, or asks another server for anything."""
    context = browser.new_context(base_url=str(asking.http.base_url), **options)
    page, complaints, asked = context.new_page(), list[str](), list[str]()
    page.on("console", lambda message: None if REFUSED in message.text else complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        if script:
            page.add_init_script(script)
        page.goto(path)
        yield page
        assert complaints == []
        assert all(url.startswith(f"{asking.http.base_url}".rstrip("/")) and TOKEN not in url for url in asked)
    finally:
        context.close()


def columns(page: Page) -> list[str]:
    return page.locator("#lanes thead button").all_inner_texts()


def wait(page: Page, selector: str, text: str) -> None:
    page.locator(selector, has_text=text).wait_for()


def test_lanes_grow_and_the_verdict_turns(browser: Browser) -> None:
    with client(TOKEN) as asking:
        session, live = asking.create()
        with opened(browser, asking, "/live") as page:
            page.locator("#token").wait_for()
            assert page.evaluate("document.activeElement.id") == "token"
            page.keyboard.type("not-the-token-of-this-server")
            page.keyboard.press("Enter")
            wait(page, "#connection", "The server refuses this token.")
            page.keyboard.type(TOKEN)
            page.keyboard.press("Enter")
            link = page.locator(f"#sessions a[href='/live/{live}']")
            link.focus()
            page.keyboard.press("Enter")
            wait(page, "#verdict", "Conforms. There are no records yet.")
            assert columns(page) == ["Start"]
            asking.send(session, ALLOCATE)
            wait(page, "#verdict", "Conforms so far, after 1 record.")
            assert columns(page) == ["Start", "Step 1"]
            assert page.locator(".picture .lit text").text_content() == "Allocated"
            assert page.locator("#lanes tbody tr").first.inner_text().split("\n")[-1].strip() == "● Pending → Allocated"
            asking.send(session, PREEMPT)
            wait(page, "#now", "Step 2 of 2: g1 begins to preempt what runs on {c0, c1} (record 2).")
            wait(page, "#fits", "The run explains records 1 to 2. It is the only run that fits.")
            wait(page, "#coming", "vacate: the pod on c0 is deleted")
            assert page.inner_text("#coming").startswith("3 steps:")
            asking.send(session, COMPLETE)
            wait(page, "#verdict", "Nonconformance at record 3: complete(p=g1)")
            assert columns(page) == ["Start", "Step 1", "Step 2"]
            wait(page, "#coming", "Nothing: the records do not conform.")
            asking.http.delete(f"/sessions/{session}")
            wait(page, "#connection", "The session has ended.")
            page.go_back()
            wait(page, "#connection", "There are no sessions.")


def test_the_token_may_be_in_the_fragment(browser: Browser) -> None:
    with client(TOKEN) as asking:
        _, live = asking.create()
        with opened(browser, asking, f"/live/{live}#token={TOKEN}") as page:
            wait(page, "#connection", "Connected.")
            assert TOKEN not in page.url
            assert TOKEN not in page.content()


def test_a_reader_who_goes_back_stays_there(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        for record in (ALLOCATE, PREEMPT):
            asking.send(session, record)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", "Step 2 of 2")
            assert page.get_attribute("#now", "aria-live") == "off"
            for _ in range(3):
                asking.send(session, CRASH)
            wait(page, "#now", "Step 5 of 5")
            # Each run is played by the same keys once.
            page.keyboard.press("ArrowLeft")
            wait(page, "#now", "Step 4 of 5")
            assert page.get_attribute("#follow", "aria-pressed") == "false"
            assert page.get_attribute("#now", "aria-live") == "polite"
            asking.send(session, CRASH)
            wait(page, "#pending", "there is 1 new record")
            wait(page, "#verdict", "after 6 records")
            assert "Step 4 of 5" in page.inner_text("#now")
            page.locator("#follow").press("Enter")
            wait(page, "#now", "Step 6 of 6")
            page.keyboard.press("Home")
            wait(page, "#now", "Start, before step 1 of 6")
            asking.send(session, CRASH)
            wait(page, "#pending", "there is 1 new record")
            page.keyboard.press("End")
            wait(page, "#now", "Step 7 of 7")


def test_several_runs_are_said_to_be_several(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        asking.send(session, {"action": "allocate", "parameters": {"p": "g0"}})
        with opened(browser, asking, f"/live/{live}") as page:
            # g0 may have c0, c1, or both.
            wait(page, "#fits", "Several runs fit; this is one of them, and leads to one of 3 possible states.")


def test_a_run_that_is_not_known_is_not_shown(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create(WIDE)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#fits", "The lanes show the objects before the first record.")
            asking.send(session, {"action": "allocate"})
            wait(page, "#fits", "No run is shown: too many states explain the records.")
            # What g0 holds is now known: the lanes begin there.
            cells = {
                f"c{n}": {"state": "Used" if n == 0 else "Free", "user": "g0" if n == 0 else None} for n in range(10)
            }
            asking.send(session, {"state": {"Cell": cells}})
            wait(
                page,
                "#fits",
                "No run is shown: record 2 has too many explanations. The lanes show the objects after record 2.",
            )
            assert columns(page) == ["Start"]
            asking.send(session, {"action": "delete_allocated", "parameters": {"p": "g0"}})
            wait(page, "#fits", "The run explains record 3. It is the only run that fits from there on.")


def test_a_lost_session_is_undetermined(browser: Browser) -> None:
    with spinning(), client(seconds=0.4) as asking:
        session, live = asking.create()
        asking.send(session, ALLOCATE)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", "Step 1 of 1")
            asking.send(session, SPIN)
            wait(page, "#verdict", "Undetermined after 1 record: the session was lost: a request took more than 0.4 s")
            wait(page, "#coming", "It is not known")
            assert columns(page) == ["Start", "Step 1"], "the lanes stay"


def test_a_screen_reader_hears_a_verdict_and_no_flood(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#connection", "Connected.")
            page.evaluate(
                "window.heard = []; new MutationObserver(() => heard.push(document.getElementById('announced').textContent))"
                ".observe(document.getElementById('announced'), { childList: true })"
            )
            begun = time.monotonic()
            for _ in range(20):
                asking.send(session, CRASH)
                time.sleep(0.05)
            wait(page, "#verdict", "after 20 records")
            asking.send(session, {"action": "complete", "parameters": {"p": "g0"}})
            wait(page, "#announced", "Nonconformance at record 21")
            # One for the other verdict, and one for each five seconds.
            assert len(page.evaluate("heard")) <= 2 + (time.monotonic() - begun) / 5
            assert page.get_attribute("#announced", "aria-live") == "polite"


def test_without_a_token_no_session_is_listed(browser: Browser) -> None:
    with client() as asking:
        asking.create()
        with opened(browser, asking, "/live") as page:
            wait(page, "#connection", "a server without a token lists no sessions; open the address 'live'")


def test_a_lost_connection_is_tried_again(browser: Browser) -> None:
    with client() as asking:
        _, live = asking.create()
        context = browser.new_context(base_url=str(asking.http.base_url))
        page = context.new_page()
        page.route("**/views/*", lambda route: route.abort())
        page.goto(f"/live/{live}")
        wait(page, "#connection", "The connection was lost. The page tries again in 1 second.")
        page.unroute("**/views/*")
        wait(page, "#connection", "Connected.")
        context.close()


def test_names_with_markup_are_text(browser: Browser) -> None:
    names = {"PodGroup": [ATTACK, COMMENT], "Cell": [f"c{ATTACK}", "c1"]}
    with client() as asking:
        session, live = asking.create({"schedproof": 1, "system": "hived", "objects": names})
        record = {"action": "allocate", "parameters": {"p": ATTACK, "K": [f"c{ATTACK}"]}}
        asking.send(session, record)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", f"{ATTACK} is allocated {{c{ATTACK}}} (record 1)")
            asking.send(session, record)
            wait(page, "#verdict", "Nonconformance at record 2")
            assert ATTACK in page.inner_text("#verdict")
            assert page.locator("img").count() == 0
            assert page.title() == "hived as-written, live"


@pytest.mark.parametrize("scheme", thinned(["light", "dark"], 2, first=1))
def test_axe_finds_nothing_serious(browser: Browser, scheme: str) -> None:
    with client(TOKEN) as asking:
        session, _ = asking.create()
        asking.send(session, ALLOCATE, PREEMPT)
        with opened(browser, asking, "/live", color_scheme=scheme, bypass_csp=True) as page:
            page.locator("#token").wait_for()
            assert serious(page) == []
            page.fill("#token", TOKEN)
            page.keyboard.press("Enter")
            page.locator("#sessions a").wait_for()
            assert serious(page) == []
            page.locator("#sessions a").click()
            wait(page, "#now", "Step 2 of 2")
            assert serious(page) == []
            asking.send(session, COMPLETE)
            wait(page, "#verdict", "Nonconformance")
            page.keyboard.press("ArrowLeft")
            assert serious(page) == []


def test_it_is_legible_at_400_percent(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create(HIVED)
        asking.send(session, ALLOCATE, PREEMPT, COMPLETE)
        with opened(browser, asking, f"/live/{live}", viewport={"width": 320, "height": 256}) as page:
            wait(page, "#verdict", "Nonconformance")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


COUNTING = """
const add = EventTarget.prototype.addEventListener, added = [];
EventTarget.prototype.addEventListener = function (name, listener, options) {
  if (this instanceof Node || this === window) added.push(options?.signal ?? { aborted: false });
  return add.call(this, name, listener, options);
};
window.listening = () => added.filter((signal) => !signal.aborted).length;
"""
"""Counts what listens to the page."""


def test_a_run_that_is_replaced_listens_no_more(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        with opened(browser, asking, f"/live/{live}", COUNTING) as page:
            wait(page, "#now", "The initial state.")
            first = page.evaluate("listening()")
            for number in range(1, 6):
                asking.send(session, CRASH)
                wait(page, "#now", f"Step {number} of {number}")
            assert page.evaluate("listening()") == first > 5


@pytest.mark.long
def test_a_busy_session_does_not_fill_the_page(browser: Browser) -> None:
    """Records come faster than the page shows them: it shows the last ones, and keeps nothing of the others."""
    with client(pause=0.1) as asking:
        session, live = asking.create()
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#connection", "Connected.")
            for _ in range(20):
                asking.send(session, *[CRASH] * 100)
            wait(page, "#verdict", "after 2,000 records")
            wait(page, "#fits", "The run explains records 1,8")
            assert page.evaluate("JSON.parse(document.getElementById('data').textContent).steps.length") < 200
            assert page.locator("#lanes thead th").count() < 50
            assert until(lambda: page.evaluate("document.querySelectorAll('*').length") < 2000, 1)


def test_an_expression_goes_on_with_the_run(browser: Browser) -> None:
    """Also one that the reader still types: a new record does not write over it."""
    with client() as asking:
        session, live = asking.create()
        asking.send(session, ALLOCATE)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", "Step 1 of 1")
            page.fill("#expression", "c0 Red")
            page.keyboard.press("Enter")
            wait(page, "#expression-problem", "Character 4: unknown state “Red” of Cell")
            page.fill("#expression", "c0.user = g0 and c0 Used")
            page.keyboard.press("Enter")
            wait(page, "#expression-result", "true here; true at step 1")
            page.keyboard.type(" or g1 Pre")
            asking.send(session, PREEMPT)
            wait(page, "#now", "Step 2 of 2")
            wait(page, "#expression-result", "false here; true at step 1")
            assert page.input_value("#expression") == "c0.user = g0 and c0 Used or g1 Pre"
            page.fill("#expression", "PodGroup.e1 on g1")
            page.keyboard.press("Enter")
            wait(page, "#expression-result", "true here; true at step 2")
            page.click("#expression-help summary")
            assert "Cell (c0, c1): state (Free, " in page.inner_text("#expression-words")
            assert serious(page) == []


def test_a_step_that_was_not_taken_can_be_played(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        asking.send(session, ALLOCATE)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", "Step 1 of 1")
            assert "A live page has the enabled steps of the last 10 states" in page.inner_text("#next")
            page.get_by_role("button", name="g1 begins to preempt what runs on {c0, c1}").click()
            wait(page, "#now", "Step 2, which is not of the run")
            assert columns(page) == ["Start", "Step 1", "↳ Step 2"]
            asking.send(session, CRASH)
            wait(page, "#pending", "there is 1 new record")
            assert columns(page) == ["Start", "Step 1", "↳ Step 2"], "the reader stays there"
            page.locator("#follow").click()
            wait(page, "#now", "Step 2 of 2: the scheduler crashes and restarts (record 2).")
            page.keyboard.press("ArrowLeft")
            own_step = page.locator("#next li.taken")
            assert "the scheduler crashes and restarts (the run takes it)" in own_step.inner_text()
            assert serious(page) == []


def test_the_enabled_steps_of_earlier_states_are_left_out(browser: Browser) -> None:
    with client() as asking:
        session, live = asking.create()
        for record in (ALLOCATE, *[CRASH] * 12):
            asking.send(session, record)
        with opened(browser, asking, f"/live/{live}") as page:
            wait(page, "#now", "Step 13 of 13")
            assert page.locator("#next li").count() > 0
            page.keyboard.press("Home")
            assert page.locator("#next li").count() == 0
            assert "A live page has the enabled steps of the last 10 states" in page.inner_text("#next")
