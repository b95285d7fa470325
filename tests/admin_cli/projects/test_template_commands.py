"""``crowdctl template``."""

from __future__ import annotations

from crowdd.features.gallery.gallery import SHIPPED


def test_templates_are_listed_added_and_removed(crowdctl):
    templates = crowdctl.json("template", "list")
    assert len(templates) >= 16 and all(each["shipped"] for each in templates)
    made = crowdctl.json("template", "add", str(SHIPPED / "boxes"))
    assert made["name"].startswith("t-") and made["title"] == "Draw boxes around objects"
    (added,) = [each for each in crowdctl.json("template", "list") if not each["shipped"]]
    assert added["offered"] and added["owner"] == ""
    assert crowdctl.json("template", "remove", made["name"], "--yes") == {"name": made["name"]}
    crowdctl("template", "remove", "survey", "--yes")
    (hidden,) = [each for each in crowdctl.json("template", "list") if each["hidden"]]
    assert hidden["name"] == "survey"
