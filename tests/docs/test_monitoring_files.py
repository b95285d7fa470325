"""What etc/ has for those who watch a server: units, timers, alert rules and a dashboard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from crowdd.admin_cli.main import main

ROOT = Path(__file__).parents[2]
ETC = ROOT / "etc"
UNITS = sorted(path for path in ETC.glob("crowdd*") if path.suffix in (".service", ".timer"))
METRIC = re.compile(r"\bcrowdd_[a-z_]+\b")


def documented() -> set[str]:
    """The metrics of docs/operations.md; tests/http/test_monitoring.py compares these with the server's."""
    return set(re.findall(r"^\| `(crowdd_\w+)` \|", (ROOT / "docs/operations.md").read_text(), re.M))


def expressions(value: Any) -> list[str]:
    """Every ``expr`` in a file of Prometheus or Grafana."""
    if isinstance(value, dict):
        return [each for name, part in value.items() for each in ([part] if name == "expr" else expressions(part))]
    return [each for part in value for each in expressions(part)] if isinstance(value, list) else []


@pytest.mark.parametrize("name", ["prometheus-alerts.yml", "grafana-dashboard.json"])
def test_only_metrics_that_exist_are_asked_for(name: str) -> None:
    text = (ETC / name).read_text()
    asked = expressions(yaml.safe_load(text) if name.endswith("yml") else json.loads(text))
    wanted = {re.sub("_(bucket|sum|count)$", "", metric) for each in asked for metric in METRIC.findall(each)}
    assert len(wanted) >= 8 and wanted <= documented()


def installed_promtool() -> str:
    if not (promtool := shutil.which("promtool")):
        pytest.skip("promtool is not installed: docs/contributing/tests.md says how to get it")
    return promtool


def test_prometheus_reads_the_rules() -> None:
    promtool = installed_promtool()
    checked = subprocess.run([promtool, "check", "rules", str(ETC / "prometheus-alerts.yml")], capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


# A value each minute, on a server that is well and on one on which everything is wrong.
SERIES = {
    'up{job="crowdd"}': ("1x3000", "0x3000"),
    "crowdd_database_up": ("1x3000", "0x3000"),
    'crowdd_requests_total{status="200"}': ("0+1000x3000", "0+1000x3000"),
    'crowdd_requests_total{status="503"}': ("0+1x3000", "0+100x3000"),
    'crowdd_request_duration_seconds_bucket{le="2.5"}': ("0+1000x3000", "0+900x3000"),
    'crowdd_request_duration_seconds_bucket{le="10.0"}': ("0+1000x3000", "0+1000x3000"),
    'crowdd_request_duration_seconds_bucket{le="+Inf"}': ("0+1000x3000", "0+1000x3000"),
    "crowdd_reactor_stall_seconds_sum": ("0+1x3000", "0+20x3000"),
    "crowdd_pool_waiting_requests": ("0x3000", "3x3000"),
    "crowdd_queue_oldest_due_seconds": ("30x3000", "900x3000"),
    "crowdd_webhook_deliveries_oldest_due_seconds": ("30x3000", "900x3000"),
    'crowdd_job_overdue_seconds{job="back_up"}': ("0x3000", "900x3000"),
    "crowdd_mail_waiting_messages": ("3x3000", "300x3000"),
    "crowdd_last_backup_timestamp_seconds": ("1+60x3000", "1x3000"),
}


@pytest.mark.proof
@pytest.mark.parametrize("which", [0, 1], ids=["well", "wrong"])
def test_every_rule_fires_where_it_should_and_none_where_all_is_well(tmp_path: Path, which: int) -> None:
    promtool = installed_promtool()
    rules = yaml.safe_load((ETC / "prometheus-alerts.yml").read_text())["groups"][0]["rules"]
    firing = [{"labels": f'{{alertname="{rule["alert"]}"}}', "value": 1} for rule in rules] if which else []
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values[which]} for name, values in SERIES.items()],
        "promql_expr_test": [
            {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": "49h", "exp_samples": firing}
        ],
    }
    cases = {"rule_files": [str(ETC / "prometheus-alerts.yml")], "evaluation_interval": "1m", "tests": [case]}
    (tmp_path / "cases.yml").write_text(yaml.safe_dump(cases))
    tested = subprocess.run([promtool, "test", "rules", str(tmp_path / "cases.yml")], capture_output=True, text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_units_start_commands_that_exist_and_tell_when_they_fail() -> None:
    for unit in UNITS:
        text = unit.read_text()
        for line in re.findall(r"^Exec\w+=/opt/crowdd/bin/crowdctl (.+)$", text, re.M):
            command, *words = line.split()
            known = main.get_command(click.Context(main), command)
            assert known is not None, line
            assert {word for word in words if word.startswith("--")} <= {o for each in known.params for o in each.opts}
        if unit.suffix == ".timer":
            assert unit.with_suffix(".service") in UNITS
        elif "@" not in unit.name:
            assert "OnFailure=crowdd-failed@%n.service\n" in text


def test_systemd_reads_the_units(tmp_path: Path) -> None:
    if not (analyze := shutil.which("systemd-analyze")):
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    for unit in UNITS:
        text = re.sub(r"^(Exec\w+)=/(?:opt|etc)/\S+", r"\1=/bin/true", unit.read_text(), flags=re.M)
        (tmp_path / unit.name.replace("@", "@crowdd")).write_text(text)
    checked = subprocess.run(
        [analyze, "verify", "--man=no", *sorted(map(str, tmp_path.iterdir()))], capture_output=True, text=True
    )
    about = [line for line in checked.stderr.splitlines() if "crowdd" in line]
    assert about == []
