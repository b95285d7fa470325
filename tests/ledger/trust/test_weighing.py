"""What the answers of a task amount to: the class of each, the posterior by the formulas, and what the fold makes of evidence.

The formulas are written down a second time here, with plain numbers.
"""

from __future__ import annotations

import math
import random

import pytest
from psycopg2.extras import Json

from crowdd.features.results.comparing_texts import plain_text
from crowdd.features.trust.weighing import Given, Weighing
from crowdd.kinds.answers.fields import folded


def say(ledger, project, actor, value, **options):
    """Takes a task and answers it; the task."""
    task = ledger.take(project, actor, **options)
    ledger.answer(project, actor, task, {"answer": value}, network=options.get("network"))
    return task


def model(ledger, project):
    return ledger.row("SELECT * FROM trust_model WHERE project_id = %(p)s", p=project)


def likelihoods(q, row, *, guarded=False):
    """ln P(answer | truth) of a volunteer, as a function of answer and truth from 0; row: counts, None for a newcomer."""
    k = q["k"]
    g, gold, p, peers = (
        (row["gold_right"], row["gold_seen"], row["peer_right"], row["peer_seen"]) if row else (0, 0, 0, 0)
    )
    if guarded:
        p = peers = 0
    raw = (37.5 + q["gold_right"] + q["peer_right"] / 2) / (50 + q["gold_seen"] + q["peer_seen"] / 2)
    mean = min(max(raw, 1 / k + 0.02), 0.9)
    cap = 0.95 if gold >= 5 else 0.9 if peers >= 10 else 0.7
    a = min(max((8 * mean + g + p) / (8 + gold + peers), 1 / k), cap)
    if not q["confused"]:
        odds = math.log(a * (k - 1) / (1 - a))
        return lambda answer, truth: odds if answer == truth else 0.0
    own = row["confusions"] if row and row["confusions"] and not guarded else [0.0] * k * k
    table = {}
    for j in range(k):
        errors = sum(q["confusion_sums"][x * k + j] for x in range(k) if x != j)
        total = sum(own[x * k + j] for x in range(k))
        for x in range(k):
            e = (q["confusion_sums"][x * k + j] + 10 / (k - 1)) / (errors + 10)
            table[j, x] = (8 * (a if x == j else (1 - a) * e) + own[x * k + j]) / (8 + total)
    for x in range(k):
        table[x, x] = min(table[x, x], cap)
        for j in set(range(k)) - {x}:
            table[j, x] = max(min(table[j, x], table[x, x]), (1 - cap) / (2 * (k - 1)))
    return lambda answer, truth: math.log(table[truth, answer])


def posterior(q, answers, rows):
    """The probabilities of all classes; answers: (actor, class from 0 or None, network) in their order."""
    k = q["k"]
    f = [(s + 20 / k) / (sum(q["class_sums"]) + 20) for s in q["class_sums"]]
    f = [max(x, 0.25 / k) for x in f]
    lp = [math.log(x / sum(f)) for x in f]
    met = {}
    for actor, answer, network in answers:
        if answer is None:
            continue
        row, share = rows.get(actor), 1
        if network and not (row and (row["gold_seen"] >= 5 or (row["peer_seen"] >= 10 and not q["guarded"]))):
            met[network] = met.get(network, 0) + 1
            share = 1 / met[network]
        says = likelihoods(q, row, guarded=q["guarded"])
        for j in range(k):
            lp[j] += share * says(answer, j)
    top = max(lp)
    z = sum(math.exp(max(x - top, -700)) for x in lp)
    return [math.exp(max(x - top, -700)) / z for x in lp]


