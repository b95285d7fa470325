"""The map that a site offers reaches the frames of projects."""

from __future__ import annotations

import json
import re

import pytest_twisted

FRAME = {"Accept": "text/html", "Sec-Fetch-Dest": "iframe"}
TILES = "https://tiles.example.org/{z}/{x}/{y}.png"
QUESTION = {"name": "where", "type": "map_place", "text": "Where?", "on": "chart"}
CHART = {"name": "chart", "type": "map", "site_map": True, "description": "A chart"}
QUESTIONS = {"version": 1, "steps": [{"name": "s", "media": [CHART], "questions": [QUESTION]}]}


@pytest_twisted.ensureDeferred
async def test_frames_know_the_map_of_the_site(serve):
    served = await serve(CROWDD_MAPS_TILES=TILES, CROWDD_MAPS_ATTRIBUTION="© Maps & <more>")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    info = {"questions": QUESTIONS, "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    html = (await served.client().get("/project/birds/newtask?_presenter=1", headers=FRAME)).text
    offered = re.search(r'id="questions-map">(.*?)</script>', html)
    assert offered and json.loads(offered[1]) == {"tiles": TILES, "attribution": "© Maps & <more>"}


@pytest_twisted.ensureDeferred
async def test_frames_of_other_sites_know_none(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    info = {"questions": QUESTIONS, "task_presenter": None}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    html = (await served.client().get("/project/birds/newtask?_presenter=1", headers=FRAME)).text
    assert "site_map" in html and "questions-map" not in html
