"""Contexts for every page: as in life, with nothing there, and full of what nobody should be able to send."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from markupsafe import Markup

from crowdd.core.text.markdown import Rendered, render
from crowdd.features.analyses.methods import METHODS
from crowdd.features.chains.forms import FIELDS as STEP_FIELDS
from crowdd.features.publishing import publishing
from crowdd.features.questions.first_step import first_step
from crowdd.features.results import agreement_chart
from crowdd.features.results.charts import Charts
from crowdd.features.results.maps import draw_map
from crowdd.features.results.question_results import (
    cross_of,
    crossable,
    method_of,
    question_results,
    shown_fields,
)
from crowdd.features.results.result_display import drawings
from crowdd.features.results.results import Asked, SentFiles
from crowdd.features.results.rows import AgreementFigures, AnswerSample, CheckedShare, ResultSample
from crowdd.features.site.admin_pages import DETAILS, WORDS
from crowdd.features.tasks.marked_media import marked_media
from crowdd.features.trust.adaptive_pages import chart
from crowdd.features.trust.rule_pages import ROWS
from crowdd.features.trust.sampling import share_of
from crowdd.features.trust.weighing import calibration
from crowdd.http.api import operations
from crowdd.http.api.openapi import document
from crowdd.http.api.reference import error_codes, sections
from crowdd.http.html.images import qr_code
from crowdd.http.responses import JsonResponse
from crowdd.http.routing import Route
from crowdd.kinds.answer_files import FILE_KINDS
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.answers.reading import value_at
from crowdd.kinds.answers.words import words_of
from crowdd.kinds.chains import TESTS
from crowdd.kinds.questions.declarations import declarations
from crowdd.kinds.task import TASK
from crowdd.kinds.task_rules import ACTIONS, MEASURES, OF_A_CHOICE, SHARES

Context = dict[str, Any]
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> ${7*7}{{7*7}}"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
ARABIC = "من يعبر بوابة الليل"
STRANGE = {"hostile": EVIL, "long words": LONG, "right to left": ARABIC}


class Case(NamedTuple):
    """One page to be rendered: the template, what is special, the context."""

    template: str
    kind: str
    context: Context


class Word(str):
    """A text that nobody outside writes."""


class Who:
    """The frame's ``who``."""

    def __init__(self, name: str = "", fullname: str = "", *, admin: bool = False) -> None:
        self.signed_in, self.name, self.fullname, self.admin = bool(name), name, fullname, admin
        self.guest = False


class LaidOut:
    """The HTML of every text that a page asks for."""

    def __getitem__(self, key: tuple[str, int]) -> Rendered:
        return render(*key)


VISITOR = Who()
ILSE = Who("ilse", "Ilse Verbruggen", admin=True)


def frame(who: Who = VISITOR, path: str = "/", **more: Any) -> Context:
    """The names that every page has."""
    return {
        "who": who, "path": path, "csrf": "c5rf-t0ken", "csp_nonce": "n0nce", "flashes": [], "locale": "en",
        "direction": "ltr", "theme": "", "prose": LaidOut(),
    } | more  # fmt: skip


def project(number: int, name: str, share: int | None, tasks: int | None, **more: Any) -> Context:
    """A project's summary record."""
    return {
        "id": number, "name": name, "short_name": name.lower().replace(" ", "-"),
        "description": SENTENCES[number % len(SENTENCES)], "info": {}, "n_tasks": tasks,
        "n_volunteers": 1870 // number, "overall_progress": share,
    } | more  # fmt: skip


SENTENCES = (
    "Cameras under a motorway bridge. Say which animal came through, and which way it went.",
    "Does this galaxy have arms? Look, and say what you see.",
    "Ships wrote down wind and pressure every watch. Type one line, and a storm of 1887 returns to the map.",
    "Herbarium sheets from 1840 to 1910. Read the label, place the pin.",
    "Four seconds of a spring morning as a picture of sound. Box the songs you can see.",
    "Count the diatoms in a drop of very old mud.",
    "Rivers that cannot make up their mind. Trace where the water runs this month.",
    "Mark every grey seal on the beach. Pups are the pale ones.",
)

GALAXIES = project(1, "Arms of distant galaxies", 63, 198000, info={"thumbnail_url": "/uploads/1/galaxy.webp"})
NIGHT = project(
    8, "Who walks through the night gate", 73, 42650,
    info={"thumbnail_url": "https://crowdd.example/uploads/8/night.webp"},
)  # fmt: skip
OTHERS = [
    project(2, "Weather before the war", 33, 261400, info={"language": "de"}), project(3, "Pressed and forgotten", 97, 18400),
    project(4, "Dawn chorus", 15, 60000), project(5, "Glass shells of Lake Ohrid", 79, 5200),
    project(6, "Braided", 29, 75000), project(7, "Seals from above", 100, 14876),
]  # fmt: skip
SUBJECTS = [
    {"id": None, "name": "Featured", "short_name": "featured", "description": "", "created": None},
    *(
        {"id": number, "name": name, "short_name": name.lower(), "description": f"Projects about {name.lower()}.",
         "created": "2024-01-12T09:30:00.000000"}
        for number, name in enumerate(("Nature", "Climate", "Space", "History", "Earth", "Language", "Medicine"), 1)
    ),
]  # fmt: skip
PEOPLE = [
    {"id": number, "rank": number, "name": name, "fullname": fullname, "score": score}
    for number, (name, fullname, score) in enumerate(
        (("amina", "Amina Bensaïd", 2318), ("tomasz_w", None, 1990), ("yuki", "Yuki Tanabe", 1644),
         ("ilse", "Ilse Verbruggen", 1207), ("mateus", "Mateus Lima", 1155)), 1,
    )
]  # fmt: skip
PULSE = [3 + (hour * hour * 7) % 40 for hour in range(72)]
STORY = """The A13 cuts a forest in two. In 2019 a green bridge and six tunnels were built, and nobody knew whether
anything would use them. So we hung cameras in the tunnels. They take a picture whenever something warm walks by: foxes,
martens, hedgehogs, now and then a badger with *opinions*, and very often a jogger.

# What happens with your answers

Each picture goes to at least three people. When they agree it is finished, when they don’t it goes to more. The
[road authority](https://roads.example/plans) uses the table to decide where the next tunnel goes.
"""
PAGE_KEYS: Context = {
    "owner": {"name": "ilse", "fullname": "Ilse Verbruggen"}, "n_tasks": 42650, "n_completed_tasks": 31204,
    "n_task_runs": 127340, "n_volunteers": 1870, "overall_progress": 73, "last_activity": "2025-11-20T21:44:00.000000",
    "pro_features": {"auditlog_enabled": True, "autoimporter_enabled": False, "webhooks_enabled": True},
    "title": "Who walks through the night gate",
}  # fmt: skip
STEPS: list[Context] = [
    {"name": "Transcribe the lines", "short_name": "lines", "before": False, "open": True},
    {"name": "Sort the boxes", "short_name": "boxes", "before": True, "open": True},
    {"name": "Check", "short_name": "check", "before": False, "open": False},
]
OVERVIEW: Context = {
    "steps": STEPS,
    "subject": "Nature", "subject_name": "nature", "n_here": 38, "n_agreement": 1000, "agreement": 0.94,
    "leaders": [{"name": one["name"], "fullname": one["fullname"], "info": {}, "answers": one["score"]} for one in PEOPLE],
}  # fmt: skip
AGREED: list[Context] = [
    {"task_id": 31204, "title": "Gate 4, 02:41", "pictures": ["/uploads/8/night.webp"], "answer": "Red fox, going north",
     "n": 3, "total": 3},
    {"task_id": 31203, "title": "", "pictures": [], "answer": None, "n": 2, "total": 3},
    {"task_id": 31202, "title": "", "pictures": ["https://elsewhere.example/1.jpg"], "answer": {"boxes": [1, 2]}, "n": 4,
     "total": 5},
]  # fmt: skip
UNUSED: Context = {
    "n_tasks": 0, "n_completed_tasks": 0, "n_task_runs": 0, "n_volunteers": 0, "overall_progress": 0,
    "last_activity": None,
}  # fmt: skip
PUBLIC = NIGHT | {
    "published": True, "long_description": STORY, "n_blogposts": 9, "contrib_button": "can_contribute",
    "allow_anonymous_contributors": True, "n_tasks": None, "n_volunteers": None, "overall_progress": None,
}  # fmt: skip
OWNED = PUBLIC | {"secret_key": "5f0c9f3c-71aa-4c1e-9d0a-0b1f2e60a51c", "zip_download": True, "webhook": None}
TRY = {"try_link": "https://crowd.example.org/project/owls/?try=0f1e2d3c4b5a69788796a5b4c3d2e1f0"}
DRAFT = OWNED | {"published": False, "contrib_button": "draft", "long_description": "", "info": {}, "n_blogposts": 0}
READY = OWNED | {"published": False, "contrib_button": "publish", "info": {"task_presenter": "<div></div>"}}
WELL: Context = {
    "import_id": None, "import_state": None, "webhook_off": False, "webhook_failing": False, "n_failed_deliveries": 0,
    "n_failed_work": 0, "n_broken": 0, "broken_task": None, "n_comments": 0, "n_disputed": 0, "n_failed_comparisons": 0,
}  # fmt: skip
UNWELL = WELL | {
    "import_id": 4, "import_state": Word("dead"), "webhook_off": True, "n_failed_work": 2, "n_broken": 1041, "broken_task": 28114, "n_comments": 3, "n_disputed": 1001,
    "n_failed_comparisons": 2,
}  # fmt: skip
NOW: Context = {
    "n_wanted": 127950, "n_anonymous": 1204, "counted_per_network": 1, "prioritised": False, "n_at_work": 3, "n_barred": 0, "n_reviewers": 2, "n_translations": 2,
    "category": "Nature", "webhook_off": False, "webhook_failing": False,
}  # fmt: skip
PERSON: Context = {
    "name": "ilse", "fullname": "Ilse Verbruggen", "created": "2023-03-04T10:00:00.000000", "locale": "en",
    "n_answers": 4318, "rank": 214, "score": 4318,
}  # fmt: skip
SELF = PERSON | {
    "id": 5, "email_addr": "ilse@example.org", "api_key": "0d9c3b5e-8f3e-4a55-9bf1-0a6f1f2e5f0c", "admin": True,
    "privacy_mode": False, "valid_email": True,
}  # fmt: skip
ACCOUNT_FORM: Context = {
    "name": "", "fullname": "", "email_addr": "", "password": "", "confirm": "", "csrf": "form-t0ken", "errors": {},
}  # fmt: skip
WRONG_ACCOUNT = ACCOUNT_FORM | {
    "fullname": "Ruth", "email_addr": "ruth@", "password": "hunter2", "errors": {
        "email_addr": ["This needs something after the @."], "name": ["Please choose one.", "Letters and digits."],
    },
}  # fmt: skip
SIGN_IN: Context = {"passkeys": True,
    "form": {"email": "", "password": "", "csrf": "form-t0ken", "errors": {}}, "title": "Sign in", "next": None,
    "auth": {"google": True, "github": True, "orcid": False},
}  # fmt: skip
PEOPLE_FULL = [person | {"registered_ago": "3 days ago", "n_answers": person["score"], "info": {}} for person in PEOPLE]
FEED: list[Context] = [
    {
        "action_updated": "UserContribution",
        "u_name": "ilse",
        "p_name": "Braided",
        "p_short_name": "braided",
        "updated": 1763675400,
    },
    {"action_updated": "User", "u_name": "ilse", "updated": 1763675300},
    {"action_updated": "Task", "p_name": "Braided", "p_short_name": "braided", "updated": 1763675200},
    {
        "action_updated": "Project",
        "u_name": "ilse",
        "p_name": "Braided",
        "p_short_name": "braided",
        "updated": 1763675100,
    },
    {
        "action_updated": "Blogpost",
        "u_name": None,
        "p_name": "Braided",
        "p_short_name": "braided",
        "updated": 1763675000,
    },
]
DEVICES: list[Context] = [
    {"id": 3, "device": "Firefox on Linux", "created": "2025-11-01T08:00:00.000000",
     "last_seen": "2025-11-20T21:49:00.000000", "current": True},
    {"id": 2, "device": "Safari on iPhone", "created": "2025-10-01T08:00:00.000000",
     "last_seen": "2025-11-20T18:00:00.000000", "current": False},
]  # fmt: skip
WAYS_IN = [
    {"id": "provider-orcid", "kind": "provider", "name": "ORCID", "created": "2025-11-19T21:40:00.000000", "last_used": None},
    {"id": "passkey-3", "kind": "passkey", "name": "Phone", "created": "2025-11-20T21:40:00.000000", "last_used": "2025-11-21T21:40:00.000000"},
    {"id": "authenticator", "kind": "authenticator", "name": "", "created": "2025-11-20T21:50:00.000000", "last_used": None},
    {"id": "recovery_codes", "kind": "recovery_codes", "name": "", "created": "2025-11-20T21:50:00.000000", "last_used": None},
]  # fmt: skip
SETTINGS: Context = {
    "form": {
        "id": 5, "name": "ilse", "fullname": "Ilse Verbruggen", "email_addr": "ilse@example.org", "locale": "en",
        "privacy_mode": True, "subscribed": False, "catalog_api": None, "csrf": "form-t0ken", "errors": {},
    },
    "password_form": dict.fromkeys(("current_password", "new_password", "confirm")) | {"csrf": "t0ken", "errors": {}},
    "upload_form": dict.fromkeys(("id", "avatar", "x1", "y1", "x2", "y2")) | {"csrf": "form-t0ken", "errors": {}},
    "usage": {
        "projects": {"used": 3, "max": 500}, "tasks": {"used": 12_345, "max": 5_000_000}, "bytes": {"used": 1_234_567, "max": 0},
    },
    "show_passwd_form": True, "revoke": False, "ways_in": [], "keep": [], "flash": None, "title": "Settings", "user": SELF, "locales": {"en": "English"},
    "providers": [
        {"name": "google", "title": "Google", "connected": True}, {"name": "orcid", "title": "ORCID", "connected": False},
    ],
}  # fmt: skip
PAGINATION: Context = {"page": 1, "per_page": 20, "total": 37, "prev": False, "next": True}
ERRORS = {
    400: "The CSRF token is missing.", 401: "", 403: "Only owners may do that.", 404: "404 Not Found",
    429: "That was 300 requests in 15 minutes.", 500: "", 503: "",
}  # fmt: skip


def home(**more: Any) -> Context:
    """The home page as on a site in use."""
    return {
        "featured": [GALAXIES, NIGHT], "top_projects": [NIGHT, *OTHERS], "categories": SUBJECTS, "top_users": PEOPLE,
        "categories_projects": {"featured": [GALAXIES, NIGHT], "nature": [NIGHT, OTHERS[1], OTHERS[2]]},
        "headline": None, "intro": None, "steps": None,
    } | more  # fmt: skip


EMPTY_HOME: Context = {
    "featured": [],
    "top_projects": [],
    "categories": SUBJECTS[:2],
    "top_users": [],
    "categories_projects": {},
    "headline": None,
    "intro": None,
    "steps": None,
}


@functools.cache
def plain_cases() -> tuple[Case, ...]:
    """Every page in its ordinary states."""
    return tuple(_plain())


def strange(case: Case, words: str) -> Case:
    """The same page with other words in all that somebody outside may have written: one of STRANGE."""
    changed = _all(STRANGE[words])(copy.copy(case.context))
    direction = {"locale": "ar", "direction": "rtl"} if words == "right to left" else {}
    return Case(case.template, f"{case.kind}, {words}", changed | direction)


@functools.cache
def cases() -> tuple[Case, ...]:
    """Every page in its ordinary states, then each of them with hostile, long and Arabic words."""
    plain = plain_cases()
    return (*plain, *(strange(case, words) for case in plain for words in STRANGE))


def _plain() -> Iterator[Case]:
    yield from _home_cases()
    yield from _project_cases()
    yield from _account_cases()
    yield from _participation_cases()
    yield from _administration_cases()
    yield from _statistics_cases()
    for code, description in ERRORS.items():
        error = {"code": code, "description": description, "request_id": "9f3c-71aa"}
        yield Case(f"{code}.html", "stranger", frame(path="/project/gone/") | error)
        yield Case("error.html", f"{code}, signed in", frame(ILSE) | error | {"retry_after": 160})
    refused = {"code": 403, "description": "You are not allowed to do this.", "request_id": "9f3c-71aa"}
    yield Case("error.html", "no administrator", frame(Who("mo", "Mo Ba"), "/admin/dashboard/") | refused)
    own = refused | {"description": "You cannot remove your own administrator rights."}
    yield Case("error.html", "an administrator", frame(ILSE, "/admin/users/del/1") | own)
    yield Case("about/design.html", "all parts", frame(ILSE, "/about/design"))
    yield Case("about/text.html", "a text", frame(path="/about") | {"title": "About", "content": STORY})
    own = {"title": "About", "content": STORY, "language": "de"}
    yield Case("about/text.html", "a text of administrators", frame(path="/about") | own)
    yield Case("about/api.html", "whole", frame(path="/api/docs") | api_docs())


def api_docs() -> Context:
    """What the page of the API gets, of one kind."""
    routes = [
        Route("GET", "/api/task", _nothing, operation=operations.listing(TASK)),
        Route("POST", "/api/task", _nothing, operation=operations.creating(TASK)),
        Route("DELETE", "/api/task/<int:object_id>", _nothing, operation=operations.deleting(TASK)),
    ]
    made = document([TASK], routes, "The API", "1.0")
    described = {"about": made["info"]["description"], "sections": sections(made), "error_codes": error_codes()}
    return {"title": "API", **described}


async def _nothing(*_: object) -> JsonResponse:
    return JsonResponse(None)


FORM: Context = {"csrf": "form-t0ken", "errors": {}}
BLANK: Context = FORM | {"title": None, "body": None, "media_url": None, "published": True}
WRONG_NAME = {"errors": {"name": ["There is one."]}}
NEWS: Context = {
    "id": 4, "title": "A pause on Friday", "body": STORY, "created": "2025-11-19T09:30:00.000000", "published": False,
    "media_url": "/uploads/site/news.webp", "user_id": 1, "info": {},
}  # fmt: skip
ACT: Context = {
    "id": 9, "at": "2025-11-19T09:30:00.000000", "user_id": 1, "user_name": "ilse", "via": "web", "action": "update",
    "kind": "project", "object_id": 8, "project_id": 8, "attribute": "name", "before": "Night", "after": {"a": ["b"]},
    "network": "31.8.122.9", "request_id": "f00dbeef",
}  # fmt: skip
SEEN: Context = {
    "id": 9, "at": "2025-11-19T09:00:00.000000", "last_at": "2025-11-19T09:30:00.000000", "count": 12,
    "kind": "sign_in_failed", "user_id": 1, "user_name": "ilse", "actor_id": None, "actor_name": None, "tried": "",
    "network": "31.8.122.9", "request_id": "f00dbeef", "agent": "Firefox", "detail": "",
}  # fmt: skip
HANDLER: Context = {
    "id": 3, "name": "import", "state": "running", "error": "", "done": 40, "total": 90, "cancelling": False,
    "began": "2025-11-20T21:40:00.000000", "created": "2025-11-20T21:39:00.000000",
}  # fmt: skip
IN_WEEK: Context = {
    "day": "2025-11-19", "id": 8, "short_name": "night", "p_name": "Night", "owner_id": 1, "u_name": "ilse", "email_addr": "",
}  # fmt: skip


def week(*figures: int) -> Context:
    """A chart of the dashboard."""
    return {"labels": [f"2025-11-{14 + day}" for day in range(7)], "series": [list(figures)]}


_NEWEST_FIRST = "orderby=id&desc=1"
# A list in the middle, and one with a single page (crowdd/http/html/tables.py).
LISTED: Context = {
    "table": {
        "columns": [], "shown": [], "per_page": 25, "sizes": [25, 50, 100], "query": f"{_NEWEST_FIRST}&per_page=25&before=99",
        "sorts": {"id": {"query": "orderby=id&per_page=25", "now": "descending"}}, "kept_by_size": [("orderby", "id"), ("desc", "1")],
        "kept_by_columns": [("orderby", "id"), ("desc", "1"), ("per_page", "25")],
    },
    "page_links": {"first": _NEWEST_FIRST, "previous": f"{_NEWEST_FIRST}&after=98", "next": f"{_NEWEST_FIRST}&before=74"},
}  # fmt: skip
SHORT: Context = LISTED | {"page_links": {"first": None, "previous": None, "next": None}}