def put(ledger, project, k, chance, *, generous=True):
    """A model of k classes with chance sums, and volunteers of whom something is known; their rows by actor."""
    ledger.declare(project, *range(k))
    q = model(ledger, project)
    cells = k * k if q["confused"] else 0
    sums = {
        "class_sums": [round(chance.random() * 400, 3) for _ in range(k)],
        "confusion_sums": [round(chance.random() * 90, 3) for _ in range(cells)],
        "gold_right": 30.0 * generous,
        "gold_seen": 40.0 * generous,
        "peer_right": chance.uniform(150, 290) if generous else 300 / k,
        "peer_seen": 300.0,
    }
    names = ", ".join(f"{name} = %({name})s" for name in sums)
    ledger.run(f"UPDATE trust_model SET {names} WHERE project_id = %(p)s", p=project, **sums)
    ledger.run(
        "UPDATE trust_model m SET (prior, newcomer, accuracy, guarded) ="
        " (SELECT prior, newcomer, accuracy, guarded FROM published(m)) WHERE project_id = %(p)s",
        p=project,
    )
    for n in range(8):
        gold, peers = chance.choice([(0, 0), (3, 0), (6, 0), (0, 9), (0, 30), (20, 60)])
        ledger.run(
            "INSERT INTO reliability (project_id, actor, generation, gold_right, gold_seen, peer_right, peer_seen,"
            " confusions) SELECT project_id, %(a)s, generation, %(g)s, %(gs)s, %(r)s, %(ps)s, %(c)s FROM trust_model"
            " WHERE project_id = %(p)s",
            p=project,
            a=f"{chance.choice('uc')}:{n}",
            g=gold * chance.random(),
            gs=gold,
            r=peers * chance.random(),
            ps=peers,
            c=[chance.random() * 3 for _ in range(cells)] if cells and gold + peers else None,
        )
    ledger.run(
        "SELECT keep_volunteer(worked_out(m, r)) FROM reliability r JOIN trust_model m USING (project_id)"
        " WHERE project_id = %(p)s",
        p=project,
    )
    rows = ledger.rows("SELECT * FROM reliability WHERE project_id = %(p)s", p=project)
    return model(ledger, project), {row["actor"]: row for row in rows}


