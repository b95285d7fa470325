"""crowdctl site."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image


def test_settings_are_shown_set_refused_and_restored(crowdctl, rows, tmp_path: Path):
    shown = crowdctl.json("site", "show")
    assert (shown["name"], shown["signup"], shown["default_redundancy"]) == ("crowdd", "open", 5)
    assert crowdctl.json("site", "set", "name", "Lake [bold]Watch") == {"name": "name", "changed": True}
    assert crowdctl.json("site", "set", "name", "Lake [bold]Watch")["changed"] is False
    assert "name = Lake [bold]Watch" in crowdctl("site", "show").output
    (tmp_path / "about.md").write_text("# Lakes\n\nWe count.")
    crowdctl("site", "set", "about", "--language", "de", "--file", str(tmp_path / "about.md"))
    assert crowdctl.json("site", "show")["about.de"] == "# Lakes\n\nWe count."
    refused = crowdctl.refused("site", "set", "accent_light", "#ffffff")
    assert "1.00:1" in refused and "4.5:1" in refused
    Image.new("RGB", (900, 90), "red").save(tmp_path / "logo.png")
    crowdctl("site", "set", "logo", "--file", str(tmp_path / "logo.png"))
    assert crowdctl.json("site", "show")["logo"].startswith("site/")
    crowdctl("site", "set", "logo", "")
    crowdctl("site", "set", "name", "")
    assert crowdctl.json("site", "show")["name"] == "crowdd" and crowdctl.json("site", "show")["logo"] is None
    acts = [
        (row["via"], row["attribute"])
        for row in rows("SELECT via, attribute FROM audit WHERE kind = 'site' ORDER BY id")
    ]
    assert acts == [("cli", name) for name in ("name", "about.de", "logo", "logo", "name")]


def test_an_invitation_is_a_link(crowdctl, rows):
    link = urlsplit(crowdctl.json("site", "invite", "--note", "Ada", "--days", "3")["link"])
    assert (link.path, link.query[:11]) == ("/account/register", "invitation=")
    (row,) = rows("SELECT data->>'note' AS note FROM one_time_link WHERE purpose = 'signup'")
    assert row["note"] == "Ada"
    assert "90" in crowdctl.refused("site", "invite", "--days", "91")
    crowdctl.json("site", "invite", "--email", "ada@example.org", "--language", "fr")
    (mail,) = rows("SELECT recipient, locale FROM mail WHERE template = 'invitation'")
    assert (mail["recipient"], mail["locale"]) == ("ada@example.org", "fr")
    assert "address" in crowdctl.refused("site", "invite", "--email", "ada")