def _administration_cases() -> Iterator[Case]:
    def page(name: str, kind: str, **context: Any) -> Case:
        address = {
            "announcement": "/admin/announcement",
            "dashboard": "/admin/dashboard/",
            "invitations": "/admin/site/invitations",
        }.get(name, f"/admin/{name}")
        return Case(f"admin/{name}.html", kind, frame(ILSE, address) | {"title": "Administration"} | context)

    people = [
        SELF | {"id": 7, "restrict": False},
        PERSON | {"id": 8, "admin": False, "restrict": True, "email_addr": "m@x.org"},
    ]
    blank: Context = {"form": FORM | {"user": None}, "found": [], "users": []}
    search: Context = {"chosen": {"words": "ma", "role": ""}, "is_full": False}
    yield page("users", "found", **blank, **SHORT, **search, rows=people)
    yield page("users", "nobody", **blank, **SHORT, **search, rows=[])
    everybody: Context = {"chosen": {"words": "", "role": "blocked"}, "is_full": True, "rows": people}
    yield page("users", "first", **blank, **LISTED, **everybody)
    published: Context = {
        "id": 3, "name": "Night", "short_name": "night", "owner": "ilse", "state": "published", "featured": True,
        "created": "2025-11-20T22:10:00.000000", "n_tasks": 12_000, "n_task_runs": 36_000, "last_activity": None,
    }  # fmt: skip
    paused = published | {"state": "paused", "featured": False, "last_activity": HANDLER["began"]}
    states = ["draft", "published", "paused"]
    shown = {"chosen": {"state": "paused", "owner": "ilse"}, "states": states}
    listed_projects = [published, paused, published | {"state": "draft"}]
    yield page("projects", "some", **LISTED, **shown, projects=listed_projects, next=2)
    yield page("projects", "none of that state", **SHORT, **shown, projects=[], next=None)
    nothing_chosen = {"state": None, "owner": None}
    yield page("projects", "none", **SHORT, projects=[], next=None, states=states, chosen=nothing_chosen)
    counts = {subject["short_name"]: 3 for subject in SUBJECTS[1:]}
    listed: Context = {"categories": SUBJECTS[1:], "n_projects_per_category": counts, "used": {1}}
    blank = FORM | {"name": None, "description": None}
    yield page("categories", "first", form=blank, **listed)
    yield page("categories", "wrong", form=blank | WRONG_NAME | {"name": "Nature"}, **listed)
    changed = FORM | {"id": 1, "name": "Nature", "description": "Out there."}
    yield page("update_category", "first", category=SUBJECTS[1], form=changed)
    yield page("update_category", "wrong", category=SUBJECTS[1], form=changed | WRONG_NAME)
    yield page("delete_category", "first", category=SUBJECTS[1], form=FORM)
    projects = [NIGHT | {"featured": True}, *(other | {"featured": False} for other in OTHERS)]
    yield page("featured", "some", categories={"nature": projects, "space": []}, form=FORM)
    yield page("featured", "none", categories={"nature": []}, form=FORM)
    yield page("announcement", "some", announcements=[NEWS, NEWS | {"id": 5, "published": True}], csrf="form-t0ken")
    yield page("announcement", "none", announcements=[], csrf="form-t0ken")
    yield page("edit_announcement", "new", form=BLANK, left_out=[])
    yield page("edit_announcement", "wrong", form=BLANK | NEWS | {"errors": {"title": ["Too long."]}}, left_out=[])
    figures = {
        name: week(3, 5, 8, 12, 1, 0, 2)
        for name in (
            "new_task_runs_week", "active_users_last_week", "active_anon_last_week", "new_users_week", "new_tasks_week",
        )
    }  # fmt: skip
    figures["returning_users_week"] = {"labels": list("1234567"), "series": [[3, 5, 2, 1, 0, 0, 1]]}
    lists = dict.fromkeys(("published_projects_last_week", "draft_projects_last_week", "update_projects_last_week"))
    counted: Context = {
        "totals": {"answers": 31, "users": 12, "anon": 9, "accounts": 31, "tasks": 31},
        "minutes": 4,
        "max_listed": 100,
    }
    recent = {name: [IN_WEEK] * 12 for name in lists}
    yield page("dashboard", "a week", **figures, **counted, **recent, update_feed=FEED, wait=False)
    none: Context = {"totals": dict.fromkeys(counted["totals"], 0), "minutes": 0, "max_listed": 100}
    nothing = dict.fromkeys(figures, week(*[0] * 7))
    yield page("dashboard", "new", **nothing, **none, **{name: [] for name in lists}, update_feed=[], wait=True)
    chosen = {"user": "ilse", "kind": "project"}
    long = ACT | {"before": None, "after": {"description": "A long story. " * 30}}
    yield page(
        "audit", "some", **LISTED, entries=[ACT, long, ACT | {"before": None}], kinds=["project"], chosen=chosen, next=9
    )
    yield page("audit", "none", **SHORT, entries=[], kinds=[], chosen=dict.fromkeys(chosen), next=None)
    made = SEEN | {"kind": "admin_made", "actor_id": 2, "actor_name": "jo", "detail": "web", "user_name": None}
    unknown_account = SEEN | {"user_id": None, "user_name": None, "network": "", "request_id": "", "agent": ""}
    chosen = {"account": "ilse", "kind": "sign_in_failed"}
    seen = [SEEN, made, unknown_account]
    texts = {"words": WORDS, "details": DETAILS}
    yield page("security", "some", **LISTED, **texts, entries=seen, kinds=["admin_made"], chosen=chosen, next=9)
    yield page("security", "none", **SHORT, **texts, entries=[], kinds=[], chosen=dict.fromkeys(chosen), next=None)
    states = ["waiting", "running", "done", "dead", "cancelled"]
    items = [HANDLER | {"id": number, "state": state} for number, state in enumerate(states)]
    unknown = HANDLER | {"id": 9, "total": None, "done": 0, "began": None, "error": "No worker handles this task type."}
    people_of = {item["id"]: "ilse" for item in items} | {9: None}
    every: Context = {"states": states, "form": FORM, "people": people_of}
    yield page("queue", "some", **LISTED, **every, items=[*items, unknown], chosen={"state": "dead"}, next=3)
    yield page("queue", "none", **SHORT, **every, items=[], chosen={"state": None}, next=None)
    job: Context = {
        "name": "fold counters",
        "state": "done",
        "due": "",
        "began": HANDLER["began"],
        "seconds": 0.01,
        "words": "9 folded",
    }
    job |= {"failures": 0, "runs": 90000, "overdue": 0.0}
    jobs = [job | {"name": state, "state": state, "failures": 2} for state in ("new", "running", "failed", "late")]
    yield page("jobs", "some", jobs=[job, *jobs, job | {"name": "never", "began": None, "seconds": None}])
    yield page("jobs", "none", jobs=[])
    letter: Context = {
        "id": 1,
        "recipient": "ruth@example.org",
        "subject": "Your new password",
        "error": "",
        "created": HANDLER["began"],
    }
    letters = [letter | {"id": number, "state": state} for number, state in enumerate(("waiting", "held", "sent"))]
    dead = letter | {"state": "dead", "error": "550 no such mailbox"}
    post: Context = {"states": ["dead"], "form": FORM}
    yield page("mail", "some", **LISTED, letters=[*letters, dead], chosen={"state": "dead"}, to="a@x.org", **post)
    yield page("mail", "none", **SHORT, letters=[], chosen={"state": None}, to="", **post)
    hook: Context = {
        "short_name": "night",
        "url": "https://lab.example/x?token=1",
        "state": "on",
        "why_off": "",
        "n_waiting": 0,
    }
    hook |= {"n_failed": 0, "next_attempt": None, "last_delivered": HANDLER["began"]}
    bad = {"state": "failing", "next_attempt": "2025-11-20T22:10:00.000000", "last_delivered": None, "n_waiting": 341}
    off = {"state": "off", "why_off": "The receiver answered 410."}
    yield page(
        "webhooks", "some", **LISTED, webhooks=[hook | off, hook | bad, hook, hook | {"state": "none", "url": None}]
    )
    yield page("webhooks", "none", **SHORT, webhooks=[])
    yield from _site_cases(page)
    news = [NEWS, NEWS | {"id": 5, "media_url": "https://spy.example/a.png"}]
    yield Case("announcements/index.html", "some", frame(ILSE, "/announcements/") | {"announcements": news})
    yield Case("announcements/index.html", "none", frame(path="/announcements/") | {"announcements": []})


def _site_cases(page: Callable[..., Case]) -> Iterator[Case]:
    """Settings of the site."""
    unset: Context = {
        "name": None, "logo": None, "accent_light": None, "accent_dark": None, "default_redundancy": None, "signup": "open",
        "signups_per_hour": None, "max_projects": None, "version": 0, "updated": None,
    }  # fmt: skip
    usual = {"name": "crowdd", "default_redundancy": 5, "signups_per_hour": 10, "max_projects": 0}
    languages = {"en": "English", "de": "Deutsch", "ar": "العربية"}
    every: Context = {"usual": usual, "names": languages, "form": FORM, "mail_is_on": False}
    made = unset | {
        "name": "Lake Watch", "logo": "site/0a.webp", "accent_light": "#7a1f5c", "signup": "invitation", "max_projects": 3,
    }  # fmt: skip
    steps = {"mail": False, "project": False, "people": True}
    yield page("site", "unset", settings=unset, texts={}, steps=steps, **every)
    yield page("site", "set", settings=made, texts={"about": {"en": STORY}, "intro": {"en": "x"}}, steps=None, **every)
    look: Context = {"version": 3, "usual": usual}
    blank: Context = {"name": None, "accent_light": None, "accent_dark": None}
    yield page("site_look", "first", form=FORM | blank, logo=None, **look)
    wrong = {"accent_light": ["This colour has a contrast of 2:1."], "logo": ["This picture cannot be read."]}
    yield page("site_look", "wrong", form=FORM | made | {"errors": wrong}, logo="site/0a.webp", **look)
    texts: Context = {
        "language": "ar",
        "tabs": [(code, name, f"/admin/site/texts/{code}") for code, name in languages.items()],
        "version": 3,
        "max_characters": dict.fromkeys(TEXT_NAMES, 2000),
    }
    yield page("site_texts", "first", form=FORM | dict.fromkeys(TEXT_NAMES, ""), **texts)
    yield page(
        "site_texts", "wrong", form=FORM | dict.fromkeys(TEXT_NAMES, STORY) | {"errors": {"intro": ["Long."]}}, **texts
    )
    rules: Context = {"version": 3, "usual": usual}
    yield page("site_rules", "first", form=FORM | unset, **rules)
    yield page("site_rules", "wrong", form=FORM | made | {"errors": {"max_projects": ["Enter a number."]}}, **rules)
    open_ = {
        "id": "0a",
        "created": NEWS["created"],
        "expires": "2025-12-01T21:44:00.000000",
        "by": "Ilse",
        "note": "Ada",
    }
    blank: Context = FORM | {"note": None, "days": 14, "email": None, "language": "en"}
    asked: Context = {"max_days": 90, "form": blank, "names": {"en": "English", "de": "Deutsch"}}
    yield page("invitations", "some", invitations=[open_, open_ | {"note": ""}], link=None, needed=True, **asked)
    link = "https://crowd.example.org/account/register?invitation=k3y"
    yield page("invitations", "made", invitations=[], link=link, needed=False, **asked)


TEXT_NAMES = ("headline", "intro", "about", "terms", "privacy")


def _home_cases() -> Iterator[Case]:
    figures = {"answers": 12904118, "people": 48210, "projects": 37}
    in_use = home(figures=figures, pulse=PULSE, n_projects_per_category={"nature": 12, "climate": 25})
    yield Case("home/index.html", "in use", frame() | in_use)
    flashes = [{"status": "success", "message": "Welcome."}, {"status": "error", "message": ["One.", "Two."]}]
    yield Case("home/index.html", "signed in, dark", frame(ILSE, theme="dark", flashes=flashes) | home())
    yield Case("home/index.html", "nothing featured", frame() | home(featured=[]))
    yield Case("home/index.html", "one project", frame() | EMPTY_HOME | {"featured": [GALAXIES]})
    yield Case("home/index.html", "no projects", frame(ILSE) | EMPTY_HOME)
    yield Case("home/index.html", "all null", frame() | dict.fromkeys(EMPTY_HOME))
    words = {"headline": {"text": "Count the birds.", "language": "en"}, "intro": {"text": STORY, "language": "de"}}
    yield from _own_home_cases(in_use)
    steps = {"mail": True, "project": False, "people": False}
    yield Case("home/index.html", "own words, first steps", frame(ILSE) | home() | words | {"steps": steps})


TOLD: Context = {
    "id": 4, "kind": Word("finished"), "created": "2025-11-20T21:44:00.000000", "comment": None, "reply": None, "new": True,
    "project": {"name": NIGHT["name"], "short_name": "night-gate", "info": NIGHT["info"]},
    "headline": "Who walks through the night gate is finished", "detail": "Volunteers gave 127340 answers to 42650 tasks.",
    "path": "/project/night-gate/results",
}  # fmt: skip
REPLIED = TOLD | {
    "kind": Word("reply"), "comment": "The ears look too short for a fox?", "reply": "Well seen. It is a young one.",
    "headline": "The owners answered your comment", "detail": "Well seen. It is a young one.", "new": False,
}  # fmt: skip


def _own_home_cases(in_use: Context) -> Iterator[Case]:
    reading = {
        "name": NIGHT["name"], "short_name": "night-gate", "answer": "fox", "result": "fox", "n": 4, "total": 5,
        "pictures": ["/uploads/8/night.webp"],
    }  # fmt: skip
    days = [(f"2025-11-{day}", count) for day, count in zip(range(14, 21), (12, 0, 24, 9, 31, 18, 5), strict=True)]
    own = {
        "project": NIGHT, "pictures": ["/uploads/8/night.webp"], "done": 117, "others": OTHERS[:2], "recent": 42,
        "settled": 31, "came": [reading, reading | {"answer": None, "result": ["a", "b"], "pictures": []}],
        "replies": [REPLIED], "news": [TOLD, TOLD | {"new": False}], "week": days,
    }  # fmt: skip
    yield Case("home/index.html", "somebody's own", frame(ILSE) | in_use | {"own": own})
    bare = {"project": None, "pictures": [], "done": 0, "others": [], "recent": 0, "settled": 0, "came": []}
    none: Context = {"replies": [], "news": [], "week": [(day, 0) for day, _count in days]}
    yield Case("home/index.html", "nothing waits", frame(ILSE) | in_use | {"own": own | bare | none})
    shown = {"short_name": GALAXIES["short_name"], "pictures": ["/uploads/1/a.webp"], "agreed": AGREED}
    yield Case("home/index.html", "results", frame() | in_use | {"showcase": shown})


def _presenting_cases(at: str) -> Iterator[Case]:
    def page(kind: str, who: Who, name: str, **more: Any) -> Case:
        shown = {
            "kind": Word(kind), "task_id": None, "volunteer": 5 if who.signed_in else None, "own_count": 1234, "has_tutorial": True,
            "rank": 214 if who.signed_in else None, "progress": {"done": 31204, "total": 42650, "share": 73}, "record": {"id": 8, "info": {}},
            "guided": False, "tutorial_seen": Word("tutorial-8"), "has_field_guide": True, "first": None,
            "paths": [], "bytes": 0,
        } | more  # fmt: skip
        context = frame(who, f"{at}{kind}") | PAGE_KEYS | {"project": PUBLIC, "presenter": shown, "paused": False}
        return Case("project/presenter.html", name, context)

    yield page("newtask", VISITOR, "task, visitor")
    yield page("task", ILSE, "task, member")
    yield page(
        "newtask", VISITOR, "task, first", own_count=0, has_tutorial=False, progress={"done": 0, "total": 0, "share": 0}
    )
    asked = {"name": "seen", "type": "single_choice", "text": "What do you see?", "unsure": True, "required": True}
    choices = [{"value": value, "text": value} for value in ("Fox", "Owl")]
    media = [{"name": "photo", "type": "picture", "source": {"column": "picture"}}]
    looking = {"name": "look", "media": media, "questions": [asked | {"choices": choices}]}
    step = first_step({"questions": {"version": 1, "steps": [looking]}}, "en")
    yield page("newtask", VISITOR, "task, questions", first=step, paths=[Word("bundles/choices.js")], bytes=61_000)
    yield page("tutorial", VISITOR, "tutorial")
    yield page("newtask", VISITOR, "task, guided", guided=True)
    yield page("tutorial", VISITOR, "tutorial, guided", guided=True)
    yield page("results", ILSE, "results")
    yield from _field_guide_cases(at)
    draft = page("newtask", VISITOR, "task, draft", has_tutorial=False)
    draft.context["project"] = PUBLIC | {"published": False, "long_description": None, "info": {}}
    yield draft
    paused = page("newtask", VISITOR, "task, paused", has_tutorial=False)
    paused.context.update(project=PUBLIC | {"published": False}, paused=True)
    yield paused
    yield from _thanks_cases(at)
    yield from _app_cases()
    yield from _result_cases(at)
    for who, whose in ((ILSE, OWNED), (VISITOR, PUBLIC)):
        for missing in ("presenter", "tasks", "tutorial"):
            lacking = {"project": whose, "missing": Word(missing), "title": Word("Contribute")}
            yield Case(
                "project/no_task.html", f"{missing}, {who.name}", frame(who, f"{at}newtask") | PAGE_KEYS | lacking
            )


def _app_cases() -> Iterator[Case]:
    about = {"title": Word("Taken along")}
    for who, kind in ((VISITOR, "visitor"), (ILSE, "volunteer")):
        yield Case("app/along.html", kind, frame(who, "/app/") | about)


def _thanks_cases(at: str) -> Iterator[Case]:
    keys: Context = PAGE_KEYS | {"project": PUBLIC, "title": Word("Thank you"), "has_news": True, "told": True}
    reading = {"task_id": 7, "answer": "fox", "result": "fox", "same": True, "n": 3, "total": 4}
    other = reading | {"answer": ["owl", "fox"], "result": "owl", "same": False, "n": 1, "total": 1}
    pictures = [["/uploads/project-8/a.jpg"], []]
    keys |= {"done": 142, "recent": 100, "settled": 31, "readings": [reading, other], "pictures": pictures}
    keys["steps"] = STEPS
    outcomes = [{"answer": "fox", "filter": '"fox"', "n": 60}, {"answer": None, "filter": "null", "n": 20}]
    rest = {"tasks": 100, "kinds": 4, "others": 10, "tied": 5, "pending": 3, "unanswered": 2}
    keys |= {"found": rest, "outcomes": [*outcomes, {"answer": None, "filter": "", "n": 1}]}
    page = "project/thanks.html"
    yield Case(page, "visitor", frame(path=f"{at}thanks") | keys | {"projects": [GALAXIES]})
    hidden = {"done": 2, "recent": 2, "settled": None, "readings": [], "told": False, "has_news": False, "projects": []}
    hidden |= {"found": None, "outcomes": []}
    yield Case(page, "results hidden", frame(ILSE, f"{at}thanks") | keys | hidden)
    for settled, name in ((0, "none settled"), (1, "one settled"), (2, "all settled")):
        yield Case(page, name, frame(ILSE, f"{at}thanks") | keys | hidden | {"settled": settled, "told": True})
    yield Case(page, "nothing done", frame(path=f"{at}thanks") | keys | hidden | {"done": 0, "recent": 0, "settled": 0})


def _guide_editor_cases(page: Callable[..., Case]) -> Iterator[Case]:
    form = FORM | {"document": '{"version": 1, "steps": []}', "version": "3"}
    editor: Context = {"guide": Word("guided_tutorial"), "language": Word("en"), "languages": {}, "questions": None}
    editor |= {"project": {"id": 8}, "tasks": [{"id": 1, "project_id": 8, "info": {"photo": "x"}}]}
    versions = [{"version": number, "created": "2025-11-20T21:40:00.000000", "bytes": 1234} for number in (3, 2)]
    stored: Context = {"form": form, "problems": [], "missing": [], "versions": versions, "part": Word("tutorial")}
    stored |= {"here": Word("/project/eisvogel/tutorial/edit"), "stored": True, "unsaved": False, "replaces": False}
    stored |= {"editor": editor, "title": Word("Guided tutorial")}
    yield page("guide_editor", "stored", **stored)
    new = {"stored": False, "unsaved": True, "versions": [], "form": form | {"version": ""}}
    yield page(
        "guide_editor", "field guide, new", **stored | new | {"part": Word("fieldguide"), "title": Word("Field guide")}
    )
    problem = {"path": "/steps/1/highlight/question", "sentence": "The questions have no question “fox”."}
    yield page("guide_editor", "questions changed", **stored | {"missing": [problem], "replaces": True})
    wrong = form | {"errors": {"document": ["/steps: List 1 to 30 entries."]}}
    yield page("guide_editor", "wrong", **stored | {"form": wrong, "problems": [problem], "unsaved": True})


def _field_guide_cases(at: str) -> Iterator[Case]:
    def said(words: str) -> Context:
        return {"words": words, "lang": Word("en"), "dir": Word("ltr")}

    picture = {"url": "/uploads/project-8/fox.jpg", "description": "In snow", "credit": "Photo: Ilse"}
    text = {"html": Markup("<p>Pointed <strong>ears</strong>.</p>"), "lang": Word("en"), "dir": Word("ltr")}
    fox: Context = {
        "name": Word("fox"),
        "title": said("Red fox"),
        "text": text,
        "pictures": [picture],
        "find": "Red fox",
    }
    owl: Context = {"name": Word("owl"), "title": said("Owl"), "text": None, "pictures": [], "find": "Owl"}
    groups = [{"name": Word("mammals"), "title": said("Mammals")}, {"name": Word("fish"), "title": said("Fish")}]
    shown = {"version": 2, "groups": groups, "entries": [fox | {"group": Word("mammals")}, owl]}
    for name, guide in (("groups", shown), ("one entry", {"version": 1, "groups": [], "entries": [owl]})):
        context = frame(VISITOR, f"{at}fieldguide") | PAGE_KEYS | {"project": PUBLIC, "title": Word("Field guide")}
        yield Case("project/field_guide.html", name, context | {"field_guide": guide})


CONSENSUS: Context = {
    "name": "species", "type": "label", "value": "Pine marten", "won": True, "short": True, "answers": 5, "agreement": 0.6, "confidence": 0.8, "model": None,
    "pending": False, "failed": False, "opinion": False,
}  # fmt: skip
FIELD_CONSENSUS = [
    CONSENSUS | {"name": "How often: <b>never</b>", "type": "labels", "value": [], "confidence": None, "model": 0.8},
    CONSENSUS | {"name": "count", "type": "number", "value": 3.5, "agreement": None, "answers": 1},
    CONSENSUS | {"name": "note", "type": "text", "value": None, "short": False},
    CONSENSUS | {"name": "sex", "value": None, "short": False, "won": False, "confidence": None},
    CONSENSUS | {"name": "line", "type": "text", "value": "Fifty <b>two</b>", "confidence": 0.93},
    CONSENSUS
    | {
        "name": "boxes",
        "type": "boxes",
        "value": [{"x": 40, "y": 30, "width": 120, "height": 90, "label": "<i>fox</i>"}],
    },
    CONSENSUS | {"name": "spots", "type": "points", "value": [{"x": 20, "y": 30}, {"x": 60, "y": 70}]},
    CONSENSUS | {"name": "lake", "type": "polygon", "value": [[10, 10], [150, 20], [90, 120]]},
    CONSENSUS
    | {
        "name": "names",
        "type": "spans",
        "value": [{"start": 4, "end": 8}],
        "passages": [["At ", False], ["<b>", True], [" he", False]],
    },
    CONSENSUS | {"name": "verbs", "type": "spans", "value": [{"start": 4, "end": 8}]},
    CONSENSUS
    | {
        "name": "later",
        "type": "boxes",
        "value": None,
        "won": False,
        "short": False,
        "answers": 0,
        "agreement": None,
        "confidence": None,
        "pending": True,
    },
    CONSENSUS
    | {
        "name": "never",
        "type": "boxes",
        "value": None,
        "won": False,
        "answers": 0,
        "agreement": None,
        "confidence": None,
        "pending": True,
        "failed": True,
    },
    CONSENSUS | {"name": "age", "value": None, "short": False, "won": False, "answers": 0, "agreement": None},
    CONSENSUS | {"name": "wish", "value": None, "short": False, "won": False, "agreement": None, "opinion": True},
    CONSENSUS
    | {
        "name": "page",
        "type": "transcript",
        "value": [{"text": "Dear <b>Anna", "x": 0, "y": 0, "unsure": [[5, 12]]}, {"text": "rain"}],
    },
    CONSENSUS | {"name": "born", "type": "date", "value": "1889-05"},
    CONSENSUS | {"name": "order", "type": "ranking", "value": ["Paths", "<b>Buses</b>"]},
    CONSENSUS | {"name": "woods", "type": "areas", "value": [{"points": [[10, 10], [150, 20], [90, 120]]}]},
    CONSENSUS | {"name": "ways", "type": "lines", "value": [{"points": [[10, 10], [150, 20]], "label": "road"}]},
    CONSENSUS
    | {
        "name": "mill",
        "type": "places",
        "value": [{"geometry": {"type": "Point", "coordinates": [7.1, 50.7]}, "label": "Mill"}],
    },
]


