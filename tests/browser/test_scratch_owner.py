import uuid

import pytest

pytestmark = pytest.mark.browser


def test_shots(live_server, browser, new_person):
    person = new_person()
    short = f"night-{uuid.uuid4().hex[:6]}"
    person.api(
        "POST",
        "project",
        {
            "name": "Who walks through the night gate " + short,
            "short_name": short,
            "description": "Which animal came through?",
            "long_description": "The A13 cuts a forest in two.\n\n# What happens\n\nGood things.",
        },
    )
    at = f"/project/{short}/"
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_cookies(person.cookies(live_server.url))
    page = context.new_page()
    log = []
    page.on("console", lambda m: log.append(m.text))
    page.on("pageerror", lambda e: log.append(str(e)))

    def shot(path, name, dark=False):
        page.emulate_media(color_scheme="dark" if dark else "light")
        for wide, high in ((1280, 900), (360, 780)):
            page.set_viewport_size({"width": wide, "height": high})
            page.goto(live_server.url + path)
            page.wait_for_timeout(900)
            page.screenshot(path=f"/tmp/shots/{name}-{wide}.png", full_page=True)

    shot("/project/new", "new")
    shot(at + "tasks/taskpresentereditor", "options")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(live_server.url + at + "tasks/taskpresentereditor")
    page.click("text=Use the picture with buttons")
    print(page.url)
    page.wait_for_timeout(1500)
    shot(at + "tasks/taskpresentereditor", "editor")
    frame = page.frame_locator("#preview iframe")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(live_server.url + at + "tasks/taskpresentereditor")
    page.fill("[name=answers]", "A fox\nA marten\nNobody")
    page.wait_for_timeout(1500)
    frame.locator("button", has_text="A marten").click()
    page.wait_for_timeout(1000)
    print(page.inner_text("#preview-said"))
    page.screenshot(path="/tmp/shots/editor-said.png", full_page=True)
    shot(at, "project-owner")
    shot(at + "settings", "settings", dark=True)
    shot(at + "update", "update")
    shot(at + "coowners", "coowners")
    shot(at + "transferownership", "transfer")
    shot(at + "delete", "delete", dark=True)
    shot(at + "auditlog", "audit")
    shot(at + "blog", "blog")
    shot(at + "new-blogpost", "newpost")
    shot("/project/search?q=axolotl", "search")
    shot("/project/category/all/", "category")
    shot(at + "publish", "publish")
    print(log)