@pytest.mark.parametrize("examples", [200, pytest.param(10_000, marks=[pytest.mark.proof, pytest.mark.size])])
def test_posteriors_are_what_a_second_implementation_says(ledger, examples):
    ledger.check = False
    chance = random.Random(18)
    worst = 0.0
    for k, generous in ((2, True), (3, False), (4, True), (10, True), (11, True), (50, True)):
        project = ledger.project(tasks=1, n=50)
        (task,) = ledger.tasks(project)
        q, rows = put(ledger, project, k, chance, generous=generous)
        assert q["guarded"] is not generous
        for _ in range(examples // 6):
            answers = chance_answers(chance, k, rows)
            ledger.run("DELETE FROM task_run WHERE task_id = %(t)s", t=task)
            ledger.run(
                "INSERT INTO task_run (project_id, task_id, actor, user_ip, created, finish_time, counted, info, class)"
                " SELECT %(p)s, %(t)s, a->>0, a->>2, clock(), clock(), true, '{}', (a->>1)::int + 1"
                " FROM jsonb_array_elements(%(a)s) WITH ORDINALITY u (a, n) ORDER BY n",
                p=project,
                t=task,
                a=Json(answers),
            )
            row = ledger.row("SELECT * FROM weigh(%(p)s, %(t)s)", p=project, t=task)
            labelled = [a for a in answers if a[1] is not None]
            if not labelled:
                assert row["posterior"] is None and row["class"] is None
                continue
            wanted = posterior(q, [(a, c, n and n.rsplit(".", 1)[0]) for a, c, n in answers], rows)
            worst = max(worst, max(abs(a - b) for a, b in zip(row["posterior"], wanted, strict=True)))
            assert row["class"] in (None, wanted.index(max(wanted)) + 1)
            assert row["confidence"] == pytest.approx(max(wanted), abs=1e-6)
    assert worst < 1e-6


def chance_answers(chance, k, rows):
    """Up to nine answers [actor, class or None, network], of people who are known, little known and unknown."""
    people = chance.sample([*rows, *(f"c:new{n}" for n in range(5)), "u:new", "x:new"], chance.randint(1, 9))
    network = lambda who: f"10.0.{chance.randint(0, 1)}.{chance.randint(0, 9)}" if who.startswith("c:") else None  # noqa: E731
    return [[who, chance.choice([*range(k), None]), network(who)] for who in people]


def test_replays_weigh_as_the_database_does(ledger):
    """Answer by answer and fold by fold (record 11). Half of the people are strangers of one network."""
    ledger.check = False
    chance = random.Random(193)
    people = [f"{kind}:{n}" for kind in "uc" for n in range(1, 5)]
    for k in (2, 4, 12):
        project = ledger.project(tasks=32, n=3, counted_per_network=0)
        ledger.declare(project, *range(k))
        replay, learned = Weighing(k), []
        for nth, task in enumerate(ledger.tasks(project), 1):
            truth, answers = chance.randrange(k), []
            for actor in chance.sample(people, 3):
                label = truth if chance.random() < 0.8 else chance.randrange(k)
                network = f"10.0.0.{people.index(actor)}" if actor.startswith("c:") else ""
                ledger.hold(project, actor, task, network)
                ledger.answer(project, actor, task, {"answer": label}, network)
                answers.append(Given(people.index(actor), label, network and "10.0.0"))
            (result,) = ledger.results(task)
            learned.append((answers, replay.posterior(answers)))
            assert result["posterior"] == pytest.approx(learned[-1][1], abs=1e-6)
            if nth % 8 == 0:
                ledger.run("UPDATE trust_model SET published_upto = ''")  # also those who were not active
                ledger.fold_evidence()
                for taken, posterior in learned:
                    replay.learn(taken, posterior)
                replay.fold()
                learned.clear()
        known = ledger.rows("SELECT actor, accuracy, peer_seen FROM reliability WHERE project_id = %(p)s", p=project)
        assert max(row["peer_seen"] for row in known) >= 10
        for row in known:
            assert row["accuracy"] == pytest.approx(replay.accuracy(people.index(row["actor"])), abs=1e-6)


def test_the_example_of_dynamic_overlap_comes_out(ledger):
    """Three classes, accuracies 0.7, 0.9 and 0.8, errors spread evenly, no prior (Toloka's documentation)."""
    project = ledger.project(tasks=3, n=3)
    ledger.declare(project, *"abc")
    ledger.run(
        "INSERT INTO reliability (project_id, actor, generation, log_likelihoods, known) SELECT project_id, a, generation,"
        " ARRAY(SELECT ln(CASE WHEN l = j THEN s ELSE (1 - s) / 2 END) FROM generate_series(1, 3) l, generate_series(1, 3) j)"
        ", true FROM trust_model, (VALUES ('u:1', 0.7::float8), ('u:2', 0.9), ('u:3', 0.8)) v (a, s)"
    )
    cases = (({"u:1": "a", "u:2": "a"}, 1, 0.977), ({"u:1": "a", "u:2": "b"}, 2, 0.761))
    for answers, best, probability in (*cases, ({"u:1": "a", "u:2": "b", "u:3": "b"}, 2, 0.962)):
        task = {say(ledger, project, actor, value) for actor, value in answers.items()}.pop()
        row = ledger.row("SELECT class, confidence FROM weigh(%(p)s, %(t)s)", p=project, t=task)
        assert (row["class"], round(row["confidence"], 3)) == (best, probability)
        ledger.delete_tasks(project, [task])


def test_the_consensus_of_a_label_is_its_most_probable_class(ledger):
    project = ledger.project(tasks=1, n=3)
    ledger.declare(project, "fox", "owl", None)
    for actor, value in (("u:1", "fox"), ("u:2", "owl"), ("u:3", "fox")):
        task = say(ledger, project, actor, value)
    (result,) = ledger.results(task)
    assert (result["class"], result["consensus"], result["reason"], result["n_compared"]) == (1, "fox", "full", 3)
    assert result["confidence"] == result["posterior"][0] == max(result["posterior"])
    assert result["agreement"] == pytest.approx(1 / 3)
    (event,) = ledger.rows("SELECT data FROM event")
    assert (event["data"]["label"], event["data"]["reason"]) == ("fox", "full")
    assert event["data"]["model"] == pytest.approx(result["confidence"]) and event["data"]["confidence"] is None
    shown = ledger.row("SELECT consensus, reason, posterior FROM result_record")
    assert shown["consensus"]["answer"]["value"] == "fox" and shown["reason"] == "full"
    assert [each["value"] for each in shown["posterior"]] == ["fox", "owl", None]


FOLDED = [
    "Fox",
    " fox ",
    "FOX\n",
    "café",
    "cafe\u0301",
    "CAFÉ",
    "Straße",
    "STRASSE",
    "straße",
    "ΣΊΣΥΦΟΣ",
    "σίσυφος",
    "ﬁn",
    "İ",
]


def test_texts_are_folded_as_in_python(ledger):
    def same(values, fold):
        return {(one, other) for one in values for other in values if fold[one] == fold[other]}

    stored = {text: ledger.value("SELECT folded(%(t)s)", t=text) for text in FOLDED}
    pairs = same(FOLDED, stored)
    assert pairs == same(FOLDED, {text: folded(text) for text in FOLDED})
    assert {("Fox", " fox "), ("café", "cafe\u0301"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "σίσυφος")} <= pairs
    assert ("ﬁn", "Fox") not in pairs and ("Fox", "café") not in pairs
    plain = {text: ledger.value("SELECT plain_text(%(t)s)", t=text) for text in FOLDED}
    assert same(FOLDED, plain) == same(FOLDED, {text: plain_text(text) for text in FOLDED})


def test_a_choice_is_the_same_in_another_form(ledger):
    project = ledger.project(tasks=1, n=9)
    ledger.declare(project, "café", "fox", "Owl", "owl", "Straße", 1, None)
    values = ["cafe\u0301", " Fox", "OWL", "owl", "STRASSE", "1", None, ["fox"], "foxes"]
    for nth, value in enumerate(values):
        task = say(ledger, project, f"u:{nth}", value)
    classes = [
        row["class"] for row in ledger.rows("SELECT class FROM task_run WHERE task_id = %(t)s ORDER BY id", t=task)
    ]
    assert classes == [1, 2, None, 4, 5, None, 7, None, None], "OWL could be both"
    assert ledger.rows("SELECT * FROM check_weighing(%(p)s, clock())", p=project) == []
    undeclared = ledger.project(tasks=1, n=3)
    ledger.declare(undeclared)
    for nth, value in enumerate(("Fox", "fox ", "owl")):
        task = say(ledger, undeclared, f"u:{nth}", value)
    assert model(ledger, undeclared)["choices"] == ["Fox", "owl"]
    assert ledger.results(task)[0]["consensus"] == "Fox"


def test_two_strangers_who_differ_have_no_consensus(ledger):
    project = ledger.project(tasks=1, n=2)
    ledger.declare(project, "fox", "owl")
    say(ledger, project, "u:1", "fox")
    task = say(ledger, project, "u:2", "owl")
    (result,) = ledger.results(task)
    assert (result["class"], result["consensus"], result["confidence"]) == (None, None, pytest.approx(0.5))


def test_classes_are_numbered_as_they_appear_where_none_are_declared(ledger, beside):
    project = ledger.project(tasks=60, n=2)
    ledger.declare(project, min_answers=2, confidence=0.9)
    for value in ("fox", 7, None, {"no": 1}, "x" * 201, "fox", 7.0):
        say(ledger, project, "u:1", value)
    assert [row["class"] for row in ledger.rows("SELECT class FROM task_run ORDER BY id")] == [
        1,
        2,
        3,
        None,
        None,
        1,
        2,
    ]
    one, two = beside(), beside()
    tasks = [one.take(project, "u:2"), two.take(project, "u:3")]
    one.answer(project, "u:2", tasks[0], {"answer": "owl"})
    one.commit()
    two.answer(project, "u:3", tasks[1], {"answer": "owl"})
    two.commit()
    assert model(ledger, project)["choices"] == ["fox", 7, None, "owl"]
    for n in range(50):
        say(ledger, project, "u:1", f"value {n}")
    q = model(ledger, project)
    assert (q["k"], len(q["prior"]), q["confused"]) == (50, 50, False)
    assert ledger.value("SELECT max(class) FROM task_run") == 50
    ledger.fold_evidence()


def test_answers_are_read_again_after_another_declaration_and_learning_starts_over(ledger):
    project = ledger.project(tasks=2, n=2)
    for value in ("fox", "owl"):
        task = say(ledger, project, f"u:{value}" if False else f"x:{value}", value)
    assert ledger.results(task)[0]["reason"] is None
    ledger.declare(project, "fox", "owl", "elk")
    assert ledger.rows("SELECT 1 FROM task_run WHERE class IS NOT NULL") == []
    assert compare(ledger, project) > 0
    assert [row["class"] for row in ledger.rows("SELECT class FROM task_run ORDER BY id")] == [1, 2]
    assert ledger.results(task)[0]["reason"] == "full"
    ledger.fold_evidence()
    before = model(ledger, project)
    ledger.declare(project, "owl", "fox", min_answers=2, confidence=0.9)
    assert model(ledger, project)["generation"] != before["generation"] and model(ledger, project)["tasks"] == 0
    compare(ledger, project)
    assert [row["class"] for row in ledger.rows("SELECT class FROM task_run ORDER BY id")] == [2, 1]
    assert ledger.ledger(task)["done"], "what is complete stays complete"
    ledger.fold_evidence()
    assert model(ledger, project)["tasks"] == 1
    ledger.run("UPDATE project SET info = '{}'")
    compare(ledger, project)
    assert ledger.rows("SELECT 1 FROM trust_model") == [] and not ledger.value("SELECT has_label FROM project_ledger")
    assert ledger.results(task)[0]["posterior"] is None


def compare(ledger, project):
    """Compares again what is due, as the periodic job does."""
    n = sum(row["n"] for row in ledger.rows("SELECT compare_results(%(p)s, 100) AS n", p=project))
    assert ledger.rows("SELECT 1 FROM agreement_due") == []
    assert ledger.broken() == []
    return n


def test_result_of_a_task_that_is_open_again_is_read_again_with_its_own_answers(ledger):
    project = ledger.project()
    ledger.declare(project, "fox", "owl")
    (task,) = ledger.add(project, [0.0], n=1)
    say(ledger, project, "u:1", "owl")
    ledger.set_n(project, [task], 3)
    say(ledger, project, "u:2", "fox")
    ledger.declare(project, "owl", "fox", "hare")
    compare(ledger, project)
    (result,) = ledger.results(task)
    assert result["class"] == 1 and len(result["log_likelihoods"]) == 3 + 3, "its one answer, and not the later one"
    assert ledger.rows("SELECT * FROM check_weighing(%(p)s, clock())", p=project) == []


def test_answers_come_in_while_classes_of_an_earlier_label_are_read_again(ledger):
    project = ledger.project()
    ledger.declare(project, "fox", "owl", "hare")
    (task,) = ledger.add(project, [0.0], n=2)
    say(ledger, project, "u:1", "hare")
    ledger.run("""UPDATE project SET info = '{"answers": [{"name": "answer", "at": "/answer", "type": "label", "choices": ["fox", "owl"]}]}'
                   WHERE id = %(p)s""", p=project)  # fmt: skip
    ledger.check = False  # until the classes are read again
    assert ledger.take(project, "u:2") == task
    assert ledger.answer(project, "u:2", task, {"answer": "owl"}).state == "counted"
    assert (
        ledger.value("SELECT move_runs(%(p)s, 'u:1', 1, 'i:10.0.0.9', NULL, NULL, %(t)s, clock())", p=project, t=[task])
        == 1
    )
    compare(ledger, project)
    ledger.fold_evidence()
    assert ledger.results(task)[-1]["consensus"] == "owl"
    assert ledger.rows("SELECT * FROM trust_differences(%(p)s)", p=project) == []
    assert ledger.rows("SELECT * FROM check_weighing(%(p)s, clock())", p=project) == []


def test_counts_are_halved_at_two_hundred_and_stay_right_within_a_volunteer(ledger):
    project = ledger.project()
    ledger.declare(project, "fox", "owl")
    ledger.run(
        "INSERT INTO evidence (project_id, task_id, generation, sign, gold, actors, classes, posterior, is_right)"
        " SELECT project_id, 0, generation, 1, true, '{u:1}', '{1}', '{1,0}', true FROM trust_model, generate_series(1, 199)"
    )
    ledger.check = False
    ledger.fold_evidence()
    row = "SELECT gold_right, gold_seen, gold_given, halved, confusions[1] AS o FROM reliability"
    assert ledger.row(row) == {"gold_right": 199, "gold_seen": 199, "gold_given": 199, "halved": 0, "o": 199}
    ledger.run(
        "INSERT INTO evidence (project_id, task_id, generation, sign, gold, actors, classes, posterior, is_right)"
        " SELECT project_id, 0, generation, 1, true, '{u:1}', '{1}', '{0,1}', false FROM trust_model"
    )
    ledger.fold_evidence()
    assert ledger.row(row) == {"gold_right": 99.5, "gold_seen": 100, "gold_given": 200, "halved": 1, "o": 99.5}


def test_claimed_answers_take_along_what_they_taught(ledger):
    project = ledger.project(tasks=3, n=2)
    ledger.declare(project, "fox", "owl")
    for _ in range(3):
        say(ledger, project, "c:tab", "fox")
        say(ledger, project, "u:1", "fox")
    ledger.fold_evidence()
    (before,) = ledger.rows("SELECT peer_right, peer_seen FROM reliability WHERE actor = 'c:tab'")
    moved = "SELECT move_runs(%(p)s, 'c:tab', NULL, 'u:7', 7, NULL, %(t)s, clock())"
    assert ledger.change(moved, p=project, t=ledger.tasks(project)) == 3
    ledger.fold_evidence()
    assert ledger.rows("SELECT 1 FROM reliability WHERE actor = 'c:tab'") == []
    assert ledger.rows("SELECT peer_right, peer_seen FROM reliability WHERE actor = 'u:7'") == [before]


def test_a_project_without_a_label_reads_and_writes_nothing_of_this(ledger):
    project = ledger.project(tasks=1, n=1)
    ledger.contribute(project, "u:1")
    assert ledger.rows("SELECT 1 FROM evidence") == ledger.rows("SELECT 1 FROM reliability") == []
    (result,) = ledger.results(ledger.tasks(project)[0])
    assert (result["class"], result["reason"], result["posterior"], result["generation"]) == (None,) * 4
    read = "SELECT coalesce(sum(seq_scan + coalesce(idx_scan, 0)), 0) AS n FROM pg_stat_xact_user_tables WHERE relname = ANY (%(n)s)"
    ledger.connection.autocommit = False
    (task,) = ledger.add(project, [0.0], n=1)
    ledger.check = False
    before = ledger.value(read, n=["trust_model", "reliability", "evidence"])
    assert ledger.take(project, "u:2") == task and ledger.answer(project, "u:2", task).state == "counted"
    assert ledger.value(read, n=["trust_model", "reliability", "evidence"]) == before
    ledger.connection.rollback()
    ledger.connection.autocommit = True