_SHARE: CheckedShare = {"right": 189, "n": 200, "share": 0.945, "low": 0.904, "high": 0.969}
_NO_SHARE: CheckedShare = {"right": 0, "n": 0, "share": None, "low": None, "high": None}
AGREEMENT: AgreementFigures = {
    "analysis_id": 6,
    "at": None,
    "tasks": 4119,
    "answers": 41_000,
    "measures": [
        {"name": Word("alpha_nominal"), "value": 0.82, "low": 0.79, "high": 0.85, "tasks": 4119, "answers": 41_000},
        {"name": Word("alpha_ordinal"), "value": -0.1, "low": -0.21, "high": 0.02, "tasks": 30, "answers": 61},
        {"name": Word("gwet_ac2"), "value": 0.9, "low": None, "high": None, "tasks": 30, "answers": 61},
        {"name": Word("fleiss_kappa"), "value": None, "low": None, "high": None, "tasks": 4119, "answers": 41_000},
    ],
    "classes": [
        {"value": "<b>fox</b>", "answers": 30_000, "agreement": 0.91, "low": 0.9, "high": 0.92},
        {"value": None, "answers": 0, "agreement": None, "low": None, "high": None},
    ],
    "pairs": [{"volunteers": ["0f1e2d3c4b5a697", "1f1e2d3c4b5a697"], "tasks": 40, "same": 31, "low": 0.6, "high": 0.9}],
    "difficult": [{"task_id": 12, "answers": 4, "difficulty": 0.83}],
    "checked": [
        {
            "by": Word(by),
            "accuracy": _SHARE,
            "classes": [
                {"value": "<b>fox</b>", "precision": _SHARE, "recall": _SHARE},
                {"value": None, "precision": _NO_SHARE, "recall": _NO_SHARE},
            ],
            "confusion": [[189, 0], [11, 0]],
        }
        for by in ("sample", "gold", "experts")
    ],
}


