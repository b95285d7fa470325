"""The frame of a locked project shows the project's pictures, although a browser sends no cookies with them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from support.checks.shows import shows

pytestmark = pytest.mark.browser
PRESENTER = """<img id="own" src="OWN"><img id="task">
<script>pybossa.newTask('MINE').done((got) => { document.getElementById('task').src = got.task.info.picture; });</script>"""
WIDTHS = "['own', 'task'].map((id) => document.getElementById(id).naturalWidth)"


def picture() -> bytes:
    out = BytesIO()
    Image.new("RGB", (37, 20), (200, 10, 10)).save(out, "PNG")
    return out.getvalue()


def uploaded(stage: Any) -> str:
    """The path of a picture among the project's files."""
    parts = [
        b'--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n%d\r\n' % stage.mine.id,
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + picture() + b"\r\n--x--\r\n",
    ]
    path = f"/api/helpingmaterial?api_key={stage.mine.owner.key}"
    made = stage.mine.owner.ask("POST", path, b"".join(parts), Content_Type="multipart/form-data; boundary=x")
    assert made.status == 200, made.text
    return "/uploads/" + made.json["media_url"].partition("/uploads/")[2]


@shows("presenter-files")
def test_pictures_of_a_locked_project_show_in_its_frame(stage: Any) -> None:
    owner, at = stage.mine.owner, f"/project/{stage.mine.short_name}"
    path = uploaded(stage)
    for task in stage.mine.tasks:
        owner.api("PUT", f"task/{task}", {"info": {"picture": path}})
    owner.prove()  # the stage may be older than a proof is good
    token = owner.ask("GET", f"{at}/publish").json["csrf"]
    form = {"btn": "Password", "protect": True, "password": "sesame"}
    assert owner.ask("POST", f"{at}/update", form, **{"X-CSRFToken": token}).json["status"] == "success"
    stage.sign_in(owner)
    frame = stage.show(PRESENTER.replace("OWN", path))
    stage.until(lambda: frame.evaluate(WIDTHS) == [37, 37])
    asked = [one.path for one in stage.asked() if "/uploads/" in one.path]
    assert asked and all("~" in one for one in asked), asked
