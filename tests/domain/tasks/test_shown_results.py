"""How a finished task is shown on the page of results."""

from __future__ import annotations

from typing import Any

from crowdd.features.results.result_display import public_task, show_task

PARTS = [{"start": nth, "end": nth + 0.5, "label": "bird"} for nth in range(5)]


def shown(info: dict[str, Any]) -> dict[str, Any]:
    field = {"name": "calls", "type": "spans", "value": PARTS}
    return show_task({"task_id": 1, "task_info": info, "fields": [field], "votes": []}, {})


def test_parts_of_a_recording_say_when_and_those_of_a_text_what():
    sound = shown({"sound": "/uploads/1/a.wav", "filename": "dawn.wav"})
    assert sound["fields"][0]["seconds"] == [(0, 0.5), (1, 1.5), (2, 2.5)], "the first ones"
    assert sound["title"] == "dawn.wav"
    text = shown({"text": "A fox and an owl", "filename": "a.txt", "title": "Fable"})
    assert "seconds" not in text["fields"][0] and text["fields"][0]["passages"]
    assert text["title"] == "Fable"
    for task in (sound, text):
        assert public_task(task)["fields"] == [{"name": "calls", "type": "spans", "value": PARTS}], "for programs"