def _field(name: str, type_: str, outcomes: list[tuple[object, int]], **more: int) -> Context:
    """The figures of a further answer field: how many tasks have which consensus."""
    n = sum(number for _, number in outcomes)
    figures: Context = {
        "tasks": n,
        "answers": 3 * n,
        "several": n,
        "agreement": 0.61 if n else None,
        "unanimous": n // 2,
    }
    figures |= {
        "bands": [n - n // 2, 0, 0, n // 2],
        "tied": 0,
        "unanswered": 0,
        "pending": 0,
        "kinds": len(outcomes),
        "others": 0,
        "due": False,
    }
    shown = [{"answer": answer, "short": True, "n": number} for answer, number in outcomes]
    whole = figures | {"name": name, "type": type_, "opinion": False, "outcomes": shown} | more
    return whole | {"tasks": n + whole["tied"] + whole["unanswered"]}


def _result_cases(at: str) -> Iterator[Case]:
    votes: list[Context] = [
        {"answer": "A fox, on its way down to the brook", "n": 7, "share": 0.7},
        {"answer": None, "n": 1, "share": 0.1},
        {"answer": {"boxes": [[1, 2, 3, 4]]}, "n": 1, "share": 0.1},
        {"answer": 4, "n": 1, "share": 0.1},
    ]
    one: Context = {
        "task_id": 12,
        "title": "Gate 4, north side",
        "info": None,
        "total": 10,
        "votes": votes,
        "fields": [],
        "others": 0,
    }
    one |= {
        "pictures": ["no picture", "/uploads/project-8/0123.png"],
        "consensus": votes[0]["answer"],
        "won": True,
        "agreement": 0.7,
        "confidence": 0.9,
        "model": 0.98,
        "reason": Word("sure"),
    }
    second: Context = {
        "task_id": 11,
        "title": "",
        "pictures": [],
        "info": "A fox",
        "others": 2,
        "votes": votes[:1],
        "agreement": None,
    }
    third: Context = {
        "task_id": 10,
        "title": "",
        "consensus": None,
        "won": False,
        "agreement": 0.5,
        "confidence": None,
        "model": None,
        "reason": Word("none"),
        "votes": votes[1:3],
    }
    summary: Context = {
        "tasks": 4120,
        "answers": 41_200,
        "several": 4119,
        "agreement": 0.83,
        "unanimous": 2000,
        "bands": [19, 800, 1300, 2000],
        "tied": 7,
        "unanswered": 3,
        "pending": 2,
        "kinds": 14,
        "others": 7,
        "due": False,
    }
    outcomes: list[Context] = [
        {"answer": "A fox, on its way down to the brook", "filter": '"A fox, on its way down to the brook"', "n": 3000},
        {"answer": None, "filter": "null", "n": 900},
        {"answer": {"boxes": [[1, 2, 3, 4]]}, "filter": "", "n": 200},
        {"answer": True, "filter": "true", "n": 4},
        {"answer": 4, "filter": "4", "n": 2},
    ]
    chosen: Context = {"answer": "", "value": "", "min_agreement": "", "max_agreement": "", "orderby": "", "query": ""}
    rows = [one, one | second, one | third]
    charts: Charts = {
        "step": 20,
        "tasks": 4871,
        "answers": [
            {"answer": "Heron", "short": True},
            {"answer": None, "short": True},
            {"answer": None, "short": False},
        ],
        "map": {
            "columns": ["lat", "lon"],
            "points": [{"x": 8.5 + n / 9, "y": 47.2 + n * n / 80, "group": n % 5, "n": 1 + n * n} for n in range(9)],
        },
        "timeline": {
            "column": "date",
            "times": [{"time": f"19{n:02}", "group": n % 5, "n": 1 + 3 * n} for n in range(0, 50, 3)],
        },
    }
    drawn = {"charts": charts, "drawn": drawings(charts)}
    page: Context = {
        "charts": None,
        "agreement_figures": None,
        "agreement_chart": None,
        "drawn": None,
        "contributors": {"own": 12, "leaders": OVERVIEW["leaders"]},
        "rows": rows,
        "next": 4,
        "first": True,
        "sees": True,
        "owns": False,
        "paused": False,
        "failed": None,
        "influences": [],
    }
    page |= {"title": Word("Results"), "project": PUBLIC, "summary": summary, "outcomes": outcomes, "chosen": chosen}
    page |= {"fields": [], "alpha": [], "asked": None, "places": {}, "tables": {}, "method": None, "titles": {}}
    fields = [
        summary
        | {
            "name": "species",
            "type": "label",
            "opinion": False,
            "outcomes": [{"answer": one["answer"], "short": bool(one["filter"]), "n": one["n"]} for one in outcomes],
        },
        _field("How often: <b>never</b>", "labels", [(["fox", "owl"], 31), (["fox"], 12), ([], 6)], tied=1),
        _field("count", "number", [(7, 3), (1, 30), (2.5, 11)], unanswered=8),
        _field("note", "text", [], unanswered=50),
        _field("sex", "label", [], tasks=0),
        _field("boxes", "boxes", [], pending=3, tasks=0),
    ]
    alpha = [
        {
            "name": name,
            "type": "label",
            "alpha": coefficient,
            "low": None if coefficient is None else coefficient - 0.02,
            "high": None if coefficient is None else coefficient + 0.02,
            "tasks": 4119,
            "answers": 41_000,
            "pending": pending,
            "failure": why,
        }
        for name, coefficient, pending, why in (
            ("species", 0.8214, False, None),
            ("<b>often</b>", 0.7, False, None),
            ("count", -0.1, False, None),
            ("note", None, False, None),
            ("lake", None, True, None),
            ("boxes", None, False, "took more than 5 seconds of processor time"),
        )
    ]
    by_field = [CONSENSUS | {"name": "species"}, *FIELD_CONSENSUS]
    several = {"fields": fields, "alpha": alpha, "rows": [row | {"fields": by_field} for row in (one, one | second)]}
    filtered = chosen | {
        "answer": '"Heron"',
        "value": "Heron",
        "max_agreement": "50",
        "orderby": "least_agreed",
        "query": "answer=%22Heron%22",
    }
    alone = {
        "summary": summary | {"several": 0, "agreement": None, "unanimous": 0, "bands": [0, 0, 0, 0]},
        "outcomes": [],
    }
    for name, more in {
        "visitor": {},
        "with a map and a timeline": drawn,
        "several questions": several,
        "agreement": {
            "agreement_figures": AGREEMENT,
            "agreement_chart": agreement_chart.chart(AGREEMENT["measures"]),
        },
        "further": {"first": False, "next": None, "contributors": None},
        "opinions and facts": several | asked_questions(fields),
        "marks": {"fields": fields[-1:], "rows": [one | {"fields": by_field[5:8]}, one | {"fields": by_field[-3:]}]},
        "filtered": {"chosen": filtered, "summary": summary | {"due": True, "kinds": None}},
        "none fits": {"chosen": filtered, "rows": [], "next": None},
        "one answer each": alone,
        "nothing yet": {"rows": [], "next": None, "summary": alone["summary"] | {"tasks": 0}},
        "no tasks": {"rows": [], "next": None, **UNUSED, "summary": alone["summary"] | {"tasks": 0}},
    }.items():
        yield Case("project/results.html", name, frame(path=f"{at}results") | PAGE_KEYS | page | more)
    unseen = {key: value for key, value in page.items() if key not in ("summary", "fields", "alpha", "charts", "next")}
    unseen |= {"sees": False, "rows": [], "outcomes": [], "contributors": None}
    yield Case("project/results.html", "private", frame(path=f"{at}results") | PAGE_KEYS | unseen)
    mine = {"owns": True, "project": OWNED}
    yield Case("project/results.html", "owner", frame(ILSE, f"{at}results") | PAGE_KEYS | page | mine)
    failed = {
        "results": 2,
        "fields": 1,
        "gold": 1,
        "failure": "answer field 2 (text): took too much memory",
        "again": True,
    }
    mine |= {"failed": failed, "csrf": "x"}
    mine |= {"influences": [_influence("species", 31), _influence("<b>boxes</b>", 0)]}
    yield Case("project/results.html", "failed", frame(ILSE, f"{at}results") | PAGE_KEYS | page | mine)


def _influence(name: str, hidden: int) -> Context:
    """What suggestions for a question do."""
    outcomes = {"name": name, "accepted": 4120, "changed": 310, "rejected": 12, "seconds": 4.2 if hidden else None}
    none = {"right": 0, "n": 0, "share": None, "low": None, "high": None}
    shown = {"right": 186, "n": 200, "share": 0.93, "low": 0.886, "high": 0.958}
    unseen = {"right": hidden, "n": 40, "share": hidden / 40, "low": 0.62, "high": 0.88} if hidden else none
    return {"name": name, "outcomes": outcomes, "shown": shown, "hidden": unseen, "apart": bool(hidden)}


def asked_questions(fields: list[Context]) -> Context:
    """Questions of every type, as opinions and as facts, each with its picture."""
    choices = [{"value": one, "text": f"{one} <b>"} for one in ("bus", "bike")]
    point = {"type": "Point", "coordinates": [7.1, 50.7]}
    every: dict[str, tuple[Context, Any]] = {
        "how": ({"type": "single_choice", "choices": choices, "unsure": True}, "bus"),
        "why": ({"type": "multiple_choice", "choices": choices}, ["bus", "bike"]),
        "ready": ({"type": "yes_no"}, True),
        "rate": ({"type": "matrix", "rows": choices, "columns": choices}, {"bus": "bike", "bike": "bus"}),
        "order": ({"type": "ranking", "choices": choices}, ["bike", "bus"]),
        "happy": ({"type": "rating"}, 4),
        "minutes": ({"type": "number"}, 12.5),
        "born": ({"type": "date"}, "1889-05-01"),
        "wish": ({"type": "long_text"}, "More <b>buses</b>"),
        "place": ({"type": "map_place"}, [{"geometry": point}]),
        "boxes": ({"type": "box"}, [{"x": 1, "y": 2, "width": 3, "height": 4}]),
    }
    asked = [
        {"name": f"{name}_{kind}", "kind": kind, "text": f"{name} ({kind}) <b>?", **parts}
        for kind in ("opinion", "fact")
        for name, (parts, _) in every.items()
    ]
    info = {"questions": {"version": 1, "steps": [{"name": "s", "questions": asked}]}}
    shown = shown_fields(info, [])
    everything = {f"{name}_{kind}": value for name, (_, value) in every.items() for kind in ("opinion", "fact")}
    answers: list[AnswerSample] = [{"task_id": 1, "info": everything}] * 9
    answers.append({"task_id": 2, "info": {"how_opinion": None, "order_opinion": ["bus", "bike"]}})
    results: list[ResultSample] = [
        {"task_id": n, "said": [{"value": value_at(everything, field.path)} for field in shown]} for n in range(3)
    ]
    words = words_of(info, "en")
    questions = question_results(info, shown, words, answers, results)
    crossed = crossable(shown)
    asked_page = Asked(
        questions=questions,
        crossable=[(field.name, words[field.name].text) for field in crossed],
        cross=cross_of(crossed[0], crossed[1], words, answers),
        n=10,
        tasks=2,
        part=True,
        files=[
            SentFiles(
                "What <b>is</b> it?", [{"file": f"/answer-files/{'0' * 40}", "kind": kind} for kind in FILE_KINDS]
            )
        ],
    )
    first = next(one["field"] for one in questions if one["picture"] == "outcomes")
    own = {**fields[0], "answers": 90}
    return {
        "asked": asked_page,
        "fields": [own if nth == first else fields[1] for nth in range(len(shown))],
        "tables": {first: [{"answer": "Bus <b>", "filter": '"bus"', "n": 3}]},
        "places": {one["name"]: draw_map(one["points"]) for one in questions if one["points"]},
        "method": method_of(info | {"trust": {}}, shown, per_task=2.5, decided=3, anonymous=True, gold=True),
        "titles": {name: one.text for name, one in words.items()},
    }


def _project_cases() -> Iterator[Case]:
    at = "/project/night-gate/"
    yield from _presenting_cases(at)
    page = "project/index.html"
    figures = {"overview": OVERVIEW, "agreed": AGREED}
    spoken = PUBLIC | {"info": PUBLIC["info"] | {"language": "de"}}
    yield Case(page, "visitor", frame(path=at) | PAGE_KEYS | figures | {"project": spoken})
    yield Case(
        page,
        "owner",
        frame(ILSE, at)
        | PAGE_KEYS
        | figures
        | {"project": OWNED, "attention": UNWELL, "unfit": {"n": 12, "n_looked_at": 100}},
    )
    yield Case(page, "finished", frame(path=at) | PAGE_KEYS | {"project": PUBLIC, "overall_progress": 100})
    waits = WELL | {"import_id": 4, "import_state": Word("pending"), "n_failed_deliveries": 3}
    yield Case(
        page,
        "draft",
        frame(ILSE, at) | PAGE_KEYS | UNUSED | TRY | {"project": DRAFT, "attention": waits, "unfit": None},
    )
    failing = WELL | {"webhook_failing": True}
    yield Case(page, "ready", frame(ILSE, at) | PAGE_KEYS | {"project": READY, "attention": failing, "unfit": None})
    yield Case(page, "paused, owner", frame(ILSE, at) | PAGE_KEYS | {"project": READY, "paused": True})
    closed = PUBLIC | {"published": False}
    yield Case(page, "paused", frame(path=at) | PAGE_KEYS | {"project": closed, "paused": True})
    bare = PUBLIC | {"info": None, "long_description": None, "description": None}
    yield Case(page, "bare", frame(path=at) | PAGE_KEYS | UNUSED | {"project": bare, "owner": None})
    yield from _publishing_cases(at)
    card = "project/embed.html"
    for kind, more in {
        "open": {"project": spoken},
        "finished": {"overall_progress": 100},
        "not found": {"project": None},
    }.items():
        yield Case(card, kind, frame(path=f"{at}embed") | PAGE_KEYS | {"project": PUBLIC} | more)
    form = {"password": "", "csrf": "form-t0ken", "errors": {}}
    yield from _webhook_cases(at)
    yield from _task_cases(at)
    yield Case("project/password.html", "first", frame(path=at) | {"project": PUBLIC, "form": form})
    wrong = form | {"errors": {"password": ["That is not it."]}}
    yield Case("project/password.html", "wrong", frame(path=at) | {"project": PUBLIC, "form": wrong})
    listing: Context = {"categories": SUBJECTS, "active_cat": SUBJECTS[1], "orderby": "", "desc": False, "kept": ""}
    listing |= {"language": Word(""), "medium": Word(""), "minutes": 0, "phone": False, "narrows": False}
    chosen = {"language": Word("de"), "medium": Word("sound"), "minutes": 2, "phone": True, "narrows": True}
    full = {"projects": [NIGHT, *OTHERS], "pagination": PAGINATION}
    yield Case("project/category.html", "full", frame() | listing | full)
    middle = {"pagination": {"page": 7, "per_page": 20, "total": 1902, "prev": True, "next": True}}
    yield Case("project/category.html", "middle", frame() | listing | full | middle)
    none = {"projects": [], "pagination": PAGINATION | {"total": 0, "next": False}}
    yield Case("project/category.html", "empty", frame() | listing | none)
    yield Case("project/category.html", "none match", frame() | listing | none | chosen | {"kept": Word("minutes=2")})
    all_ = {"active_cat": SUBJECTS[0] | {"short_name": "all"}, "orderby": "name", "desc": True}
    yield Case("project/category.html", "everything", frame() | listing | full | middle | all_)
    yield Case("project/category.html", "nothing at all", frame() | listing | none | all_)
    search = full | middle | {"query": "night gate", "categories": SUBJECTS[1:]}
    yield Case("project/search.html", "found", frame(path="/project/search") | search)
    yield Case("project/search.html", "nothing found", frame(path="/project/search") | search | none)
    lively = {"query": "", "lively": [NIGHT, *OTHERS], "n_projects": 37}
    yield Case("project/search.html", "first", frame(path="/project/search") | search | none | lively)
    yield from _owner_cases(at)


def _ready(row: Context, **more: Any) -> Context:
    """What the page to publish computes from a project's row."""
    checks = [
        *publishing.list_checks(
            row | {"first_published": None, "n_task_runs": 3, "n_tasks": 42_650} | more,
            more.get("gaps", []),
            more.get("unfit"),
        )
    ]
    pace = publishing.estimate_pace(publishing.Seen(0, 0, 3, 12.4, True))
    prospect = publishing.Prospect(20, 42_650, 213_250, pace, publishing.round_days(213.25))
    ready = publishing.Readiness(
        checks, more.get("gaps", []), more.get("unfit", []), prospect if checks[1].done else None
    )
    return {"ready": ready, "volunteers": "20", "mistake": ""}


def _publishing_cases(at: str) -> Iterator[Case]:
    page = "project/publish.html"
    yield Case(
        page,
        "missing",
        frame(ILSE, at) | PAGE_KEYS | UNUSED | TRY | {"project": DRAFT} | _ready(DRAFT, n_tasks=0, n_task_runs=0),
    )
    yield Case(page, "ready", frame(ILSE, at) | PAGE_KEYS | {"project": READY} | _ready(READY))
    mixed = _ready(READY) | {"n_samples": 6, "opinions": True}
    yield Case(page, "with samples", frame(ILSE, at) | PAGE_KEYS | {"project": READY} | mixed)
    gaps = [{"column": LONG, "lacking": 1204, "tasks": 2000}, {"column": "sound", "lacking": 1, "tasks": 1}]
    unfit = [publishing.Unfit("species", LONG, 1204, 2000), publishing.Unfit("<b>", "guess", 1, 1)]
    doubtful = _ready(READY, gaps=gaps, unfit=unfit) | {
        "volunteers": "many",
        "mistake": "Enter a whole number from 1 to 100,000.",
    }
    yield Case(page, "doubtful", frame(ILSE, at) | PAGE_KEYS | {"project": READY} | doubtful)
    fitting = _ready(READY, unfit=[])
    yield Case(page, "suggestions", frame(ILSE, at) | PAGE_KEYS | {"project": READY} | fitting)
    paused = {"project": READY, "paused": True} | _ready(READY, first_published="2026-01-01")
    yield Case(page, "paused", frame(ILSE, at) | PAGE_KEYS | paused)
    yield Case(page, "published", frame(ILSE, at) | PAGE_KEYS | {"project": OWNED})
    link = "https://pages.crowdd.test/project/night-gate/"
    shared = (
        frame(ILSE, f"{at}share") | PAGE_KEYS | {"project": OWNED, "link": link, "qr": qr_code(link), "locked": False}
    )
    for name, more in {
        "published": {},
        "with a password": {"locked": True},
        "without a font": {
            "flash": "No font on this server has these letters: 狐. Print the page instead.",
            "status": Word("error"),
        },
        "draft": {"project": DRAFT, "link": TRY["try_link"], **UNUSED},
        "paused": {"project": READY, "paused": True},
        "without a code": {"qr": None},
    }.items():
        yield Case("project/share.html", name, shared | more)
    yield Case("project/poster.html", "published", shared)
    yield Case("project/poster.html", "without a code", shared | {"qr": None})


def _gallery_cases() -> Iterator[Case]:
    card = {
        "name": "boxes",
        "group": "pictures",
        "title": "Draw boxes",
        "description": "One sentence.",
        "thumbnail": "/uploads/gallery/boxes/thumbnail.webp",
        "own": False,
        "offered": True,
        "owner": "",
    }
    own = card | {"name": "t-x", "own": True, "offered": False, "owner": "ilse", "thumbnail": ""}
    groups: Context = {
        "groups": {Word("pictures"): Word("Pictures"), Word("forms"): Word("Surveys and forms")},
        "project": "",
        "query": "",
        "examples": {Word("ducks"): (Word("Ducks and boats"), Word("12 pictures."))},
    }
    gallery = {"title": "Templates", "templates": [own, card], "text": "", "group": ""} | groups
    yield Case("gallery/index.html", "all", frame(ILSE, "/templates") | gallery)
    blank = FORM | {"name": None, "short_name": None, "description": None, "long_description": None}
    new = {
        "title": "Start a project",
        "form": blank,
        "chosen": "",
        "templates": [own, card],
        "groups": groups["groups"],
    }
    yield Case("project/new.html", "templates", frame(ILSE, "/project/new") | new)
    taken = new | {"form": blank | {"name": "Igel", "errors": {"name": ["There is one."]}}, "chosen": Word("boxes")}
    yield Case("project/new.html", "taken", frame(ILSE, "/project/new") | taken)
    searched = gallery | {
        "text": "zebra",
        "group": "pictures",
        "templates": [],
        "project": "birds",
        "query": "?project=birds",
    }
    yield Case("gallery/index.html", "nothing found", frame(VISITOR, "/templates") | searched)
    tasks: list[Context] = [{"picture": "/uploads/gallery/boxes/01.webp"}]
    one: Context = {
        "title": "Draw boxes",
        "card": card,
        "questions": {"version": 1, "steps": []},
        "tasks": tasks,
        "form": FORM,
        "project": "",
        "query": "",
        "group_title": Word("Pictures"),
        "shown": {"project": {"id": 0}, "tasks": [], "list": {"steps": []}},
        "in_languages": True,
        "may_delete": False,
    }
    yield Case("gallery/template.html", "of crowdd", frame(ILSE, "/templates/boxes") | one)
    yield Case("gallery/template.html", "visitor", frame(VISITOR, "/templates/boxes") | one)
    mine = {
        "card": own,
        "tasks": [],
        "may_delete": True,
        "project": "birds",
        "query": "?project=birds",
        "in_languages": False,
    }
    yield Case("gallery/template.html", "own", frame(ILSE, "/templates/t-x") | one | mine)
    beside = frame(ILSE, "/project/nachtwild/template") | PAGE_KEYS | {"project": OWNED}
    saving: Context = {
        "form": FORM | {"name": "Birds", "description": "Which?", "samples": "y"},
        "asks": True,
        "locked": False,
    }
    saving |= {"max_samples": 5, "max_own": 20}
    yield Case("gallery/save.html", "first", beside | saving)
    yield Case("gallery/save.html", "no questions", beside | saving | {"asks": False})
    wrong = {"form": FORM | {"name": "", "description": "", "samples": "", "errors": {"name": ["Write a text here."]}}}
    yield Case("gallery/save.html", "wrong", beside | saving | wrong | {"locked": True})
    of_crowdd = {"name": "boxes", "title": "Draw boxes", "owner": "", "shipped": True, "hidden": False, "offered": True}
    of_ilse = of_crowdd | {"name": "t-x", "owner": "ilse", "shipped": False, "offered": False}
    rows = [of_ilse, of_crowdd | {"shipped": False}, of_crowdd, of_crowdd | {"hidden": True}]
    at_work = frame(ILSE, "/admin/templates") | {"title": "Templates", "templates": rows, "form": FORM}
    yield Case("gallery/admin.html", "all", at_work)
    yield Case("gallery/admin.html", "wrong", at_work | {"form": FORM | {"errors": {"file": ["Choose a file."]}}})


def _gold_cases(page: Callable[..., Case]) -> Iterator[Case]:
    """The list of gold tasks with the settings, and the form of one or several."""
    one = {
        "task_id": 7,
        "answers": ["fox", None],
        "rule": None,
        "message": "Look at the tail.",
        "since": "2025-11-20T21:40:00",
    }
    one |= {"by_name": "ilse", "n_seen": 12, "n_right": 9}
    settings = FORM | {"gold_rate": 5, "gold_start": 30, "gold_feedback": True, "show_accuracy": False, "errors": {}}
    settings |= {"gold_embargo": "2027-01-31"}
    overview: Context = {
        "n_gold": 1,
        "n_others": 9,
        "n_finished": 4,
        "sched": "depth_first",
        "ordered": True,
        "n_knowing": 3,
        "n_recent": 9,
    }
    overview |= {"values": [{"value": "fox", "n": 1}, {"value": None, "n": 2}]}
    keys = {"title": Word("Gold tasks"), "csrf": Word("t"), "form": settings, "overview": overview, "usual_rate": 3}
    keys["intervals"] = [(0.6, 0.9), (0.0, 1.0)]
    yield page("gold", "some", **keys, gold_tasks=[one, one | {"task_id": 8, "n_seen": 0, "n_right": 0}])
    wrong = {"form": settings | {"errors": {"gold_rate": ["Enter a whole number from 0 to 50."]}}}
    none = overview | {"n_gold": 0, "values": []}
    yield page("gold", "none", **keys | wrong | {"overview": none}, gold_tasks=[])
    form = {
        "title": Word("Gold task"),
        "csrf": Word("t"),
        "form": FORM | {"answer": "fox", "message": None, "errors": {}},
    }
    yield page("gold_form", "one", **form, task_ids=[7], gold=None, choices=["fox", None])
    refused = {"form": form["form"] | {"errors": {"answer": ["Say what is right."]}}}
    yield page("gold_form", "change", **form | refused, task_ids=[7], gold=one, choices=[])
    yield page("gold_form", "several", **form, task_ids=[7, 8], gold=None, choices=[])


def _answer_field_cases(page: Callable[..., Case]) -> Iterator[Case]:
    unfit = [{"id": 71, "task_id": 12, "value": '"hedgehog"'}, {"id": 70, "task_id": 11, "value": None}]
    species = {"name": "species", "at": "/answer", "type": "label", "choices": ["fox", "marten", True, None]}
    boxes = {"name": "boxes", "at": "/boxes", "type": "boxes", "n_fitting": 200, "unfit": []}
    seconds = {"name": "seconds", "at": "/seconds", "type": "number", "n_present": 200, "n_fitting": 199}
    tags = seconds | {"name": "tags", "at": "", "type": "labels", "choices": [f"tag {n}" for n in range(30)]}
    keys = {"types": {}, "n_looked_at": 200, "from_questions": False, "form": FORM | {"fields": "[]"}}
    first = species | {"n_fitting": 1, "unfit": unfit}
    yield page("answer_fields", "declared", **keys, fields=[first, boxes], suggestions=[seconds, tags])
    yield page("answer_fields", "none", **keys | {"n_looked_at": 0}, fields=[], suggestions=[])
    wrong = {"form": FORM | {"fields": "[", "errors": {"fields": ["This is not JSON."]}}}
    yield page("answer_fields", "wrong", **keys | wrong, fields=[first], suggestions=[])
    yield page("answer_fields", "of questions", **keys | {"from_questions": True}, fields=[first], suggestions=[])


def _analysis_cases(page: Callable[..., Case]) -> Iterator[Case]:
    nothing = (
        "ended",
        "seconds",
        "n_answers",
        "n_unfit",
        "n_tasks",
        "n_volunteers",
        "n_different",
        "choices",
        "versions",
        "rounds",
    )
    begun = dict.fromkeys(nothing) | {
        "id": 7, "project_id": 8, "method": Word("dawid_skene"), "answers": "counted", "parameters": {"rounds": 100, "tolerance": 1e-5},
        "created": "2025-11-20T21:44:00.000000", "user_id": 1, "user_name": "ilse", "queue_item": 4, "state": Word("running"), "done": 4100,
        "total": 85300, "error": "", "frequencies": None, "input_hash": None, "converged": None,
    }  # fmt: skip
    done = begun | {
        "id": 6, "state": Word("done"), "ended": "2025-11-20T21:46:00.000000", "seconds": 4.2, "n_answers": 127340, "n_unfit": 12, "n_tasks": 42650,
        "n_volunteers": 1870, "n_different": 1, "choices": ["fox", "marten", None], "frequencies": [0.5, 0.4, 0.1], "input_hash": "0f1e2d3c" * 8,
        "versions": {"crowdd": "0.1.0", "numpy": "2.4.6", "scipy": "1.17.1"}, "rounds": 100, "converged": False,
    }  # fmt: skip
    failed = begun | {
        "id": 5,
        "state": Word("failed"),
        "method": Word("majority"),
        "error": "No answer has one of the choices.",
    }
    waiting = begun | {"id": 8, "state": Word("waiting"), "answers": "all", "total": None, "done": 0}
    methods = [
        {
            "name": Word(method.name),
            "installed": installed,
            "max_answers": method.max_answers,
        }
        for method, installed in zip(METHODS.values(), [True] * 4 + [False] * 8, strict=True)
    ]
    keys: Context = {
        "methods": methods,
        "suggested": Word("one_coin"),
        "refusal": "",
        "max_kept": 20,
        "extra": "crowdd[trust]",
        "csrf": "x",
    }
    keys |= {"title": "Analyses"}
    yield page(
        "analyses", "some", **keys, items=[waiting, begun, done, failed, begun | {"id": 4, "state": Word("cancelled")}]
    )
    yield page("analyses", "none", **keys, items=[])
    yield page("analyses", "refused", **keys | {"refusal": "Analyses need a label."}, items=[])
    task: Context = {
        "task_id": 12, "decided": True, "value": "fox", "model": 0.98, "probabilities": [0.98, 0.02, 0], "different": True, "consensus": "marten",
    }  # fmt: skip
    tied = task | {"task_id": 13, "decided": False, "value": None, "model": 0.5, "consensus": None}
    one: Context = {"next": None, "csrf": "x", "title": "Analysis 6", "figures": None, "chart": None}
    one |= {"items": [], "replaces": True}
    rows = [task, task | {"task_id": 14, "value": None}, tied]
    yield page("analysis", "different", **LISTED, **one, analysis=done, tasks=rows, all=False)
    agreed = done | {"n_different": 0, "n_unfit": 0, "converged": True, "user_name": None}
    yield page("analysis", "agreed", **SHORT, **one, analysis=agreed, tasks=[], all=False)
    yield page("analysis", "all", **SHORT, **one, analysis=done, tasks=rows, all=True)
    measured = one | {"figures": AGREEMENT, "chart": agreement_chart.chart(AGREEMENT["measures"])}
    of_that = done | {"method": Word("agreement"), "parameters": {}}
    yield page("analysis", "agreement", **SHORT, **measured, analysis=of_that, tasks=[], all=False)
    item: Context = {"item": "gull.jpg", "score": 1.204, "low": 0.9, "high": 1.5, "chosen": 1204, "compared": 1870}
    ranked = one | {"items": [item, item | {"item": LONG, "score": -1.2, "low": -1.6}], "replaces": False}
    of_pairs = done | {"method": Word("bradley_terry"), "parameters": {"rounds": 1000}}
    yield page("analysis", "items", **SHORT, **ranked, analysis=of_pairs, tasks=rows, all=False)
    chosen = task | {"value": "the old barn", "model": 0, "probabilities": [], "consensus": "the odd barn"}
    of_texts = done | {"method": Word("rasa"), "parameters": {"rounds": 100}, "converged": None}
    yield page("analysis", "texts", **SHORT, **one | {"replaces": False}, analysis=of_texts, tasks=[chosen], all=True)
    for state in (begun, failed, waiting):
        yield page("analysis", state["state"], **SHORT, **one, analysis=state, tasks=[], all=False)
    who: Context = {"volunteer": "0f1e2d3c4b5a697", "answers": 1204, "accuracy": 0.93, "skill": 0.91}
    several = [who | {"accuracy": 0.31}, who | {"skill": None}]
    yield page("analysis_volunteers", "some", **LISTED, **one, analysis=done, volunteers=several)
    yield page("analysis_volunteers", "texts", **SHORT, **one, analysis=of_texts, volunteers=several)
    yield page("analysis_volunteers", "none", **SHORT, **one, analysis=begun, volunteers=[])


def _snapshot_cases(page: Callable[..., Case]) -> Iterator[Case]:
    counts = {"tasks": 42650, "answers": 127340, "results": 1, "volunteers": 1870}
    made: Context = {
        "id": 7, "project_id": 8, "created": "2025-11-20T21:44:00.000000", "state": Word("done"), "done": 5, "total": None, "public": True,
        "user_name": "ilse", "queue_item": 4, "error": "", "hash": Word("0f1e2d3c" * 8), "url": "https://example.org/project/x/snapshots/x",
        "as_of": "2025-11-20T21:46:00.000000", "bytes": 73_000_000, "counts": counts, "license": "CC-BY-4.0",
        "authors": [{"name": "Ilse Verbruggen", "orcid": Word("0000-0002-1825-0097")}, {"name": LONG}],
        "citation": "Ilse Verbruggen (2025). Night animals [data set].", "software": "0.1.0", "audit_log": {"position": 3, "hash": "x"}, "withdrawn": 1,
    }  # fmt: skip
    begun = made | dict.fromkeys(
        ("hash", "url", "as_of", "counts", "license", "authors", "citation", "software", "audit_log")
    )
    begun |= {"id": 8, "state": Word("running"), "public": False, "bytes": 0}
    failed = begun | {"id": 9, "state": Word("failed"), "error": "The projects of an account may hold 1 MB."}
    licences = [
        {
            "id": Word("CC0-1.0"),
            "name": "Creative Commons Zero 1.0",
            "url": "https://creativecommons.org/publicdomain/zero/1.0/",
        }
    ]
    keys: Context = {
        "title": "Snapshots", "owns": True, "every": Word("week"), "dataset": {"license": Word("CC0-1.0"), "authors": []}, "licences": licences,
        "max_kept": 100, "csrf": "x", "authors": "Ilse Verbruggen 0000-0002-1825-0097",
    }  # fmt: skip
    yield page("snapshots", "some", **keys, items=[begun, failed, made, made | {"id": 6, "public": False}])
    yield page("snapshots", "none", **keys | {"every": Word(""), "authors": ""}, items=[])
    yield page("snapshots", "of others", **keys | {"owns": False, "dataset": {}, "authors": ""}, items=[made])
    files = [
        {"name": Word(name), "bytes": 5_000_000, "sha256": "0f1e2d3c" * 8, "content": True}
        for name in ("answers.ndjson", "README.md")
    ]
    one: Context = {"title": "Snapshot 0f1e2d3c0f1e", "files": files, "csrf": "x"}
    yield page("snapshot", "marked", **one, snapshot=made, withdrawn=["0f1e2d3c4b5a697", "1f1e2d3c4b5a697"], owns=True)
    bare = made | {"public": False, "license": None, "authors": [], "withdrawn": 0}
    yield page("snapshot", "for owners", **one, snapshot=bare, withdrawn=[], owns=True)
    yield page("snapshot", "of others", **one, snapshot=made, withdrawn=[], owns=False)
    counts = {kind: {"added": 1204, "removed": 0, "changed": 1} for kind in ("task", "answer", "result")}
    settings = [
        {"name": Word("settings.sched"), "values": [Word("default"), Word("depth_first")]},
        {"name": Word("license"), "values": ["", Word("CC-BY-4.0")]},
    ]
    documents = [{"name": Word("presenter.html"), "change": Word("changed")}]
    compared: Context = {"title": "Differences between snapshots", "snapshot": made, "owns": True}
    some: Context = {
        "counts": counts,
        "settings": settings,
        "documents": documents,
        "file": "/project/x/snapshots/x/difference?format=ndjson",
    }
    deposit: Context = {
        "id": 3, "snapshot_id": 7, "created": "2025-11-20T21:46:00.000000", "user_name": "ilse", "queue_item": 5, "state": Word("published"),
        "done": 19, "total": 19, "error": "", "url": "https://zenodo.org", "publish": True, "page": "https://zenodo.org/records/1",
        "published": "2025-11-20T21:50:00.000000", "doi": Word("10.5281/zenodo.1"),
    }  # fmt: skip
    place: Context = {
        "title": "Deposit in a repository",
        "snapshot": made,
        "repository": "https://zenodo.org",
        "csrf": "x",
    }
    yield page("deposit", "none", **place, deposit=None)
    yield page("deposit", "published", **place, deposit=deposit)
    unpublished = deposit | {"publish": False, "published": None, "doi": Word("")}
    yield page("deposit", "uploaded", **place, deposit=unpublished | {"state": Word("uploaded")})
    failed = unpublished | {
        "state": Word("failed"),
        "error": "The repository refused the access token.",
        "page": "",
        "total": None,
    }
    yield page("deposit", "failed", **place, deposit=failed)
    other = made | {"id": 6, "hash": Word("1f1e2d3c" * 8)}
    yield page("difference", "some", **compared, **some, before=other, others=[other])
    yield page(
        "difference",
        "none",
        **compared | {"owns": False},
        counts={},
        settings=[],
        documents=[],
        file=None,
        before=None,
        others=[],
    )


def _owner_cases(at: str) -> Iterator[Case]:
    def page(name: str, kind: str, **more: Any) -> Case:
        mine = PAGE_KEYS | {"project": OWNED}
        return Case(f"project/{name}.html", kind, frame(ILSE, f"{at}{name}") | mine | more)

    new = FORM | {"name": None, "short_name": None, "description": None, "long_description": None}
    wrong = {"name": ["There is one."], "short_name": ["No blanks please."], "description": ["One sentence."]}
    yield Case("project/new.html", "first", frame(ILSE, "/project/new") | {"form": new, "title": "Start a project"})
    mistaken = {"form": new | {"name": "Igel & Co", "errors": wrong}, "title": "Start a project"}
    yield Case("project/new.html", "wrong", frame(ILSE, "/project/new") | mistaken)
    yield from _gallery_cases()
    people = [PERSON | {"id": 5, "is_creator": True, "is_coowner": True}]
    people.append(PERSON | {"id": 6, "name": "jonas", "fullname": None, "is_creator": False, "is_coowner": True})
    sized = {
        "paused": False,
        "has_gold": True,
        "proved": True,
        "gold_rate": 0.03,
        "now": NOW,
        "asked": {"question": "What walks here?", "answers": ["A fox", "A marten"]},
        "form": FORM | {"max_answer_kb": 256, "max_marks": 1000, "skip_limit": 3},
        "max_answer_bytes": 256_000,
        "max_marks": 1000,
        "skip_limit": 3,
    }
    yield page("settings", "published", coowners=people, locked=False, **sized)
    too_much = {
        "form": FORM
        | {"max_answer_kb": "2001", "max_marks": "1000", "skip_limit": 0, "errors": {"max_answer_kb": ["Too much."]}}
    }
    drafted = {"project": DRAFT, "coowners": people[:1], "locked": True}
    yield page("settings", "draft", **UNUSED | TRY | drafted | sized | too_much)
    yield from _answer_field_cases(page)
    yield from _analysis_cases(page)
    yield from _snapshot_cases(page)
    yield from _gold_cases(page)
    changed = NOW | {
        "n_anonymous": 0,
        "counted_per_network": 0,
        "prioritised": True,
        "n_barred": 3,
        "n_reviewers": 0,
        "n_translations": 0,
        "webhook_off": True,
    }
    info = {"task_presenter": "<p>?</p>", "tutorial": "<p>!</p>", "results": "<p>.</p>", "answer_key": "kind"}
    own = OWNED | {
        "info": info | {"token_per_volunteer": True, "sched": "random"},
        "webhook": "https://hooks.example.org/x",
    }
    other = {"project": own, "now": changed, "asked": None, "paused": True}
    yield page("settings", "changed", coowners=people, locked=False, **sized | other)
    text = {
        "project": own | {"webhook": None, "published": False},
        "asked": {"question": "What does it say?"},
        "paused": True,
    }
    failing = {"project": own, "now": NOW | {"webhook_failing": True}, "asked": None}
    yield page("settings", "text", coowners=people, locked=False, **sized | text)
    yield page("settings", "failing", coowners=people, locked=False, **sized | failing)
    texts = {name: OWNED[name] for name in ("id", "name", "short_name", "description", "long_description")}
    boxes = {"allow_anonymous_contributors": True, "zip_download": False, "category_id": 2, "protect": False}
    boxes |= {"answers_when_complete": True, "token_per_volunteer": False, "papers": "10.1234/gate.2026 Foxes"}
    form = FORM | texts | boxes | {"webhook": None, "password": None}
    upload = FORM | dict.fromkeys(("id", "avatar", "x1", "y1", "x2", "y2"))
    subjects = [{"id": one["id"], "name": one["name"]} for one in SUBJECTS[1:]]
    beside: Context = {"pictures": [{"id": 5, "path": "/uploads/project-8/0123.png"}], "may_add": True, "left_out": []}
    lost = [{"address": f"http://example.org/{why}.png", "why": Word(why)} for why in ("site", "page", "other", "none")]
    yield page("pictures", "some", **beside | {"next": 4, "story": "![](/uploads/project-8/0123.png)", "form": FORM})
    refused = FORM | {"errors": {"picture": ["Choose a picture first."]}}
    yield page("pictures", "none", **beside | {"pictures": [], "next": None, "story": "", "form": refused})
    yield page("pictures", "co-owner", **beside | {"may_add": False, "next": None, "story": "", "form": FORM})
    yield page("update", "first", form=form, upload_form=upload, categories=subjects, language="pt-BR", **beside)
    bad = form | {"errors": wrong | {"category_id": ["Category 9 does not exist."], "password": ["Enter a password."]}}
    no_picture = upload | {"errors": {"avatar": ["This is no picture."]}}
    yield page(
        "update",
        "wrong",
        form=bad,
        upload_form=no_picture,
        categories=subjects,
        language="tlh",
        **beside | {"left_out": lost},
    )
    editor = FORM | {"id": 8, "editor": ""}
    choice: Context = {"presenters": ["picture", "text"], "question": "What walks here?", "answers": None}
    yield page("task_presenter_options", "first", form=editor, **choice)
    empty = editor | {"errors": {"editor": ["A volunteer sees nothing."]}}
    yield page("task_presenter_options", "wrong", form=empty, **choice)
    unasked = editor | {"errors": {"question": ["Please fill this in."], "answers": ["Write 1 to 40 answers."]}}
    yield page(
        "task_presenter_options", "unasked", form=unasked, **choice | {"question": "", "answers": "A fox\nAn owl"}
    )
    preview = {"project": {"id": 8, "name": "Night"}, "tasks": [{"id": 1, "info": {"a": "b"}}], "invented": True}
    words = {
        "question": "What walks here?",
        "answers": ["A fox", "A marten"],
        "unsure": "I can’t tell",
        "picture": "",
        "caption": "note",
    }
    whole = {
        "form": editor | {"editor": "<p>?</p>"},
        "presenters": ["picture", "text"],
        "preview": preview,
        "columns": ["photo", "note"],
        "shown": "{}",
        "kept_answers": [],
        "unsaved": False,
    }
    yield page("task_presenter_editor", "starter", part="task_presenter", asked=words, **whole)
    yield page("task_presenter_editor", "no tasks", part="task_presenter", asked=words, **UNUSED | whole)
    text = {"question": "What does it say?"}
    yield page("task_presenter_editor", "text", part="task_presenter", asked=text, **whole)
    shown = whole | {"preview": preview | {"invented": False}}
    yield page("task_presenter_editor", "own", part="task_presenter", asked=None, **shown)
    yield page("task_presenter_editor", "tutorial", part="tutorial", asked=None, **shown)
    wrong_words = {"errors": {"question": ["Please fill this in."], "answers": ["Write 1 to 40."]}}
    refused = whole | {"form": editor | {"editor": "<p>?</p>"} | wrong_words}
    yield page("task_presenter_editor", "wrong", part="task_presenter", asked=words, **refused)
    asked = FORM | {"id": 8, "questions": '{"version": 1, "steps": []}'}
    asked |= {"base": "c0ffee"}
    asking = {"preview": preview, "stored": True, "replaces": False, "unsaved": False, "version": 2, "language": "en"}
    versions = [{"version": version, "created": datetime(2026, 5, 1, tzinfo=UTC)} for version in (2, 1)]
    building = {
        "builder": declarations(str) | {"columns": [], "n_answers": 0, "languages": {}, "locales": []},
        "versions": versions,
        "shown": 0,
        "sent": False,
    }
    of_questions = {"part": "questions", "form": asked, "problems": [], "advice": [], "effects": []} | asking | building
    yield page("questions_editor", "stored", **of_questions)
    yield page("questions_editor", "first", **UNUSED | of_questions | {"stored": False, "unsaved": True})
    yield page("questions_editor", "own page", **of_questions | {"replaces": True})
    yield page("questions_editor", "earlier", **of_questions | {"unsaved": True, "shown": 1})
    lacking = [{"path": "/steps/0/media/0/source/column", "sentence": "None of 3 tasks has the column “url”."}]
    meant = {"advice": lacking, "effects": ["The project has 7 answers."], "sent": True}
    yield page("questions_editor", "checked", **of_questions | meant)
    problem = {"path": "/steps", "sentence": "List 1 to 50 steps."}
    refused = {
        "form": asked | {"errors": {"questions": ["/steps: List 1 to 50 steps."]}},
        "problems": [problem],
        "sent": True,
    }
    yield page("questions_editor", "wrong", **of_questions | refused)
    yield from _guide_editor_cases(page)
    fields = dict.fromkeys(
        ("counted_per_network", "counted_per_group", "volunteer", "taskrun_id", "user_name", "reason")
    )
    somebody = {
        "volunteer": "1f0cc87fcf9f2dc",
        "user_id": None,
        "user_name": None,
        "external_uid": None,
        "barred": False,
    }
    answered: list[Context] = [
        somebody | {"sort": "account", "user_id": 5, "user_name": "jonas", "answers": 1041},
        somebody | {"sort": "account", "user_id": 6, "answers": 12},
        somebody | {"sort": "external", "external_uid": "pupil-7", "answers": 2, "barred": True},
        somebody | {"sort": "anonymous", "answers": 1},
    ]
    first = {"page": 1, "per_page": 50, "total": 4, "prev": False, "next": False}
    unknown = dict.fromkeys(
        ("gold_right", "gold_seen", "gold_low", "gold_high", "agreement", "agreement_seen", "accuracy", "seconds")
    )
    unknown |= {"counts": True, "lifted": False, "last_active": None}
    known: Context = {
        "gold_right": 18.0,
        "gold_seen": 20.0,
        "gold_low": 0.7,
        "gold_high": 0.97,
        "agreement": 0.8,
        "agreement_seen": 31.5,
    }
    known |= {"accuracy": 0.85, "counts": True, "lifted": True, "seconds": 14.2}
    known |= {"last_active": "2025-11-20T09:30:00.000000"}
    spammer = known | {"gold_right": 2.0, "accuracy": 0.34, "counts": False, "lifted": False, "seconds": 1200.0}
    nobody = SHORT | {
        "volunteers": [],
        "known": [],
        "pagination": first | {"total": 0},
        "next": None,
        "who_answered": "",
    }
    many = LISTED | {
        "volunteers": answered,
        "known": [known, spammer, unknown, unknown],
        "who_answered": "account",
        "pagination": first | {"page": None, "total": 200, "prev": True, "next": True},
        "next": "1f0cc87fcf9f2dc",
    }
    run = {"id": 4, "task_id": 1041, "info": {"answer": "A fox"}, "finish_time": "2025-11-20T09:30:00.000000"}
    for one in answered:
        yield page(
            "volunteer",
            one["sort"],
            volunteer=one,
            known=known,
            task_runs=[run],
            next=4,
            titles={"answer": "What <b>is</b> it?"},
        )
    yield page(
        "volunteer",
        "unreliable",
        volunteer=answered[0],
        known=spammer,
        task_runs=[run],
        next=4,
        titles={"answer": "What <b>is</b> it?"},
    )
    yield page(
        "volunteer",
        "nothing left",
        volunteer=answered[0],
        known=unknown,
        task_runs=[],
        next=None,
        titles={"answer": "What <b>is</b> it?"},
    )
    barred = {"id": 3, "at": "2025-11-20T09:30:00.000000", "by": "ilse", "reason": "noise", "user_name": None}
    everybody: list[Context] = [
        barred | {"id": 7, "sort": "account", "shown": "jonas", "user_name": "jonas"},
        barred | {"id": 6, "sort": "account", "shown": ""},
        barred | {"id": 5, "sort": "external", "shown": "pupil-7"},
        barred | {"id": 4, "sort": "anonymous", "shown": "198.51.100.7"},
        barred | {"sort": "network", "shown": "2001:db8::"},
    ]
    yield page("volunteers", "nobody", **nobody, barred=[], default=1, form=FORM | fields)
    yield page(
        "volunteers", "barred", **many, barred=everybody, default=0, form=FORM | fields | {"counted_per_network": 30}
    )
    yield page(
        "volunteers", "none match", **nobody | {"who_answered": "other"}, barred=[], default=1, form=FORM | fields
    )
    wrong = {"errors": {name: ["That is wrong."] for name in fields}}
    yield page("volunteers", "wrong", **nobody, barred=[], default=1, form=FORM | dict.fromkeys(fields, "x") | wrong)
    search = FORM | {"user": None}
    listed: Context = {"coowners": people, "found": [], "form": search, "invitation": None, "link": None}
    yield page("coowners", "first", **listed)
    met = [PERSON | {"id": 9, "name": "noor", "is_creator": False, "is_coowner": False}, people[1]]
    until = "2025-11-27T09:30:00.000000"
    yield page("coowners", "found", **listed | {"found": met, "form": search | {"user": "noor"}, "invitation": until})
    yield page("coowners", "nobody", **listed | {"form": search | {"user": "noone"}})
    link = f"https://crowdd.example{at}invitation?key=8fh2"
    yield page("coowners", "invited", **listed | {"invitation": until, "link": link})
    invited = {
        "project": {"name": OWNED["name"], "short_name": OWNED["short_name"]},
        "by": "Ilse Verbruggen",
        "role": "coowner",
    }
    opened = invited | {"title": "Invitation", "form": FORM, "here": f"{at}invitation?key=8fh2"}
    yield Case("project/invitation.html", "member", frame(ILSE, f"{at}invitation") | opened)
    yield Case("project/invitation.html", "visitor", frame(path=f"{at}invitation") | opened)
    yield Case(
        "project/invitation.html", "reviewer", frame(ILSE, f"{at}invitation") | opened | {"role": Word("reviewer")}
    )
    yield Case(
        "project/invitation.html", "translator", frame(ILSE, f"{at}invitation") | opened | {"role": Word("translator")}
    )
    hand = FORM | {"email_addr": None, "keep": True}
    yield page("transferownership", "first", form=hand)
    yield page(
        "transferownership",
        "wrong",
        form=hand | {"errors": {"email_addr": ["No account has this e-mail address or user name."]}},
    )
    yield page("delete", "first", form=FORM | {"confirm": None})
    yield page("delete", "wrong", form=FORM | {"confirm": "x", "errors": {"confirm": ["Type it exactly."]}})
    acts = [ACT, ACT | {"before": None, "action": "publish"}, ACT | {"kind": "blogpost", "action": "delete"}]
    acts += [ACT | {"kind": "blogpost", "action": "delete", "attribute": None, "before": {"title": "Spring"}}]
    acts += [
        ACT | {"action": "delete", "attribute": None, "before": None, "after": {"tasks": 3}},
        ACT | {"action": "new"},
    ]
    acts.append(ACT | {"attribute": "long_description", "before": "A word. " * 40, "after": None})
    yield page("auditlog", "some", **LISTED, auditlog=acts, next=9, user="ilse")
    yield page("auditlog", "none", **SHORT, auditlog=[], next=None, user="")
    yield page("auditlog", "nobody", **SHORT, auditlog=[], next=None, user="noone")
    posts = [NEWS, NEWS | {"id": 5, "published": True, "media_url": None}]
    yield page("blog", "some", blogposts=posts, next=4, writes=True, feed=True)
    yield page("blog", "none", blogposts=[], next=None, writes=True, feed=False)
    yield page("blog", "visitor", blogposts=[], next=None, writes=False, feed=True, project=PUBLIC | {"n_blogposts": 0})
    yield page("blogpost", "author", blogpost=NEWS, writes=True)
    yield page("blogpost", "visitor", blogpost=posts[1], writes=False, project=PUBLIC)
    beside: Context = {"pictures": [], "may_add": True, "left_out": []}
    letter = {"blogpost": NEWS, "sent": None, "again": None, "readers": 412, "at_most": 1000, "form": BLANK}
    yield page("letter", "first", **letter)
    yield page("letter", "many", **letter | {"readers": 1000})
    yield page("letter", "none", **letter | {"readers": 0})
    moments = {"sent": NEWS["created"], "again": "2025-11-27T08:00:00"}
    yield page("letter", "sent", **letter | moments)
    yield page("letter", "too early", **letter | moments | {"sent": None})
    yield page("edit_blogpost", "new", form=BLANK | {"id": None}, **beside)
    yield page("edit_blogpost", "wrong", form=BLANK | NEWS | {"errors": {"title": ["Too long."]}}, **beside)
    yield Case("project/index.html", "blog", frame(path=at) | PAGE_KEYS | {"project": PUBLIC, "posts": posts})


def _marked() -> list[Any]:
    """Boxes, places, parts of a text and of a sound, by several people; and what they say together."""
    spot = {"geometry": {"type": "Point", "coordinates": [8.5, 47.1]}}
    ring = {"geometry": {"type": "Polygon", "coordinates": [[[8, 47], [9, 47], [9, 48], [8, 47]]]}}
    marks = {
        "boxes": [{"x": 4, "y": 3, "width": 12, "height": 9, "label": "<i>fox</i>"}],
        "places": [spot], "areas": [ring], "spans": [{"start": 2, "end": 5, "text": "fox", "label": "<b>"}],
        "lines": [{"points": [[1, 2], [3, 4]]}], "polygon": [{"x": 1, "y": 2}, {"x": 5, "y": 2}, {"x": 5, "y": 9}],
        "transcript": [{"text": "Dear <b>", "x": 1, "y": 2, "width": 9, "height": 3}, {"text": "no box"}],
    }  # fmt: skip
    fields = [AnswerField(name=f"q <b>{kind}", path=(kind,), type=kind) for kind in marks]
    fields.append(AnswerField(name="heard", path=("heard",), type="spans"))
    infos = [
        marks | {"heard": [{"start": 1.5, "end": 2.5, "label": "<owl>"}]},
        {**marks, "boxes": [], "heard": "no"},
        {},
    ]
    runs = [{"id": nth, "info": info} for nth, info in enumerate(infos, 1)]
    together = [
        CONSENSUS | {"name": field.name, "type": field.type, "value": marks.get(field.name[5:])} for field in fields
    ]
    return marked_media(fields, runs, together, {}, "A fox <b>was</b> there.", {})


def _task_cases(at: str) -> Iterator[Case]:
    """Tasks: overview, list, one with its answers, and what leaves as files."""
    owner, public = PAGE_KEYS | {"project": OWNED}, PAGE_KEYS | {"project": PUBLIC}
    page, here = "project/tasks.html", f"{at}tasks/"
    yield Case(page, "owner", frame(ILSE, here) | owner | {"owns": True, "reviews": True, "open": False})
    yield Case(page, "visitor", frame(path=here) | public | {"owns": False, "reviews": False, "open": True})
    yield Case(page, "kept", frame(path=here) | public | {"owns": False, "reviews": True, "open": False})
    yield Case(page, "none", frame(ILSE, here) | owner | UNUSED | {"owns": True, "reviews": True, "open": True})
    yield Case(
        page, "none, visitor", frame(path=here) | public | UNUSED | {"owns": False, "reviews": False, "open": True}
    )
    task: Context = {
        "id": 28114, "n_answers": 10, "n_task_runs": 9, "priority_0": 0.9, "state": "ongoing", "retired": False,
        "info_text": '{"url": "g4/IMG_2114.jpg", "taken": "2026-11-01 02:41"}', "pct_status": 0.9,
    }  # fmt: skip
    rows = [task, task | {"id": 7733, "state": "completed"}, task | {"id": 8, "retired": True, "info_text": None}]
    pages = {"page": 2, "per_page": 10, "total": 42650, "prev": True, "next": True, "before": 28114, "after": 8}
    chosen = {"words": "", "state": None, "orderby": "id", "desc": False}
    keys = {
        "rows": rows,
        "tasks": rows,
        "pagination": pages,
        "chosen": chosen,
        "missing": "",
        "owns": True,
        "sorts": True,
        "sees": True,
    }
    cells = ["/uploads/project-8/0123.png", "2026-11-01 02:41", None]
    content: Context = {
        "id": 28114,
        "cells": cells,
        "skips": 2,
        "for_review": True,
        "consensus": None,
        "won": False,
        "agreement": None,
    }
    keys["contents"] = {
        28114: content,
        7733: content | {"id": 7733, "consensus": "Pine marten", "won": True, "agreement": 0.91},
        8: content | {"id": 8, "cells": ["g4/IMG_2114.jpg", "", "true"], "agreement": 0.5},
    }
    by_id = {"query": "orderby=id&desc=1&columns=url", "now": "ascending"}
    keys["table"] = {
        "columns": ["url", "taken", "sure", "gate"], "shown": ["url", "taken", "sure"], "per_page": 25, "sizes": [25, 50, 100],
        "query": "orderby=id&columns=url&columns=taken", "sorts": {"id": by_id, "agreement": by_id | {"now": ""}},
        "kept_by_columns": [("orderby", "id"), ("per_page", "25")], "kept_by_size": [("columns", "url"), ("columns", "taken")],
    }  # fmt: skip
    keys["agreements"] = ("", "75")
    keys["matching"] = "max_agreement=75&orderby=agreement"
    page, here = "project/browse.html", f"{at}tasks/browse"
    yield Case(page, "owner", frame(ILSE, here) | owner | keys)
    yield Case(
        page,
        "visitor, no such task",
        frame(path=here) | public | keys | {"owns": False, "missing": "99", "sees": False},
    )
    plain_table = {"table": keys["table"] | {"columns": [], "shown": []}, "contents": {}}
    by_agreement = chosen | {"orderby": "agreement", "desc": True}
    yield Case(
        page, "by agreement", frame(path=here) | public | keys | plain_table | {"owns": False, "chosen": by_agreement}
    )
    none = keys | {"rows": [], "tasks": [], "pagination": pages | {"total": 0, "page": 1, "prev": False, "next": False}}
    sorted_ = {"words": "", "state": "completed", "orderby": "priority_0", "desc": True}
    yield Case(page, "sorted", frame(ILSE, here) | owner | keys | {"chosen": sorted_})
    further = {"pagination": pages | {"prev": False, "before": None}, "chosen": chosen | {"words": "IMG fox"}}
    yield Case(page, "words", frame(ILSE, here) | owner | keys | further)
    yield Case(page, "words not found", frame(ILSE, here) | owner | none | further)
    yield Case(page, "none of that state", frame(ILSE, here) | owner | none | {"chosen": sorted_})
    yield Case(page, "none", frame(path=here) | public | UNUSED | none | {"owns": False})
    run: Context = {
        "id": 9,
        "info": "Pine marten",
        "volunteer": "1f0cc87fcf9f2dc",
        "finish_time": "2025-11-20T21:44:00.000000",
    }
    runs = [run | {"id": 1}, run | {"id": 2, "info": {"x": [1, 2]}}, run | {"id": 3}, run | {"id": 4, "info": None}]
    whole = {
        "task": task | {"info": {"url": "g4/IMG_2114.jpg", "deep": {"a": [1]}}, "closed": None, "retired_note": None,
                        "created": "2025-11-20T21:44:00.000000"},
        "task_runs": runs, "counted": {1: True, 2: True, 3: False, 4: False}, "repeated": [4], "next": 4, "owns": True,
        "aside": {3: {"reason": "Only <b>one</b> word", "at": datetime(2026, 5, 1, tzinfo=UTC), "by": "ilse"}, 2: {"reason": None, "at": None, "by": None}}, "media": _marked(), "pictures": ["/uploads/fox.jpg", "<i>"], "titles": {"answer": "What <b>is</b> it?"},
        "volunteers": {
            1: {"sort": "account", "name": "ilse", "shown": "Ilse Verbruggen"}, 2: {"sort": "external", "name": None, "shown": "a-17"},
            3: {"sort": "anonymous", "name": None, "shown": None}, 4: {"sort": "account", "name": None, "shown": None},
        },
        "fields": [],
        "agreement": {"key": "answer", "agreement": 0.32, "share": 0.41, "leading": "Pine marten", "kinds": 4, "votes": [
            {"value": "Pine marten", "n": 4}, {"value": {"x": [1, 2]}, "n": 3}]},
        "posterior": [{"value": value, "probability": p} for value, p in (("Pine marten", 0.9821), (None, 0.0081), ("Fox", 0.0098))],
    }  # fmt: skip
    page, here = "project/task.html", f"{at}tasks/28114"
    yield Case(
        page, "owner", frame(ILSE, here) | owner | whole | {"skips": {"broken": 2, "unsure": 1}, "comments": [COMMENT]}
    )
    yield Case(
        page,
        "visitor",
        frame(path=here) | public | whole | {"owns": False, "volunteers": {}, "aside": {}, "next": None},
    )
    columns = {"task_runs": [run | {"id": n, "info": {"answer": None, "sure": n > 1, "x": [n]}} for n in (1, 2, 3, 4)]}
    yield Case(page, "answers with keys", frame(ILSE, here) | owner | whole | columns | {"skips": {}, "comments": []})
    selected: Context = {
        "task_id": 28114,
        "task_runs": runs,
        "volunteers": whole["volunteers"],
        "title": "Delete answers",
    }
    change = {"tasks": 1, "completed": 0, "reopened": 1, "answers": 4}
    for kind, effect in (("delete", change), ("aside", change), ("bar", None)):
        keys = frame(ILSE, f"{here}/answers/{kind}") | owner | selected | {"effect": effect, "action": kind}
        yield Case("project/task_answers.html", kind, keys)
    gone = whole["task"] | {"info": "text", "closed": "retired", "retired_note": "Blurred."}
    nothing = {"task": gone, "task_runs": [], "agreement": None, "posterior": None, "next": None}
    yield Case(page, "taken out", frame(ILSE, here) | owner | whole | nothing)
    compared = {
        "agreement": whole["agreement"] | {"key": None, "agreement": None},
        "task_runs": [run | {"id": 1, "volunteer": None}],
        "posterior": None,
    }
    yield Case(page, "whole answers", frame(ILSE, here) | owner | whole | compared)
    fields = [CONSENSUS | {"name": "species"}, *FIELD_CONSENSUS]
    yield Case(page, "several questions", frame(ILSE, here) | owner | whole | {"fields": fields, "skips": {}})
    page, here = "project/task_history.html", f"{here}/history"
    all_kinds = [
        ("2025-11-22T08:00:00.000000", ["deleted", "answer_deleted"]), ("2025-11-21T17:30:00.000000", ["changed", "settings", "reopened"]),
        ("2025-11-21T09:12:44.120000", ["corrected", "result", "result_changed"]), ("2025-11-20T22:10:00.000000", ["retired"]),
        ("2025-11-20T21:44:00.000000", ["answered"]), ("2025-11-20T21:00:00.000000", ["created"]),
    ]  # fmt: skip
    times = [{"at": Word(moment), "what": [Word(each) for each in what]} for moment, what in all_kinds]
    then: Context = {
        "task_id": 28114,
        "times": times,
        "at": None,
        "task": None,
        "task_runs": None,
        "result": None,
        "now": False,
        "cut": False,
        "titles": {"answer": "What <b>is</b> it?"},
    }
    yield Case(page, "times", frame(ILSE, here) | owner | then)
    result = {
        "info": {"note": "sure"},
        "consensus": {"answer": {"value": "Pine marten", "n_compared": 4, "agreement": 0.4, "confidence": 0.9}},
    }
    moment: Context = {
        "at": Word(all_kinds[2][0]),
        "task": whole["task"],
        "task_runs": runs,
        "result": result,
        "now": True,
        "cut": True,
    }
    yield Case(page, "a moment", frame(ILSE, here) | owner | then | moment)
    bare = {"task": gone, "task_runs": [], "result": None}
    yield Case(page, "retired then", frame(ILSE, here) | owner | then | moment | bare)
    nothing_said = {"task": gone | {"closed": "gold"}, "result": {"info": None, "consensus": None}}
    yield Case(page, "gold then", frame(ILSE, here) | owner | then | moment | nothing_said)
    finished = {"task": gone | {"closed": "complete", "state": "completed"}}
    yield Case(page, "finished then", frame(ILSE, here) | owner | then | moment | finished)
    yield Case(page, "nothing kept", frame(ILSE, here) | owner | then | {"times": []})
    sizes = [
        {"type": type_, "rows": n, "bytes": 450 * n, "more": n == 1}
        for type_, n in (("task", 42650), ("task_run", 1), ("result", 0))
    ]
    types = ["task", "task_run", "result", "consensus", "volunteer", "event", "prediction"]
    formats = ["json", "csv", "xlsx", "ndjson", "parquet", "arrow", "dictionary"]
    tables = {"task": True, "words": True, "wide": False, "separator": "", "changed": False}
    files = {"exports": sizes, "formats": formats, "types": types, "tables": tables, "kept": [], "others": []}
    yield from _change_cases(at, owner)
    yield from _import_cases(at, owner)
    yield from _media_cases(at, owner)
    keys = frame(ILSE, f"{at}tasks/export") | owner | files
    yield Case("project/export.html", "owner", keys)
    coco = {"name": "coco", "title": "COCO", "cannot": [Word("Only boxes are kept.")], "questions": ["boxes", LONG]}
    yield Case("project/export.html", "marks", keys | {"others": [coco, coco | {"name": "voc", "cannot": []}]})
    yield Case(
        "project/export.html",
        "some tasks",
        keys | {"task_ids": "12,15", "chosen": "task_ids=12%2C15", "kept": [("task_ids", "12,15")]},
    )
    programs = [
        {"name": Word(name), "title": Word(name), "language": Word("python"), "text": Word(f"print('{name}')\n")}
        for name in ("pandas", "r")
    ]
    used = (
        frame(ILSE, f"{at}data")
        | owner
        | {"snippets": programs, "needs_key": True, "locked": False, "title": Word("Use this data")}
    )
    yield Case("project/data.html", "owner", used)
    yield Case("project/data.html", "open", used | {"needs_key": False})
    yield Case("project/data.html", "with a password", used | {"locked": True})
    matching = {"task_ids": "", "chosen": "scope=matching&matching=state%3Dongoing%26orderby%3Did"}
    yield Case("project/export.html", "tasks that match", keys | matching)


def _change_cases(at: str, owner: Context) -> Iterator[Case]:
    """What owners change of many tasks, with its effect before, and the work that goes on."""
    effect: Context = {
        "tasks": 42650,
        "completed": 1,
        "reopened": 1234,
        "answers": 127340,
        "dry_run": True,
        "queue_item": None,
    }
    fields: Context = {
        "n_answers": 3,
        "priority_0": 0.5,
        "sched": "default",
        "task_ids": "7, 8",
        "short_name": "",
        "volunteer": None,
        "note": "Blurred",
        "by": "uncertain",
        "question": "species",
        "model": "yolo",
        "column": "",
        "share": 0.1,
        "csrf": "t",
    }
    match: Context = {"text": "orderby=agreement", "words": "fox", "state": "ongoing", "agreements": ("20", "")}
    for name in ("redundancy", "priority", "order", "scheduler", "withdraw", "retire", "reopen", "delete"):
        page, keys = f"project/task_{name}.html", frame(ILSE, f"{at}tasks/{name}") | owner
        keys |= {
            "title": "A change",
            "form": fields | {"errors": {}},
            "effect": None,
            "schedulers": ["default", "random", "new_one"],
            "predicted": {"questions": ["species"], "models": ["yolo", "resnet"]},
            "matching": None,
            "wanted": None,
        }
        yield Case(page, "first", keys)
        wanted: Context = {"tasks": 42_650, "answers": 213_250, "fewest": 3, "most": 5, "imported": 0}
        yield Case(page, "of a draft", keys | UNUSED | {"n_tasks": 42_650, "wanted": wanted})
        yield Case(
            page, "on the way to publishing", keys | UNUSED | {"project": READY, "n_tasks": 42_650, "wanted": wanted}
        )
        yield Case(page, "with its effect", keys | {"effect": effect})
        yield Case(page, "without effect", keys | {"effect": dict.fromkeys(effect, 0)})
        wrong = {
            "n_answers": ["Too many."],
            "priority_0": ["From 0 to 1."],
            "task_ids": ["No."],
            "short_name": ["No."],
            "sched": ["No."],
            "share": ["From 0 to 1."],
            "model": ["`model` is missing."],
            "volunteer": ["No answer of this project has it."],
        }
        yield Case(page, "wrong", keys | {"form": fields | {"errors": wrong}})
        yield Case(page, "all that match", keys | {"matching": match, "effect": effect})
        yield Case(
            page,
            "all tasks",
            keys | {"matching": {"text": "orderby=id", "words": "", "state": None, "agreements": None}},
        )
    yield Case("project/task_delete.html", "none", frame(ILSE, f"{at}tasks/delete") | owner | UNUSED | {
        "form": fields | {"errors": {}}, "effect": None, "matching": None})  # fmt: skip
    item: Context = {
        "id": 7, "name": "import_tasks", "state": "running", "created": "2025-11-20T21:44:00.000000", "done": 61240,
        "total": 100_000, "rate": 6110.4, "eta": 7.2, "error": "", "cancelling": False, "result": None,
    }  # fmt: skip
    ended = item | {"state": "done", "rate": None, "eta": None, "result": {"import": 4, "refused": 12}}
    dead = item | {
        "id": 5,
        "name": "change_tasks",
        "state": "dead",
        "error": "The file no longer exists.",
        "total": None,
        "rate": None,
    }
    items = [
        item,
        item | {"id": 8, "cancelling": True},
        ended | {"id": 6},
        dead,
        item | {"id": 4, "state": "waiting", "rate": None},
    ]
    yield from _comment_cases(at, owner)
    yield from _review_cases(at, owner)
    page, keys = "project/queue.html", frame(ILSE, f"{at}queue") | owner
    keys |= {"chosen": {"state": None}}
    yield Case(page, "some", keys | LISTED | {"items": items, "next": 4})
    yield Case(page, "none", keys | SHORT | {"items": [], "next": None})
    yield Case(page, "none of that state", keys | SHORT | {"items": [], "next": None, "chosen": {"state": "dead"}})


COMMENT: Context = {
    "id": 7, "task_id": 28114, "created": "2025-11-20T21:44:00.000000", "kind": Word("problem"), "text": "The picture is black.\nOr is it?",
    "settled": False, "volunteer": "3f2a9c41d07b5e8", "shared": True, "state": Word("shown"), "n_reports": 0, "own": False,
    "replies": [{"id": 9, "created": "2025-11-20T21:44:00.000000", "text": "It is night.\nThank you!", "gone": False}],
}  # fmt: skip


def _review_cases(at: str, owner: Context) -> Iterator[Case]:
    """The review of completed tasks, reviewers, and adaptive redundancy."""
    info = {"title": "Camera 3", "image": "/uploads/project-1/0123456789abcdef0123456789abcdef.png"}
    choices = ["fox", "marten", None, 7]
    chosen = {"which": "", "class_": "", "query": ""}
    counts = {"none": 2, "full": 1001, "sure": 40, "opinions": 1, "commented": 0}
    task = {
        "result_id": 9,
        "task_id": 28114,
        "class": 2,
        "confidence": 0.49,
        "model": 0.512,
        "agreement": 0.33,
        "info": info,
    }
    task |= {"reason": Word("full"), "answers": 3, "opinions": 1, "comments": 2}
    unfit = {
        "task_id": 28115,
        "class": None,
        "reason": Word("none"),
        "confidence": None,
        "model": None,
        "agreement": None,
        "opinions": 0,
        "comments": 0,
    }
    page, keys = "project/review.html", frame(ILSE, f"{at}review") | owner | {"title": "Review", "owns": True}
    keys |= {"choices": choices, "counts": counts, "chosen": chosen, "declared": True, "first": True, "next": 9}
    keys |= {"decidable": False}
    yield Case(page, "some", keys | {"tasks": [task, task | unfit, task | {"reason": Word("expert")}]})
    filtered = {"chosen": {"which": "full", "class_": "2", "query": "which=full&class=2"}, "first": False, "next": None}
    yield Case(page, "nothing", keys | {"tasks": [], "next": None})
    yield Case(page, "none match", keys | filtered | {"tasks": []})
    nothing = {"next": None, "declared": False, "choices": []}
    yield Case(page, "no label", keys | nothing | {"tasks": []})
    unlabelled = task | {"class": None, "model": None, "confidence": None, "reason": None}
    yield Case(page, "questions", keys | nothing | {"decidable": True, "tasks": [unlabelled]})
    page, keys = "project/review_task.html", frame(ILSE, f"{at}review/28114") | owner | {"title": "Review task 28114"}
    result = {"result_id": 9, "class": 2, "reason": Word("full"), "posterior": [0.3, 0.6, 0.1, 0], "choices": choices}
    result |= {"decided_by": None, "decided_name": None, "decided_at": None}
    answer = {"id": 4, "class_": 1, "info": {"answer": "fox", "note": "tail"}, "counted": True, "unreliable": False}
    answer |= {"volunteer": "1f0cc87fcf9f2dc", "weight": 1.2, "accuracy": 0.71}
    lost = answer | {"id": 5, "class_": None, "info": None, "counted": False, "weight": None, "accuracy": None}
    answers = [answer, lost, lost | {"id": 6, "unreliable": True, "volunteer": None}]
    opinion = {"user_id": 5, "user_name": "jonas", "class": 1, "at": "2025-11-20T09:30:00.000000"}
    shown = {"project": {"id": 1}, "tasks": [{"id": 28114, "info": info}], "invented": False}
    keys |= {"task": {"id": 28114, "info": info}, "result": result, "answers": answers, "keys": ["1", "2", "3", "4"]}
    keys |= {
        "opinions": [],
        "differ": False,
        "owns": True,
        "decides": True,
        "mine": False,
        "chosen": chosen,
        "csrf": "c",
    }
    keys |= {"preview": shown, "source": "", "next": Word(f"{at}review/28115")}
    keys |= {"whole": False, "withdraws": False, "titles": {}, "worded": {}, "beginning": None}
    yield Case(page, "doubtful", keys)
    yield Case(
        page, "framed", keys | {"source": "<p>?</p>", "preview": {"project": {}, "tasks": [], "invented": False}}
    )
    decided = {"reason": Word("expert"), "decided_name": "jonas", "decided_at": "2025-11-20T09:30:00.000000"}
    differing = {"opinions": [opinion, opinion | {"class": None}], "differ": True, "owns": False, "decides": False}
    yield Case(page, "decided", keys | {"result": result | decided, "next": None} | differing)
    yield Case(page, "none", keys | {"result": result | {"reason": Word("none"), "posterior": None, "class": None}})
    titles = {"q": "How high?", "note": "A note"}
    whole = {"whole": True, "withdraws": True, "source": "<p>?</p>", "titles": titles, "beginning": {"q": 4}}
    whole |= {"worded": {one["id"]: {"q": 3, "note": [{"text": "Dear Anna"}]} for one in answers}}
    yield Case(page, "whole answer", keys | whole | {"result": result | decided})
    unlabelled = {"choices": [], "posterior": None, "class": None, "reason": None}
    yield Case(page, "without a label", keys | whole | {"result": result | unlabelled, "withdraws": False, "keys": []})
    page, keys = "project/sample.html", frame(ILSE, f"{at}sample") | owner | {"title": "Random sample", "owns": True}
    share = {"right": 189, "n": 200, "share": 0.945, "low": 0.904, "high": 0.969}
    nothing = {"right": 0, "n": 0, "share": None, "low": None, "high": None}
    classes = [{"number": n, "precision": share, "recall": nothing} for n in (1, 2, 3, 4)]
    sample = {"drawn": 240, "since": "2025-11-20T09:30:00.000000", "agree": share, "classes": classes, "confusion": []}
    sample |= {"sure": share}
    keys |= {"choices": choices, "keys": ["1", "2", "3", "4"], "csrf": "c", "usual": 200, "rest": 1040}
    curve = {"method": "platt", "n": 200, "right": 189.0, "values": [0.0, 1.0], "shares": [0.2, 0.9], "loss": 0.2}
    keys |= {"recalibration": None, "needed": 50}
    begun = {"recalibration": curve | {"raw_loss": 0.3, "at": "2025-11-20T09:30:00.000000"}}
    keys |= {"preview": shown, "source": "", "task": {"id": 28114, "info": info}}
    yield Case(page, "begun", keys | begun | {"sample": sample})
    yield Case(page, "framed", keys | {"sample": sample | {"agree": nothing}, "source": "<p>?</p>"})
    end = {"task": None, "preview": None, "rest": 0}
    yield Case(page, "done", keys | {"sample": sample} | end)
    yield Case(page, "nothing", keys | {"sample": sample | {"drawn": 0, "agree": nothing, "since": None}} | end)
    page, keys = "project/reviewers.html", frame(ILSE, f"{at}reviewers") | owner | {"title": "Reviewers"}
    keys |= {
        "address": "https://crowdd.example/project/x/review",
        "form": FORM | {"user": None},
        "link": None,
        "invitation": None,
    }
    made = {"link": "https://crowdd.example/project/x/invitation?key=8fh2", "invitation": "2025-11-27T21:44:00.000000"}
    keys |= {"role": Word("reviewer")}
    people = {"people": [{"id": 5, "name": "jonas", "fullname": "Jonas"}]}
    yield Case(page, "some", keys | people | made)
    missing = FORM | {"user": "noor", "errors": {"user": ["No account has this user name."]}}
    yield Case(page, "none", keys | {"people": [], "form": missing})
    yield Case(page, "translators", keys | people | {"role": Word("translator"), "title": "Translators"})
    yield Case(page, "no translators", keys | {"people": [], "role": Word("translator"), "title": "Translators"})
    yield from _translation_cases(at, owner)
    yield from _adaptive_cases(at, owner)
    yield from _rules_cases(at, owner)
    yield from _next_step_cases(at, owner)


def _translation_cases(at: str, owner: Context) -> Iterator[Case]:
    """The languages of a project, and its texts beside one of them."""
    page, keys = "project/languages.html", frame(ILSE, f"{at}languages") | owner | {"title": "Languages"}
    counts = {"missing": 12, "outdated": 1, "translated": 29}
    one = {"language": Word("de"), "version": 4} | counts
    keys |= {"form": FORM, "source_language": Word("en"), "owns": True, "written": False}
    other = one | {"language": Word("ar"), "version": 0, "missing": 42, "outdated": 0, "translated": 0}
    yield Case(page, "some", keys | {"translations": [one, other]})
    yield Case(page, "translator", keys | {"translations": [one], "owns": False, "written": True})
    yield Case(page, "no language", keys | {"translations": [], "source_language": Word("")})
    yield Case(page, "no language, translator", keys | {"translations": [], "source_language": Word(""), "owns": False})
    page, keys = "project/translation.html", frame(ILSE, f"{at}languages/de") | owner | {"title": "Deutsch"}
    string = {"key": "questions/animal/text", "source": "Which animal?", "digest": Word("0123456789abcdef")}
    string |= {"text": "Welches Tier?", "state": Word("translated")}
    row = {
        "string": string,
        "name": Word("1"),
        "document": Word("questions"),
        "kind": Word("question"),
        "part": "animal",
    }
    row |= {"text": "Welches Tier?", "seen": Word("0123456789abcdef"), "error": "", "theirs": None}
    old = row | {
        "name": Word("2"),
        "string": string | {"state": Word("outdated")},
        "kind": Word("choice"),
        "theirs": "Which one?",
    }
    none = row | {
        "name": Word("3"),
        "string": string | {"state": Word("missing"), "text": ""},
        "document": Word("project"),
        "text": "",
    }
    none |= {"kind": Word("name"), "part": "", "error": "Another project has this name."}
    keys |= {"form": FORM, "language": Word("de"), "source_language": Word("en"), "version": 4, "counts": counts}
    keys |= {"owns": True, "show": Word(""), "page": 1, "pages": 2, "strings": [string], "rows": [none, row, old]}
    yield Case(page, "some", keys)
    yield Case(page, "nothing", keys | {"rows": [], "show": Word("missing"), "owns": False, "pages": 1})


def _next_step_cases(at: str, owner: Context) -> Iterator[Case]:
    page, keys = "project/next_steps.html", frame(ILSE, f"{at}next") | owner | {"title": "Next steps"}
    rule = {"each": {"field": "lines"}, "columns": {"picture": "picture"}, "answers": {}}
    step = {"id": 9, "name": "Transcribe the lines", "short_name": "lines", "open_tasks": 812, "rule": rule}
    step |= {"made": 4210, "changed": 3, "waiting": 1, "failure": None}
    full = step | {"id": 10, "changed": 0, "waiting": 0, "failure": "An account may have 1,000 tasks."}
    form = FORM | dict.fromkeys(STEP_FIELDS, "") | {"columns": "picture", "next": Word("9")}
    keys |= {"candidates": [{"id": 9, "name": "Transcribe the lines"}, {"id": 11, "name": "Check"}], "form": form}
    keys |= {"fields": ["lines", "kind"], "item_fields": ["lines"], "tests": [*map(Word, TESTS)], "rows": [1, 2, 3]}
    keys |= {"steps": [step, full], "preview": None, "full": False}
    yield Case(page, "some", keys)
    yield Case(page, "none", keys | {"steps": [], "candidates": []})
    part = {"part": "1", "info": {"picture": "https://elsewhere.example/1.jpg", "x": 10, "geometry": {"type": "Point"}}}
    preview = [{"task_id": 7, "n": 2, "parts": [part, part]}, {"task_id": 8, "n": None, "parts": []}]
    filled = {"each": "lines", "label": "text", "field_1": "kind", "test_1": Word("is_not"), "value_1": "map"}
    yield Case(page, "preview", keys | {"preview": preview, "form": form | filled | {"crop_column": "picture"}})
    wrong = {"next": ["Choose one of your projects."], "value_1": ["Enter a number."], "rule": ["That is no rule."]}
    yield Case(page, "wrong", keys | {"form": form | {"errors": wrong}, "preview": [], "full": True})


def _rules_cases(at: str, owner: Context) -> Iterator[Case]:
    page, keys = "project/rules.html", frame(ILSE, f"{at}rules") | owner | {"title": "Rules for tasks"}
    row = {"measure": Word("in_a_row"), "choice": "nothing here", "min": 5}
    rules = [
        {"name": "Nothing here", "when": [row], "then": Word("complete")},
        {
            "name": "Experts differ",
            "when": [{"measure": Word("choices"), "skill": 0.85, "min": 2}, {"measure": Word("agreement"), "max": 0.6}],
            "then": Word("more_answers"),
            "answers": 3,
        },
        {"name": "Unsure", "when": [{"measure": Word("votes"), "choice": None, "min": 1}] * 4, "then": Word("review")},
    ]
    parts = {f"{part}_{nth}": "" for nth in range(1, ROWS + 1) for part in ("measure", "choice", "skill", "min", "max")}
    form = FORM | parts | {"name": "", "then": Word("complete"), "answers": "", "measure_1": Word("in_a_row")}
    keys |= {
        "version": 4,
        "rules": rules,
        "decided": [
            {
                "rule": rule["name"],
                "kind": rule["then"],
                "version": 4,
                "tasks": 1234,
                "last": "2025-11-27T21:44:00.000000",
            }
            for rule in rules
        ],
        "newest": [
            {"task_id": 28114, "rule": "Nothing here", "version": 3, "kind": Word("complete"), "answers": 5}
            | {"at": "2025-11-27T21:44:00.000000"}
        ],
        "choices": ["fox", "nothing here", None],
        "replay": None,
        "form": form,
        "rows": [*range(1, ROWS + 1)],
        "measures": [*map(Word, MEASURES)],
        "of_a_choice": [*map(Word, OF_A_CHOICE)],
        "shares": [*map(Word, SHARES)],
        "actions": [*map(Word, ACTIONS)],
        "shown": [(Word('"fox"'), "fox"), (Word('"nothing here"'), "nothing here"), (Word("null"), "null")],
        "max_answers": 50,
    }
    yield Case(page, "some", keys)
    yield Case(page, "none", keys | {"rules": [], "decided": [], "newest": [], "version": 0})
    effects = [
        {"name": rule["name"], "then": rule["then"], "tasks": nth, "answers": 40} for nth, rule in enumerate(rules, 1)
    ]
    replay = {"tasks": 1000, "answers": 6200, "rules": effects}
    filled = {"name": "Foxes", "choice_1": Word('"fox"'), "min_1": "3", "max_1": "8", "skill_1": "85"}
    yield Case(page, "replayed", keys | {"replay": replay, "form": form | filled})
    wrong = {"name": ["Enter a name."], "min_1": ["Enter a number."], "answers": ["Enter a number."]}
    yield Case(page, "wrong", keys | {"form": form | {"errors": wrong}})
    yield Case(page, "no label", keys | {"choices": None, "shown": []})


def _adaptive_cases(at: str, owner: Context) -> Iterator[Case]:
    page, keys = "project/adaptive.html", frame(ILSE, f"{at}adaptive") | owner | {"title": "Adaptive redundancy"}
    figures = {"min_answers": 2, "confidence": 0.95, "choices": ["fox", "marten"], "guarded": True, "accuracy": 0.81}
    figures["judged"] = 5321
    figures |= {
        "tasks": 900,
        "below_maximum": 4120,
        "sure": 700,
        "full": 190,
        "none": 10,
        "expert": 12,
        "answers": 6200,
    }
    figures |= {"completed": 900, "mean_answers": 3.21, "gold_seen": 40.0}
    steps = calibration([(0.6, False), (0.85, True), (0.96, True), (0.99, True), (0.99, False)])
    form = FORM | {"on": True, "completed": False, "min_answers": 2, "confidence": "95", "max_answers": 11}
    replay = {
        "min_answers": 2,
        "confidence": 0.95,
        "maximum": 11,
        "tasks": 900,
        "given": 6200,
        "asked": 3844,
        "fewer": 0.38,
        "fixed": None,
    }
    replay |= {"early": 700, "short": 3, "same": 880, "compared": 900, "right": 11, "checked": 12, "chosen": True}
    replay |= {"same_share": share_of(880, 900), "right_share": share_of(11, 12)}
    keys |= {
        "figures": figures,
        "form": form,
        "replays": [],
        "effect": None,
        "on": True,
        "usual": 11,
        "headline": None,
        "charts": {},
    }
    nobody = {"gold": calibration([]), "experts": calibration([])}
    yield Case(page, "unchecked", keys | {"checked": nobody})
    yield Case(page, "off", keys | {"checked": nobody, "on": False, "usual": 5, "form": form | {"on": False}})
    drawn = {"gold": chart(steps["steps"]), "experts": chart(steps["steps"])}
    measured = {"claimed": 0.95, "share": 0.88, "low": 0.78, "high": 0.94, "tasks": 60}
    yield Case(
        page, "checked", keys | {"checked": {"gold": steps, "experts": steps}, "charts": drawn, "headline": measured}
    )
    effect = {"completed": 12, "reopened": 1234, "early": 1600, "replayed": 2000}
    yield Case(page, "effect", keys | {"checked": nobody, "effect": effect})
    nothing = dict.fromkeys(effect, 0)
    yield Case(page, "no effect", keys | {"checked": nobody, "effect": nothing})
    other = replay | {"chosen": False, "confidence": 0.98, "compared": 0, "tasks": 0, "checked": 0}
    other |= {"same_share": share_of(0, 0), "right_share": share_of(0, 0)}
    fixed = {"tasks": 200, "accuracy": 0.96, "needed": 5.25, "saved": 0.31, "low": 0.18, "high": 0.44}
    for name, against in {
        "replayed": None,
        "against a fixed number": fixed,
        "without an interval": fixed | {"low": None, "high": None},
        "nothing as accurate": fixed | {"needed": None, "saved": None, "low": None, "high": None},
    }.items():
        others = [replay | {"fixed": against}, other | {"fixed": against}]
        yield Case(page, name, keys | {"checked": nobody, "replays": others})
    wrong = {name: ["Enter a number."] for name in ("min_answers", "confidence", "max_answers")}
    yield Case(page, "wrong", keys | {"checked": nobody, "form": form | {"errors": wrong}})
    empty = figures | {"below_maximum": 0, "answers": 0, "mean_answers": None, "guarded": False}
    yield Case(page, "empty", keys | {"checked": nobody, "figures": empty})
    yield Case(page, "no label", keys | {"checked": None, "figures": None, "on": False})


def _comment_cases(at: str, owner: Context) -> Iterator[Case]:
    """Comments on tasks: the form, and the list of owners."""
    info = {"title": "Camera 3", "image": "/uploads/project-1/0123456789abcdef0123456789abcdef.png"}
    page, keys = "project/comment.html", frame(ILSE, f"{at}task/28114/comment") | owner
    keys |= {"title": "Comment on this task", "task": {"id": 28114, "info": info}}
    own = COMMENT | {"own": True, "id": 8}
    states = [own | {"state": Word(state), "id": number} for number, state in enumerate(("held", "hidden", "gone"), 10)]
    keys |= {"comments": [COMMENT, own | {"replies": []}, *states], "shared": True}
    blank = FORM | {"kind": None, "text": None}
    wrong = {"kind": ["Choose one."], "text": ["Please fill this in."]}
    yield Case(page, "blank", keys | {"form": blank})
    yield Case(page, "to owners", keys | {"form": blank, "comments": [own], "shared": False})
    yield Case(page, "refused", keys | {"form": blank | {"kind": "", "text": "", "errors": wrong}})
    page, keys = "project/columns.html", frame(ILSE, f"{at}tasks/columns") | owner | {"title": "Columns of tasks"}
    keys |= {"missed": [], "unsaved": False, "form": FORM | {"base": "0a"}}
    values: list[str | None] = ["At night", None]
    known = [{"name": name, "role": role, "values": values} for name, role in (("place", Word("hidden")), ("scan", ""))]
    yield Case(page, "some", keys | {"columns": known})
    changed = {"form": FORM | {"base": "0a", "errors": {"roles": ["Changed."]}}, "missed": ["place"], "unsaved": True}
    yield Case(page, "changed", keys | changed | {"columns": known[:1]})
    yield Case(page, "none", keys | {"columns": []})
    page, keys = "project/comments.html", frame(ILSE, f"{at}comments") | owner | {"chosen": {"state": "open"}}
    others = [
        COMMENT,
        COMMENT | {"id": 6, "kind": Word("question"), "volunteer": None, "state": Word("held"), "n_reports": 3},
        COMMENT | {"id": 5, "kind": Word("remark"), "shared": False},
    ]
    done = [one | {"settled": True} for one in others]
    infos = {7: info, 6: None, 5: "text"}
    yield Case(page, "some", keys | LISTED | {"comments": others, "next": 5, "infos": infos})
    last = {"next": None, "infos": infos, "chosen": {"state": "done"}}
    yield Case(page, "done", keys | SHORT | last | {"comments": done})
    yield Case(page, "none", keys | SHORT | {"comments": [], "next": None, "infos": {}})
    held = last | {"chosen": {"state": "held"}}
    yield Case(page, "none held", keys | SHORT | held | {"comments": []})
    yield Case(page, "none done", keys | SHORT | last | {"comments": []})


def _import_cases(at: str, owner: Context) -> Iterator[Case]:
    """Bringing tasks: the file, what its columns are, what came of it."""
    page, keys = (
        "project/import.html",
        frame(ILSE, f"{at}tasks/import") | owner | {"max_bytes": 100_000_000, "n_answers": 5, "n_samples": 3},
    )
    form: Context = {"form_name": "csv", "csv_url": None, "rows": None, "csrf": "t", "errors": {}}
    one: Context = {
        "id": 4, "name": "gate-4-november.csv", "state": "pending", "rows": 4212, "added": 0, "present": 0, "refused": 0,
        "created": "2025-11-20T21:44:00.000000", "bytes": 812_331, "format": "csv", "again": False, "keep_columns": False, "ended": None,
        "columns": ["image_url", "taken_at", "camera", "n_answers"], "queue_item": None, "updated": 0, "twice": 0,
        "kept": 0, "empty": 2, "gone": 0, "kind": "table", "key_name": None, "n_answers": 30, "on_error": None,
        "dialect": {"format": "csv", "encoding": "cp1252", "delimiter": ";", "header": True, "commas": {"Breite": False}},
        "doubts": ["encoding", "decimal_commas"],
        "check_item": None, "check_error": "", "work": None, "left_behind": [], "waits": None, "exportlike": False,
        "max_atomic_rows": 50_000, "sheets": [],
        "preview": {"rows": 4212, "added": 4197, "updated": 0, "present": 3, "twice": 2, "kept": 0, "refused": 12,
                    "empty": 2, "answers": 12591, "fewest": 3, "most": 3, "gone": 0},
        "sample": [{"image_url": "g4/IMG_0412.jpg", "taken_at": "2026-11-01 02:41", "camera": "north", "n_answers": "3"}] * 5,
    }  # fmt: skip
    done = one | {"state": "done", "added": 4197, "present": 3, "refused": 12}
    source: Context = {
        "id": 1, "url": "https://museum.example/exports/gate-4.csv", "period": 86_400, "active": True, "why_off": "",
        "next_at": "2025-11-21T21:44:00.000000", "reading": False, "read_at": "2025-11-20T21:44:00.000000",
        "outcome": "read", "problem": "", "failures": 0, "waits": False, "import_id": 4, "rows": 4212, "added": 12,
        "updated": 0, "present": 4188, "refused": 12,
    }  # fmt: skip
    unread = {"read_at": None, "outcome": "", "import_id": None}
    sources = [
        source,
        source | unread | {"id": 2, "reading": True},
        source | unread | {"id": 3, "active": False},
        source | {"id": 4, "failures": 3, "outcome": "failed", "problem": "The other server returned status 500."},
        source | {"id": 5, "active": False, "why_off": "The other server returned status 404."},
        source | {"id": 6, "waits": True, "outcome": "unchanged"},
    ]
    yield Case(page, "first", keys | {"form": form, "imports": [], "sources": []})
    yield Case(
        page,
        "some",
        keys
        | {
            "form": form,
            "imports": [one, done | {"id": 3}, one | {"id": 2, "state": "dead", "name": ""}],
            "sources": sources,
        },
    )
    wrong = form | {"errors": {"file": ["The file is UTF-16. Save it as UTF-8."], "csv_url": ["No."]}}
    yield Case(page, "wrong", keys | {"form": wrong, "imports": [], "sources": []})
    pasted = form | {"rows": "url,url\nx1,x2", "errors": {"rows": ["Two columns are called url."]}}
    yield Case(page, "pasted", keys | {"form": pasted, "imports": [], "sources": []})
    page, keys = "project/import_one.html", frame(ILSE, f"{at}tasks/import/4") | owner
    uses = {"image_url": "info", "taken_at": "info", "camera": "skip", "n_answers": "n_answers"}
    refused = [
        {"line": 8, "reason": "n_answers is not an integer.", "text": "g4/IMG_0419.jpg, 2026-11-01 02:44, north, many"}
    ] * 5
    form = {"again": False, "keep_columns": False, "n_answers": 30, "on_error": None, "csrf": "t", "errors": {}}
    asked = {
        "form": form,
        "uses": uses,
        "refused_rows": refused,
        "encodings": [("utf-8", "UTF-8"), ("cp1252", "Windows-1252")],
        "columns": {
            "roles": {"image_url": "picture", "taken_at": "date", "camera": "hidden", "n_answers": ""},
            "named": {"image_url": "Bild"},
            "places": [{"column": "url", "filled": ""}, {"column": "image_url", "filled": "Bild"}],
            "originals": ["Bild", "taken_at", "camera", "n_answers"],
            "hidden": ["camera"],
        },
        "repeats": True,
    }
    yield Case(page, "columns", keys | asked | {"import": one})
    good = one["preview"] | {"refused": 0, "present": 0, "twice": 0, "added": 4212, "fewest": 1}
    keyed = good | {"added": 7, "updated": 120, "present": 4085, "kept": 30, "gone": 4}
    work: Context = {"id": 9, "state": "running", "done": 1200, "total": 4212, "error": "", "cancel": False}
    yield Case(page, "all good", keys | asked | {"import": one | {"preview": good, "doubts": []}})
    sheets = [{"name": "Gate 4", "hidden": False, "chosen": True}, {"name": "Codes", "hidden": True, "chosen": False}]
    workbook = {"format": "xlsx", "encoding": "utf-8", "delimiter": "", "header": True, "sheet": ""}
    book = {"format": "xlsx", "sheets": sheets, "dialect": workbook, "preview": good, "doubts": []}
    yield Case(page, "a workbook", keys | asked | {"import": one | book})
    manifest = {"format": "iiif", "dialect": workbook | {"format": "iiif"}, "preview": good, "doubts": []}
    yield Case(page, "a manifest", keys | asked | {"import": one | manifest})
    yield Case(page, "with a key", keys | asked | {"import": one | {"preview": keyed, "key_name": "image_url"}})
    exported = one | {"exportlike": True, "left_behind": ["id", "created"], "doubts": ["one_column", "no_header"]}
    yield Case(page, "a task export", keys | asked | {"import": exported | {"kind": "tasks", "format": "json"}})
    yield Case(
        page, "answers", keys | asked | {"import": exported | {"kind": "answers", "preview": keyed | {"updated": 0}}}
    )
    results = exported | {"kind": "results", "preview": keyed, "format": "json"}
    yield Case(page, "results", keys | asked | {"import": results})
    yield Case(page, "results filled in", keys | asked | {"import": results | {"state": "done"}})
    going: Context = {
        "state": "running", "reading": False, "rows": 4212, "added": 1180, "updated": 0, "present": 3, "refused": 12,
        "left": 3017, "done": 1200, "total": 4212, "rows_per_second": 640, "seconds_left": 5,
    }  # fmt: skip
    at_first = dict.fromkeys(("left", "total", "rows_per_second", "seconds_left"))
    read = going | at_first | {"state": "reading", "reading": True, "rows": 0, "done": 0}
    being_read = {"import": one | {"state": "reading", "preview": None, "work": work}, "progress": read}
    yield Case(page, "being read", keys | asked | being_read)
    yield Case(page, "not read", keys | asked | {"import": one | {"state": "unread", "preview": None}})
    useless = {"state": "unreadable", "preview": None, "check_error": "The file has no rows."}
    yield Case(page, "useless", keys | asked | {"import": one | useless})
    wrong = asked["form"] | {"errors": {"uses": ["A task would hold nothing."]}}
    yield Case(page, "wrong", keys | asked | {"import": one, "form": wrong})
    running = {"import": done | {"state": "running", "added": 1180, "work": work}, "progress": going}
    yield Case(page, "running", keys | asked | running)
    yield Case(page, "done", keys | asked | {"import": done | {"gone": 3, "kept": 2, "twice": 1}, "n_samples": 6})
    failed = done | {
        "state": "dead",
        "added": 0,
        "present": 0,
        "refused": 0,
        "on_error": "stop",
        "work": work | {"error": "Line 4: no."},
    }
    yield Case(page, "failed", keys | asked | {"import": failed})
    yield Case(page, "stopped", keys | asked | {"import": done | {"state": "cancelled", "added": 900, "refused": 0}})


def _media_cases(at: str, owner: Context) -> Iterator[Case]:
    """Bringing pictures and other files: choosing them, how far they are, what became of them."""
    limits: Context = {"n_answers": 3, "max_files": 10_000, "max_file_bytes": 1_000_000_000, "part_bytes": 4_194_304}
    titled = {"title": "Add pictures, sounds, videos or PDFs", **limits}
    pictures: Context = {"web_pixels": 2000, "tiles": True}
    page, keys = "project/media.html", frame(ILSE, f"{at}tasks/media") | owner | titled | pictures
    form: Context = {"grouping": "file", "column": "", "n_answers": None, "csrf": "t", "errors": {}}
    columns = {"picture": ["picture"], "sound": ["sound"], "video": ["video"]}
    listed = {"id": 3, "created": "2025-11-20T21:44:00.000000", "closed": None, "files": 412, "tasks": 400, "refused": 2,
              "unfinished": 9}  # fmt: skip
    yield Case(page, "first", keys | {"form": form, "batches": [], "columns": columns})
    several = columns | {"picture": ["front", "back"]}
    yield Case(page, "some", keys | {"form": form, "batches": [listed, listed | {"unfinished": 0}], "columns": several})
    wrong = form | {"errors": {"files": ["Choose files first."]}, "grouping": "name", "n_answers": "7"}
    yield Case(page, "wrong", keys | {"tiles": False, "form": wrong, "batches": [], "columns": columns})
    page, keys = (
        "project/media_batch.html",
        frame(ILSE, f"{at}tasks/media/3") | owner | titled | {"title": "Uploaded files"},
    )
    batch: Context = {
        "id": 3, "created": "2025-11-20T21:44:00.000000", "closed": None, "grouping": "file", "column_name": "",
        "keep_location": False, "keep_original": False, "n_answers": 3, "work_error": None,
    }  # fmt: skip
    state: Context = {
        "state": "done", "closed": True, "arriving": 0, "files": 412, "added": 400, "present": 10, "refused": 2,
        "left": 0, "tasks": 400, "files_per_second": None, "seconds_left": None,
    }  # fmt: skip
    file: Context = {"id": 9, "path": "trip/IMG_0412.jpg", "page": 0, "kind": "picture", "url": "/uploads/x.jpg",
                     "thumbnail": "/uploads/project-8/x.jpg", "task_id": 12, "reason": ""}  # fmt: skip
    bad = file | {"url": None, "thumbnail": None, "task_id": None, "reason": "The file is empty."}
    files = {"form": {"csrf": "t", "errors": {}}, "files": [file, file | {"page": 3}] * 4, "refused": [bad, bad]}
    none = files | {"files": [], "refused": []}
    over = {"batch": batch | {"closed": batch["created"]}, "state": state, "n_samples": 6}
    yield Case(page, "done", keys | files | over)
    going = state | {"state": "working", "left": 120, "files": 532, "files_per_second": 3.2, "seconds_left": 38}
    yield Case(page, "working", keys | files | {"batch": batch, "state": going})
    begun = state | {
        "state": "open",
        "closed": False,
        "arriving": 3,
        "files": 0,
        "added": 0,
        "present": 0,
        "refused": 0,
    }
    yield Case(page, "open", keys | none | {"batch": batch | {"grouping": "name"}, "state": begun | {"tasks": 0}})
    stopped = state | {"state": "stopped", "left": 7, "files": 419}
    yield Case(page, "stopped", keys | files | {"batch": batch | {"work_error": "The disk is full."}, "state": stopped})


def _webhook_cases(at: str) -> Iterator[Case]:
    state: Context = {
        "project_id": 8, "short_name": "night-gate", "url": "https://hooks.museum.example/crowdd", "state": "on",
        "why_off": "", "failures": 0, "next_attempt": None, "last_delivered": "2025-11-20T21:44:00.000000",
        "n_events": 31204, "n_waiting": 12, "n_failed": 2, "n_missed": 0, "old_secret_until": None,
    }  # fmt: skip
    delivered: Context = {
        "id": 977, "event": "task_completed", "sequence": 978, "message_id": "event_8_978", "state": "delivered",
        "attempts": 1, "next_attempt": None, "response_status_code": 204, "problem": "", "seconds": 0.21,
        "updated": "2025-11-20T21:44:00.000000",
    }  # fmt: skip
    failed = delivered | {
        "id": 978, "sequence": None, "event": "ping", "state": "failed", "response_status_code": None,
        "problem": "hooks.museum.example did not respond within 15 seconds.", "seconds": 15.0,
    }  # fmt: skip
    waiting = delivered | {"id": 979, "state": "waiting", "attempts": 0, "seconds": None, "response_status_code": None}
    form: Context = {"webhook": state["url"], "csrf": "form-t0ken", "errors": {}}
    whole = {"webhook": state, "secret": "whsec_c2VjcmV0", "deliveries": [waiting, failed, delivered], "form": form}
    keys = (
        frame(ILSE, f"{at}webhook")
        | PAGE_KEYS
        | {"project": OWNED, "chosen": {"state": None}, "next": None}
        | SHORT
        | whole
    )
    page = "project/webhook.html"
    yield Case(page, "in use", keys | {"next": 41})
    none = state | {"url": None, "state": "none", "n_waiting": 0, "n_failed": 0, "n_events": 0}
    empty = {"webhook": none, "secret": None, "deliveries": [], "form": form | {"webhook": None}}
    yield Case(page, "none", keys | empty)
    yield Case(page, "new", keys | {"deliveries": [], "webhook": state | {"n_missed": 3120}})
    failing = state | {"state": "failing", "failures": 4, "next_attempt": "2025-11-20T22:44:00.000000"}
    yield Case(page, "failing", keys | {"webhook": failing, "chosen": {"state": "failed"}, "next": 7} | LISTED)
    off = state | {
        "state": "off",
        "why_off": "The receiver answered 503.",
        "old_secret_until": "2025-11-21T22:44:00.000000",
    }
    yield Case(page, "off", keys | {"webhook": off, "secret": None})
    wrong = form | {"webhook": "http://127.0.0.1/", "errors": {"webhook": ["127.0.0.1 is a loopback address."]}}
    yield Case(page, "wrong", keys | {"form": wrong})
    tried: Context = {
        "at": "2025-11-20T21:44:00.000000", "url": state["url"], "body": '{"event": "task_completed"}', "status": 503,
        "answer": "HTTP 503\nserver: nginx\n\nTry again later.", "problem": "The receiver answered 503.", "seconds": 0.2,
    }  # fmt: skip
    done = tried | {"status": 204, "answer": "HTTP 204", "problem": "", "seconds": 1.0}
    one = {"delivery": delivered | {"attempts": 2, "attempts_made": [tried, done]}}
    yield Case("project/delivery.html", "at last", keys | one)
    later = waiting | {"attempts": 1, "next_attempt": "2025-11-20T22:44:00.000000", "attempts_made": [tried]}
    yield Case("project/delivery.html", "waiting", keys | {"delivery": later})
    yield Case("project/delivery.html", "not sent", keys | {"delivery": waiting | {"attempts_made": []}})


def _participation_cases() -> Iterator[Case]:
    project = {"id": 1, "name": "Night gate", "short_name": "night-gate"}
    task = {"id": 7, "info": {"title": "Camera 3", "image": "/uploads/project-1/0123456789abcdef0123456789abcdef.png"}}
    run: Context = {
        "id": 9, "task_id": 7, "finish_time": "2025-11-20T21:44:00.000000", "counted": True, "trial": False,
        "info": {"answer": "Fox"}, "task": task, "project": project,
    }  # fmt: skip
    kinds = [
        run, run | {"info": {"x": [1, 2]}, "counted": False}, run | {"info": None, "trial": True},
        run | {"task": None, "project": None, "info": 3}, run | {"task": {"id": 7, "info": "text"}, "info": {"a": "b"}},
    ]  # fmt: skip
    at, named = frame(ILSE, "/account/ilse/answers"), {"title": "Your answers", "name": "ilse"}
    yield Case(
        "account/answers.html", "some", at | named | {"answers": kinds, "next": 4, "projects": [NIGHT], "first": True}
    )
    yield Case(
        "account/answers.html", "older", at | named | {"answers": kinds, "next": None, "projects": [], "first": False}
    )
    yield Case(
        "account/answers.html", "none", at | named | {"answers": [], "next": None, "projects": [], "first": True}
    )
    at, named = frame(ILSE, "/account/ilse/favourites"), {"title": "Your favourites", "name": "ilse", "form": FORM}
    marked = [{"task": task, "project": project}, {"task": {"id": 8, "info": None}, "project": None}]
    at, named = frame(ILSE, "/account/ilse/collections"), {"title": "Your collections", "name": "ilse"}
    mine: Context = {"id": 4, "name": "Foxes at night", "published": True, "n_tasks": 12}
    new = FORM | {"name": None, "description": None}
    wrong = new | {"name": "", "errors": {"name": ["Use 1 to 100 characters."]}}
    yield Case(
        "account/collections.html",
        "some",
        at | named | {"collections": [mine, mine | {"published": False}], "form": new},
    )
    yield Case("account/collections.html", "none", at | named | {"collections": [], "form": wrong})
    choice: Context = {
        "title": "Add to a collection",
        "task": task,
        "form": FORM | {"collection_id": "", "name": "", "note": ""},
    }
    some = [mine | {"has_task": True}, mine | {"id": 5, "name": "Badgers", "has_task": False}]
    yield Case("account/collect.html", "some", at | named | choice | {"collections": some})
    yield Case(
        "account/collect.html",
        "none",
        at | named | choice | {"collections": [], "form": choice["form"] | {"errors": wrong["errors"]}},
    )
    whole: Context = {
        "collection": {"id": 4, "name": "Foxes at night", "description": "With a tail.", "published": True, "owner": "ilse",
                       "fullname": "Ilse Verbruggen", "own": True},
        "tasks": [{"note": "Look at the ears.", "task": task, "project": project},
                  {"note": "", "task": {"id": 8, "info": "text"}, "project": project}],
        "next": 3, "address": "https://crowd.example.org/account/ilse/collections/4",
        "form": FORM | {"name": "Foxes at night", "description": "With a tail.", "published": True},
    }  # fmt: skip
    one = "account/collection.html"
    yield Case(one, "own", at | named | whole)
    yield Case(
        one,
        "own, empty",
        at | named | whole | {"tasks": [], "next": None, "collection": whole["collection"] | {"published": False}},
    )
    theirs = (
        frame(path="/account/ilse/collections/4")
        | named
        | whole
        | {"form": FORM, "collection": whole["collection"] | {"own": False}}
    )
    yield Case(one, "others", theirs)
    yield Case(one, "others, nothing", theirs | {"tasks": [], "next": None})
    at, named = frame(ILSE, "/account/ilse/favourites"), {"title": "Your favourites", "name": "ilse", "form": FORM}
    yield Case("account/favourites.html", "some", at | named | {"favourites": marked, "next": 8})
    yield Case("account/favourites.html", "none", at | named | {"favourites": [], "next": None})


OPEN: Context = {"closed": False, "invitation": ""}


def _account_cases() -> Iterator[Case]:
    for template in ("account/register.html", "account/first_admin.html"):
        for kind, form in (("first", ACCOUNT_FORM), ("wrong", WRONG_ACCOUNT)):
            more = {"form": form, "title": "Register", "claimable": 0, "next": "", "provider": None} | OPEN
            yield Case(template, kind, frame(path="/account/register") | more)
    offered = {
        "form": ACCOUNT_FORM, "title": "Register", "claimable": 17, "next": "/project/night-gate/", "provider": "ORCID",
    }  # fmt: skip
    yield Case("account/register.html", "with answers", frame(path="/account/register") | offered | OPEN)
    for kind, more in {"closed": {}, "spent": {"invitation": "k3y"}, "from a provider": {"provider": "ORCID"}}.items():
        shut = offered | {"provider": None, "claimable": 0, "closed": True, "invitation": ""} | more
        yield Case("account/register.html", kind, frame(path="/account/register") | shut)
    refused = {"form": ACCOUNT_FORM | {"errors": {"invitation": ["By invitation only."]}}, "invitation": "k3y"}
    yield Case(
        "account/register.html", "refused", frame(path="/account/register") | offered | refused | {"closed": True}
    )
    yield Case("account/signin.html", "first", frame(path="/account/signin") | SIGN_IN)
    form = SIGN_IN["form"] | {"email": "ruth@example.org", "errors": {"password": ["E-mail or password is wrong."]}}
    wrong = {"form": form, "auth": {}, "next": "/project/night-gate/settings"}
    yield Case("account/signin.html", "wrong", frame(path="/account/signin") | SIGN_IN | wrong)
    lists = {
        "projects_contrib": [GALAXIES, *OTHERS], "projects_created": [NIGHT], "projects_published": [NIGHT],
        "projects_draft": [OTHERS[2]],
    }  # fmt: skip
    nothing: Context = {key: [] for key in lists} | {"n_helped": 0}
    lists |= {"n_helped": 4}
    at = "/account/ilse/"
    yield Case(
        "account/profile.html",
        "in use",
        frame(ILSE, at) | lists | {"user": SELF, "can_confirm": False, "returned": None, "paused": ["braided"]},
    )
    new = SELF | {"n_answers": 0, "rank": None, "fullname": "", "admin": False, "valid_email": False}
    yield Case(
        "account/profile.html",
        "new",
        frame(ILSE, at)
        | nothing
        | {"user": new, "can_confirm": True, "returned": "5.1.1 550 No such user here", "paused": []},
    )
    yield Case("account/public_profile.html", "open", frame(path=at) | lists | {"user": PERSON})
    yield Case("account/public_profile.html", "busy", frame(path=at) | lists | {"user": PERSON, "n_helped": 1204})
    hidden = {"name": "ilse", "locale": "en"}
    yield Case("account/public_profile.html", "private", frame(path=at) | nothing | {"user": hidden})
    full = {"accounts": PEOPLE_FULL, "top_users": PEOPLE, "update_feed": FEED, "total": 1312, "title": "People"}
    middle = LISTED | {"pagination": PAGINATION | {"page": None, "prev": True}, "next": 74}
    yield Case("account/index.html", "full", frame(ILSE, "/account/") | full | middle)
    nobody = SHORT | {"accounts": [], "next": None, "top_users": [], "update_feed": [], "total": 0, "title": "People"}
    alone = PAGINATION | {"total": 0, "next": False}
    yield Case("account/index.html", "empty", frame(path="/account/") | nobody | {"pagination": alone})
    yield from _settings_cases(at)
    yield Case("account/resetapikey.html", "first", frame(ILSE, f"{at}resetapikey") | {"form": {"csrf": "form-t0ken"}})


def _settings_cases(at: str) -> Iterator[Case]:
    blank = {"csrf": "form-t0ken", "errors": {}}
    projects = {"projects_published": [NIGHT, OTHERS[0]], "projects_draft": [OTHERS[1]], "name": "ilse", "paused": []}
    yield Case("account/projects.html", "some", frame(ILSE, f"{at}projects") | projects)
    none = {"projects_published": [], "projects_draft": [], "name": "ilse", "paused": []}
    yield Case("account/projects.html", "none", frame(ILSE, f"{at}projects") | none)
    here = {"sessions": DEVICES, "form": blank, "name": "ilse"}
    yield Case("account/sessions.html", "two", frame(ILSE, f"{at}sessions") | here)
    yield Case("account/sessions.html", "none", frame(ILSE, f"{at}sessions") | here | {"sessions": []})
    for kind, answers in (("some", 17), ("none", 0)):
        yield Case(
            "account/claim.html", kind, frame(ILSE, f"{at}claim") | {"answers": answers, "form": blank, "name": "ilse"}
        )
    for kind, errors in (("first", {}), ("wrong", {"email_addr": ["Enter a valid e-mail address."]})):
        form = {"email_addr": "x", "csrf": "form-t0ken", "errors": errors}
        yield Case("account/password_forgot.html", kind, frame(path="/account/forgot-password") | {"form": form})
        bad = {"new_password": ["Use 8 to 1000 characters."]} if errors else {}
        ways = {"ways_in": WAYS_IN, "keep": ["passkey-3"]} if errors else {"ways_in": [], "keep": []}
        reset = {"form": blank | {"new_password": None, "confirm": None, "errors": bad}} | ways
        yield Case("account/password_reset.html", kind, frame(path="/account/reset-password") | reset)
    sent = {"form": blank | {"email_addr": None}, "flash": "Check your e-mail.", "status": "success"}
    yield Case("account/password_forgot.html", "sent", frame(path="/account/forgot-password") | sent)
    yield Case("account/account_validation.html", "sent", frame(path="/account/register") | {"status": "sent"})
    for new in (True, False):
        opened = frame(path="/account/register/confirmation") | {"form": blank, "new": new}
        yield Case("account/confirmation.html", "new" if new else "known", opened)
    ask = {
        "title": "Make administrator?",
        "text": "Ada will see and change everything.",
        "button": "Make administrator",
    }
    yield Case("confirm.html", "rights", frame(ILSE, "/admin/users/add/7") | ask)
    onward = {"title": "Continue to the provider", "next": "https://provider.example/auth?state=1"}
    yield Case("account/leaving.html", "on", frame(ILSE, "/google/") | onward)
    none = {"state": "none", "requested": None, "ready": None, "bytes": None, "url": None}
    waiting = none | {"state": "waiting", "requested": "2025-11-20T21:40:00.000000"}
    ready = waiting | {
        "state": "ready", "ready": "2025-11-20T21:41:00.000000", "bytes": 48213, "url": f"{at}export/download",
    }  # fmt: skip
    for export in (none, waiting, ready):
        context = {"export": export, "form": blank, "name": "ilse"}
        yield Case("account/export.html", export["state"], frame(ILSE, f"{at}export") | context)
    leaving = {"form": blank, "projects": [], "name": "ilse", "asks_password": True}
    yield Case("account/delete.html", "with a password", frame(ILSE, f"{at}delete") | leaving)
    wrong_name = {"form": blank | {"errors": {"confirm": ["That is not it."]}}, "asks_password": False}
    yield Case("account/delete.html", "without one", frame(ILSE, f"{at}delete") | leaving | wrong_name)
    owns = {"projects": [{"short_name": "night", "name": "Who walks through the night gate"}]}
    yield Case("account/delete.html", "an owner", frame(ILSE, f"{at}delete") | leaving | owns)
    choice = {"subscribed": True, "valid_email": False, "without": [Word("post")]}
    news = {"news": [TOLD, REPLIED], "choice": choice, "muted": [TOLD["project"]], "form": blank, "name": "ilse"}
    yield Case("account/news.html", "some", frame(ILSE, f"{at}news") | news | {"title": "News"})
    unused = {"news": [], "muted": [], "choice": choice | {"valid_email": True}}
    yield Case("account/news.html", "none", frame(ILSE, f"{at}news") | news | unused | {"title": "News"})
    for ended in (False, True):
        context = frame(path="/unsubscribe") | {"title": "Stop?", "ended": ended, "to": "5.s3al"}
        yield Case("account/unsubscribe.html", "ended" if ended else "asks", context)
    yield from _group_cases(at)
    yield from _recognition_cases(at)
    yield Case("account/newsletter.html", "first", frame(ILSE, "/account/newsletter") | {"form": blank, "next": "/"})
    yield Case("account/update.html", "first", frame(ILSE, f"{at}update") | SETTINGS)
    provider = {"show_passwd_form": False, "user": SELF | {"info": {"avatar_url": "/uploads/user-5/a.png"}}}
    yield Case("account/update.html", "without a password", frame(ILSE, f"{at}update") | SETTINGS | provider)
    wrong = {"form": SETTINGS["form"] | {"name": "a b", "errors": {"name": ["No blanks."], "email_addr": ["Taken."]}}}
    wrong |= {"password_form": SETTINGS["password_form"] | {"errors": {"current_password": ["No."]}}}
    wrong |= {"upload_form": SETTINGS["upload_form"] | {"errors": {"avatar": ["This is no picture."]}}}
    wrong |= {"revoke": True, "ways_in": WAYS_IN, "keep": ["authenticator"]}
    yield Case("account/update.html", "wrong", frame(ILSE, f"{at}update") | SETTINGS | wrong)
    yield from _security_cases(at)


def _group_cases(at: str) -> Iterator[Case]:
    here, day = f"{at}groups", Word("2027-01-31")
    one = {"id": 3, "name": "Class 5b", "size": 28, "last_day": day, "lasts": True}
    joined = {"id": 4, "name": "Friends of the museum", "last_day": day, "answers": 210}
    form = {"csrf": "form-t0ken", "errors": {}, "name": "", "size": 30, "last_day": Word("")}
    wrong = {"errors": {"name": ["Use 1 to 100 characters."], "last_day": ["Choose a day."]}}
    listed = {
        "title": "Your groups",
        "name": "ilse",
        "groups": [one | {"n_members": 27}],
        "joined": [joined],
        "form": form,
    }
    ended = [one | {"n_members": 1, "lasts": False}]
    yield Case("account/groups.html", "some", frame(ILSE, here) | listed)
    yield Case("account/groups.html", "ended", frame(ILSE, here) | listed | {"groups": ended, "joined": []})
    yield Case(
        "account/groups.html", "none", frame(ILSE, here) | listed | {"groups": [], "joined": [], "form": form | wrong}
    )
    link = "https://crowdd.example/join/BCDFGH"
    group = one | {"code": Word("BCDFGH"), "shows_names": True, "ranks": False}
    members = [
        {"id": 1, "name": "Otter", "guest": True, "joined": "2026-11-20T21:40:00.000000", "answers": 31},
        {"id": 2, "name": "ilse", "guest": False, "joined": "2026-11-20T21:41:00.000000", "answers": 0},
    ]
    form |= {"name": "Class 5b", "size": 28, "last_day": day, "shows_names": True, "ranks": False}
    page = {
        "title": "Class 5b",
        "name": "ilse",
        "group": group,
        "members": members,
        "answers": 31,
        "link": link,
        "form": form,
    }
    closed = {"link": None, "qr": None, "members": [], "answers": 0}
    page["qr"] = qr_code(link)
    yield Case("account/group.html", "some", frame(ILSE, f"{here}/3") | page)
    yield Case("account/group.html", "closed", frame(ILSE, f"{here}/3") | page | closed | {"form": form | wrong})
    yield Case(
        "account/group.html", "ended", frame(ILSE, f"{here}/3") | page | closed | {"group": group | {"lasts": False}}
    )
    board = {key: page[key] for key in ("title", "name", "group", "answers", "link", "qr")} | {
        "n_members": 2,
        "n_active": 1,
    }
    named = [{"name": one["name"], "answers": one["answers"], "seconds": 95.0} for one in members]
    ranked = board | {"group": group | {"ranks": True}, "members": named}
    yield Case("account/group_board.html", "ranked", frame(ILSE, f"{here}/3/board") | ranked)
    yield Case("account/group_board.html", "named", frame(ILSE, f"{here}/3/board") | board | {"members": named})
    yield Case(
        "account/group_board.html",
        "closed",
        frame(ILSE, f"{here}/3/board") | board | {"members": [], "link": None, "qr": None},
    )
    join = {
        "title": "Join a group",
        "known": False,
        "form": {"csrf": "form-t0ken", "errors": {}, "code": "", "name": "", "number": ""},
    }
    mistakes = {
        "form": join["form"]
        | {"errors": {"code": ["No group has this code now."], "number": ["Wrong."]}, "number": "123"}
    }
    yield Case("group/join.html", "first", frame(path="/join") | join)
    yield Case("group/join.html", "wrong", frame(path="/join") | join | mistakes)
    yield Case("group/join.html", "known", frame(ILSE, "/join") | join | {"known": True})
    guest = Who()
    guest.guest = True
    own = {
        "name": "Class 5b",
        "member": "Otter",
        "on_board": True,
        "last_day": day,
        "answers": 31,
        "n_members": 27,
        "group_answers": 812,
    }
    context = {"title": "Class 5b", "group": own, "form": {"csrf": "form-t0ken", "errors": {}}}
    yield Case("group/own.html", "some", frame(guest, "/group") | context)
    left = context | {"group": own | {"on_board": False}}
    yield Case("group/own.html", "not on the board", frame(guest, "/group") | left)


def _recognition_cases(at: str) -> Iterator[Case]:
    here = f"{at}contributions"
    paper = {"doi": Word("10.1234/gate.2026"), "title": "Foxes at the night gate"}
    night = {
        "name": "Who walks through the night gate",
        "short_name": "night",
        "papers": [paper, paper | {"title": ""}],
    }
    gone = {"name": None, "short_name": None, "papers": []}
    worth = {"answers": 1204, "seconds": 30_960.0}
    certificate = {
        "id": 3,
        "key": Word("Zk3v9Qw1"),
        "created": Word("2026-11-20T21:40:00.000000"),
        "name": "Ilse Falter",
        "first_day": Word("2026-01-01"),
        "last_day": Word("2026-11-20"),
        **worth,
        "n_projects": 2,
        "projects": [{"name": night["name"], **worth}, {"name": "Ducks", "answers": 1, "seconds": 20.0}],
    }
    months = [(date(2025 + nth // 12, nth % 12 + 1, 1), nth * 0.4) for nth in range(11, 23)]
    form = {"csrf": "form-t0ken", "errors": {}, "name": "Ilse Falter", "first_day": "2026-01-01", "last_day": ""}
    page = {
        "title": "What you gave",
        "account": "ilse",
        **worth,
        "whole": False,
        "limit": 20_000,
        "projects": [night | worth, gone | {"answers": 1, "seconds": 20.0}],
        "works": [{"sort": Word(sort), **worth} for sort in ("choose", "write", "mark", "")],
        "months": [],
        "months_drawn": months,
        "unit": Word("hours"),
        "on_boards": True,
        "certificates": [certificate],
        "form": form,
    }
    wrong = {"form": form | {"errors": {"last_day": ["Choose a day that is not before the first one."]}}}
    yield Case("account/contributions.html", "some", frame(ILSE, here) | page)
    few = {"whole": True, "certificates": [], "on_boards": False, "unit": Word("minutes")}
    yield Case("account/contributions.html", "wrong", frame(ILSE, here) | page | few | wrong)
    none = {"answers": 0, "seconds": 0.0, "projects": [], "works": [], "certificates": []}
    yield Case("account/contributions.html", "none", frame(ILSE, here) | page | none)
    checked = {"title": "Certificate", "certificate": certificate}
    yield Case("account/certificate.html", "some", frame(path="/certificate/x") | checked)
    bare = {"certificate": certificate | {"projects": [], "answers": 1, "n_projects": 1}}
    yield Case("account/certificate.html", "without projects", frame(path="/certificate/x") | checked | bare)
    leaders = [each | {"rank": nth + 1, **worth} for nth, each in enumerate(PEOPLE)]
    board = {"title": "Leaderboard", "top_users": leaders}
    for week in (False, True):
        yield Case("stats/board.html", f"week {week}", frame(ILSE, "/leaderboard/time") | board | {"week": week})
    yield Case("stats/board.html", "nobody", frame(path="/leaderboard/time") | board | {"week": True, "top_users": []})
    for week in (False, True):
        context = PAGE_KEYS | board | {"project": PUBLIC, "week": week}
        yield Case("project/leaderboard.html", f"week {week}", frame(ILSE, "/project/night-gate/leaderboard") | context)


def _security_cases(at: str) -> Iterator[Case]:
    blank = {"csrf": "form-t0ken", "errors": {}, "password": None, "code": None, "credential": None}
    wrong = blank | {"errors": {"code": ["This code is wrong."], "password": ["This is not your password."]}}
    both = {"password": True, "code": True, "passkey": True, "recovery_code": True}
    none = dict.fromkeys(both, False)
    offered = [{"name": "orcid", "title": "ORCID"}]
    for kind, form, methods, providers in (
        ("all ways", blank, both, []), ("wrong", wrong, both, []), ("a provider", blank, none, offered),
    ):  # fmt: skip
        more = {"form": form, "methods": methods, "providers": providers, "next": f"{at}tokens"}
        yield Case("account/prove.html", kind, frame(ILSE, "/account/prove") | more)
    for kind, form, methods in (
        ("all ways", blank, both),
        ("wrong", wrong, both | {"passkey": False}),
        ("lost", blank, none),
    ):
        yield Case(
            "account/second_step.html", kind, frame(path="/account/signin/second") | {"form": form, "methods": methods}
        )
    counts = {"passkeys": 2, "recovery_codes": 9, "tokens": 3, "sessions": 2}
    full = {"password": True, "authenticator": True, **counts}
    bare = dict.fromkeys(full, 0) | {"password": False, "authenticator": False, "sessions": 1}
    for kind, security in (("full", full), ("bare", bare)):
        more = {"security": security, "name": "ilse", "offers_passkeys": True}
        yield Case("account/security.html", kind, frame(ILSE, f"{at}security") | more)
    since = {"since": "2025-11-20T21:40:00.000000", "secret": None, "uri": None}
    new = {"since": None, "secret": "JBSWY3DPEHPK3PXP", "uri": "otpauth://totp/crowdd:ilse?secret=JBSWY3DPEHPK3PXP"}
    drawn = qr_code(new["uri"])
    drawn["path"] = Word(drawn["path"])
    for kind, state, form, qr in (
        ("new", new, blank, drawn),
        ("set up", since, blank, None),
        ("wrong", new, wrong, drawn),
        ("without a code", new, blank, None),
    ):
        more = {"authenticator": state, "form": form, "qr": qr, "name": "ilse"}
        yield Case("account/authenticator.html", kind, frame(ILSE, f"{at}authenticator") | more)
    codes = ["abcdef-ghjkmn", "pqrstu-vwxyz2"]
    for kind, shown, left, has_factor in (
        ("shown once", codes, 10, True),
        ("left", [], 7, True),
        ("no factor", [], 0, False),
    ):
        more = {"codes": shown, "left": left, "any": has_factor, "form": blank, "name": "ilse"}
        yield Case("account/recovery_codes.html", kind, frame(ILSE, f"{at}recovery-codes") | more)
    keys = [
        {
            "id": 1, "name": "Phone", "created": "2025-11-20T21:40:00.000000", "last_used": "2025-11-21T21:40:00.000000",
            "address_proved": True,
        },
        {"id": 2, "name": "Key ring", "created": "2025-11-20T21:40:00.000000", "last_used": None, "address_proved": False},
    ]  # fmt: skip
    named = blank | {"name": None}
    bad = named | {"name": "x", "errors": {"name": ["Use 1 to 60 characters."], "credential": ["Not accepted."]}}
    for kind, credentials, form, obstacle in (
        ("two", keys, named, ""),
        ("wrong", [], bad, ""),
        ("no https", [], named, "Passkeys do not work on this site: they need a domain name and https."),
    ):
        more = {"passkeys": credentials, "form": form, "available": not obstacle, "obstacle": obstacle, "name": "ilse"}
        yield Case("account/passkeys.html", kind, frame(ILSE, f"{at}passkeys") | more)
    token = {
        "id": 1, "name": "Importer", "scope": "project", "project": "night-gate", "expired": False,
        "created": "2025-11-20T21:40:00.000000", "expires": "2026-11-20T21:40:00.000000", "last_used": None,
    }  # fmt: skip
    old = token | {
        "id": 2,
        "scope": "read",
        "project": None,
        "expired": True,
        "last_used": "2025-11-21T21:40:00.000000",
    }
    fields = blank | {"name": None, "scope": None, "project": None, "days": None}
    faults = {"errors": {"name": ["Use 1 to 60 characters."], "days": ["Use a number."]}}
    for kind, credentials, made, form in (
        ("none", [], None, fields), ("made", [token, old], "crowdd_t0ken", fields), ("wrong", [token], None, fields | faults),
    ):  # fmt: skip
        more = {"tokens": credentials, "token": made, "form": form, "scopes": ["read"], "name": "ilse"}
        yield Case("account/tokens.html", kind, frame(ILSE, f"{at}tokens") | more)


def _statistics_cases() -> Iterator[Case]:
    at, page = "/project/night-gate/stats", "project/stats.html"
    keys = frame(path=at) | PAGE_KEYS | {"project": PUBLIC}
    top = [
        {"name": user["name"], "fullname": user["fullname"], "tasks": user["score"], "restrict": False}
        for user in PEOPLE
    ]
    sides = {
        "anonymous": {
            "users": 1458,
            "taskruns": 39220,
            "pct_taskruns": 30,
            "top5": [{"ip": None, "volunteer": "3f9a1c0d2b4e6f8", "tasks": 9}],
        },
        "authenticated": {"users": 412, "taskruns": 88120, "pct_taskruns": 70, "top5": top},
        "geo": False,
    }
    days = [[f"2025-11-{7 + n:02}", 300 + 40 * n] for n in range(14)]
    ends = {"per_day": 412.4, "expected": "2026-01-09", "earliest": "2026-01-02", "latest": "2026-01-20"}
    charts = {
        "avg_contrib_time": 11.42, "projectStats": sides, "userStats": sides, "estimate": ends, "days": days,
        "hours": [[hour, 24 * hour] for hour in range(24)],
    }  # fmt: skip
    yield Case(page, "visitor", keys | charts)
    yield Case(page, "owner", frame(ILSE, at) | PAGE_KEYS | {"project": OWNED} | charts)
    yield Case(page, "uneven days", keys | charts | {"estimate": ends | {"latest": None}})
    yield Case(page, "nothing lately", keys | charts | {"estimate": None, "days": [[day, 0] for day, _ in days]})
    yield Case(page, "finished", keys | charts | {"estimate": None, "overall_progress": 100})
    yield Case(page, "no answers", keys | {"n_task_runs": 0, "last_activity": None, "estimate": None})
    yield Case(page, "no tasks", keys | UNUSED | {"estimate": None})
    board, here = "stats/leaderboard.html", "/leaderboard/"
    near = [{"id": n, "rank": 210 + n, "name": f"v{n}", "fullname": None, "score": 400 - n} for n in range(3)]
    many = [{"id": n, "rank": n, "name": f"u{n}", "fullname": f"U {n}", "score": 9000 - n} for n in range(1, 21)]
    yield Case(board, "visitor", frame(path=here) | {"top_users": PEOPLE})
    yield Case(board, "among the first", frame(ILSE, here) | {"top_users": PEOPLE, "window": 0})
    mine = near[1] | {"name": ILSE.name}
    yield Case(board, "far behind", frame(ILSE, here) | {"top_users": [*many, near[0], mine, near[2]], "window": 1})
    yield Case(board, "nobody", frame(path=here) | {"top_users": []})
    stats = {
        "n_auth": 48210, "n_anon": 190311, "n_total_users": 238521, "n_published_projects": 37, "n_draft_projects": 9,
        "n_total_projects": 46, "n_tasks": 812330, "n_task_runs": 12904118, "n_results": 91,
    }  # fmt: skip
    busy = [{"id": 8, "n_answers": 8210, **NIGHT}, {"id": 1, "n_answers": 1, **GALAXIES}]
    yield Case("stats/global.html", "busy", frame(path="/stats/") | {"stats": stats, "top5_projects_24_hours": busy})
    quiet = {"stats": dict.fromkeys(stats, 0), "top5_projects_24_hours": []}
    yield Case("stats/global.html", "quiet", frame(path="/stats/") | quiet)


_OURS = frozenset(
    {
        "land",
        "borders",
        "id",
        "locale",
        "direction",
        "theme",
        "path",
        "csp_nonce",
        "created",
        "last_activity",
        "contrib_button",
        "began",
        "state",
        "states",
        "labels",
        "at",
        "day",
        "next_attempt",
        "type",
        "formats",
        "here",
        "medium",
        "action",
    }
)


def _all(words: str) -> Callable[..., Any]:
    """A change of every text that somebody outside may have written; short names stay different."""

    def change(value: Any, key: str = "") -> Any:
        if isinstance(value, Who):
            return Who(value.name and words, value.fullname and words, admin=value.admin)
        if isinstance(value, dict):
            return {name: change(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [change(item, key) for item in value]
        ours = (
            isinstance(value, Word) or key in _OURS or (key == "url" and str(value).startswith("/"))
        )  # an address of this server
        if isinstance(value, str) and value and not ours:
            return words + value if key == "short_name" else words
        return value

    return change
