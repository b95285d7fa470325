"""The regular expressions of crowdd, and strings on which one that is not linear takes long.

``collect`` reads the source: patterns that are compiled when a module is loaded, and those that a function compiles when it
is called. ``attacks`` makes strings from what a pattern consists of: an example of what stands before a repetition, then
something that repeats, then something that does not fit.

As a program (``python -m support.checks.patterns``) it measures the patterns that it gets as JSON lines, and may be killed.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from crowdd.core.text.words import slip_pattern
from crowdd.kinds.types import _NOT_IN_ADDRESSES

CALLS: Final = frozenset({"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
REPEATS: Final = 28
"""How often something is repeated in a string that shows exponential growth: 20 characters and more."""
LONG: Final = (2_000, 4_000, 8_000)
GROWTH: Final = 2.5
"""How many times as long a string of twice the length may take."""
QUICK: Final = 0.004
"""Seconds of CPU below which growth is noise: a quadratic pattern takes ten times as long for the longest strings."""
DEAR: Final = 0.02
"""Seconds of CPU that no string of the greatest length may take, however it grows."""
LIMIT: Final = 0.5
"""Seconds of CPU after which a string is given up."""
_MAX_ATTACKS: Final = 300


@attrs.frozen
class Pattern:
    """A pattern with the methods that are called on it, and where it stands."""

    where: str
    text: str
    flags: int
    in_bytes: bool
    methods: tuple[str, ...]

    def compiled(self) -> re.Pattern[Any]:
        """The pattern, compiled."""
        return re.compile(self.text.encode("latin-1") if self.in_bytes else self.text, self.flags & ~re.UNICODE)


class UnknownPatternError(Exception):
    """A pattern that depends on values which only a call knows."""


# Names of patterns that a call compiles, with examples of their values.
EXAMPLES: Final[Mapping[str, Mapping[str, object]]] = {
    "crowdd.features.gallery.template": {"other": slip_pattern("butterflies")},
    "crowdd.features.imports.files.tables": {"delimiter": re.escape("|")},
    "crowdd.kinds.types": {"pattern": rf"^(?!\.{{1,2}}$)[^{_NOT_IN_ADDRESSES}]+$"},
    "crowdd.kinds.questions.question_type": {
        "schema": {"pattern": ""}
    },  # those of JSON Schemas are collected where they stand
}


# Methods of patterns that a constant holds together: nothing tells which of a module's calls are theirs.
TOGETHER: Final[Mapping[str, Iterable[str]]] = {"crowdd.features.imports.files.containers": ("match",)}


def collect(package: Path) -> list[Pattern]:
    """Every pattern of the modules below a folder. Raises UnknownPatternError for one that the source does not tell."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))}
    used = _methods_by_name(trees.values())
    patterns: list[Pattern] = []
    for path, tree in trees.items():
        name = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        for text, line, names, flags in _compiled(tree):
            where = f"{name}:{line}"
            try:
                known = [_value(where, name, text, flags)]
                methods = CALLS.intersection(names) or set().union(*(used.get(one, set()) for one in names)) or CALLS
            except NameError as error:
                known, methods = _together(where, name, error)
            patterns += [_pattern(where, pattern, methods) for pattern in known]
    return patterns


def _compiled(tree: ast.AST) -> Iterator[tuple[ast.expr, int, list[str], ast.expr | None]]:
    """What ``re`` compiles: the text, its line, the method that is called at once or the names that it is given, flags.

    With what JSON Schemas ask for (``"pattern": …``), which is searched for.
    """
    targets = {id(node.value): _name(node) for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "pattern":
                    yield value, value.lineno, ["search"], None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_re(node.func.value):
            flags = next((key.value for key in node.keywords if key.arg == "flags"), None)
            if node.func.attr == "compile":
                yield node.args[0], node.lineno, [targets.get(id(node), "")], node.args[1] if node.args[1:] else flags
            elif node.func.attr in CALLS:
                yield node.args[0], node.lineno, [node.func.attr], flags


def _is_re(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"


def _name(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""


def _methods_by_name(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Which methods are called on (or taken from) which names, anywhere."""
    methods: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in CALLS:
                value = node.value
                name = value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
                methods.setdefault(name, set()).add(node.attr)
    return methods


def _value(where: str, module: str, text: ast.expr, flags: ast.expr | None) -> re.Pattern[Any]:
    """What is compiled, by the names of its module. Raises NameError."""
    names = {**vars(importlib.import_module(module)), **EXAMPLES.get(module, {})}
    return re.compile(_evaluated(where, text, names), _evaluated(where, flags, names) if flags is not None else 0)


def _together(where: str, module: str, error: NameError) -> tuple[list[re.Pattern[Any]], Iterable[str]]:
    """The patterns that constants of a module hold together, and the methods that are called on them."""
    if module not in TOGETHER:
        raise UnknownPatternError(f"{where}: {error}. Give an example of the value in EXAMPLES.") from None
    constants = vars(importlib.import_module(module)).values()
    patterns = [pattern for value in constants if not isinstance(value, re.Pattern) for pattern in _patterns_in(value)]
    return patterns, TOGETHER[module]


def _evaluated(where: str, expression: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(expression), where, "eval"), names)


def _patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _patterns_in(one)


def _pattern(where: str, compiled: re.Pattern[Any], methods: Iterable[str]) -> Pattern:
    in_bytes = isinstance(compiled.pattern, bytes)
    text = compiled.pattern.decode("latin-1") if in_bytes else compiled.pattern
    return Pattern(where, text, compiled.flags, in_bytes, tuple(sorted(methods)))


@attrs.frozen
class Attack:
    """Text that something comes before and something ends: what repeats makes it as long as one likes."""

    prefix: str
    pump: str
    end: str
    in_bytes: bool

    def of_repeats(self, repeats: int) -> str | bytes:
        """The string with so many repeats."""
        text = self.prefix + self.pump * repeats + self.end
        return text.encode("latin-1", "replace") if self.in_bytes else text

    def of_length(self, length: int) -> str | bytes:
        """The string of about this length."""
        return self.of_repeats(max(1, (length - len(self.prefix) - len(self.end)) // len(self.pump)))


def attacks(pattern: Pattern) -> Iterator[Attack]:
    """Strings on which the pattern may take long."""
    tree = re._parser.parse(pattern.compiled().pattern, pattern.flags & ~re.UNICODE)  # type: ignore[attr-defined]
    prefixes, pumps, ends = _pieces(tree)
    for end, prefix, pump in itertools.islice(itertools.product(ends, prefixes, pumps), _MAX_ATTACKS):
        yield Attack(prefix, pump, end, pattern.in_bytes)


def _pieces(tree: Any) -> tuple[list[str], list[str], list[str]]:
    """What may come before, what may repeat, and what may end it: examples of parts, and single characters."""
    before: dict[str, None] = {"": None}
    pumps: dict[str, None] = {}
    characters: dict[str, None] = {}
    _walk(tree, "", before, pumps, characters)
    few = list(characters)[:14]
    pumps.update(dict.fromkeys(few))
    pumps.update(dict.fromkeys(a + b for a, b in itertools.permutations(few[:5], 2)))
    starts = sorted(before, key=len)[:8]
    ends = ["\0", *few[:2], ""]
    return starts, [pump for pump in pumps if pump], ends


def _walk(tree: Any, prefix: str, before: dict[str, None], pumps: dict[str, None], characters: dict[str, None]) -> str:
    """An example of what a part matches; notes its repetitions and characters on the way."""
    example = ""
    for operation, argument in tree:
        name = str(operation)
        if name in {"LITERAL", "NOT_LITERAL"}:
            piece = chr(argument) if name == "LITERAL" else _other({argument})
            characters[piece] = None
        elif name == "ANY":
            piece = "a"
        elif name == "IN":
            few = _members(argument)
            characters.update(dict.fromkeys(few))
            piece = few[0]
        elif name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            minimum, maximum, inner = argument
            piece = _walk(inner, prefix + example, before, pumps, characters)
            if maximum > 1:
                pumps[piece] = pumps[prefix + example] = pumps[prefix + example + piece] = None
                before[prefix + example] = None
            piece *= max(minimum, 1) if minimum < 100 else 1
        elif name == "SUBPATTERN":
            piece = _walk(argument[-1], prefix + example, before, pumps, characters)
        elif name == "ATOMIC_GROUP":
            piece = _walk(argument, prefix + example, before, pumps, characters)
        elif name == "BRANCH":
            pieces = [_walk(branch, prefix + example, before, pumps, characters) for branch in argument[1]]
            pumps.update(dict.fromkeys(pieces))
            piece = pieces[0]
        elif name in {"ASSERT", "ASSERT_NOT"}:
            _walk(argument[1], prefix + example, before, pumps, characters)
            piece = ""
        else:  # AT, GROUPREF and the like match no characters of their own
            piece = ""
        example += piece
    return example


def _members(members: Any) -> list[str]:
    """Some characters of a set: one of each of its parts."""
    few: list[str] = []
    negated: set[int] | None = None
    for operation, argument in members:
        name = str(operation)
        if name == "NEGATE":
            negated = set()
        elif name == "LITERAL":
            few.append(chr(argument))
        elif name == "RANGE":
            few.append(chr(argument[0]))
        elif name == "CATEGORY":
            few.append({"DIGIT": "1", "SPACE": " ", "WORD": "a"}.get(str(argument).rsplit("_", 1)[-1], "a"))
            if "NOT" in str(argument):
                few[-1] = {"DIGIT": "a", "SPACE": "a", "WORD": " "}[str(argument).rsplit("_", 1)[-1]]
    return [_other({ord(one) for one in few}), *few] if negated is not None else few or ["a"]


def _other(characters: set[int]) -> str:
    return next(one for one in "a1 -.\n" if ord(one) not in characters)


@attrs.frozen
class Slow:
    """A string that takes too long: how it begins, and seconds of CPU by length."""

    where: str
    method: str
    string: str
    seconds: dict[int, float]


class _OvertimeError(Exception):
    pass


def measure(pattern: Pattern) -> Slow | None:
    """The first string that takes too long, or None. Only in the main thread of a process that may be killed."""

    def give_up(*_: object) -> None:
        raise _OvertimeError

    signal.signal(signal.SIGVTALRM, give_up)
    compiled = pattern.compiled()
    for attack in attacks(pattern):
        for method in pattern.methods:
            seconds = _growth(_call(compiled, method, pattern.in_bytes), attack)
            if seconds is not None:
                return Slow(pattern.where, method, repr(attack.of_repeats(3)), seconds)
    return None


def _growth(call: Callable[[Any], object], attack: Attack) -> dict[int, float] | None:
    """Seconds by length where they grow too fast, or None."""
    short = attack.of_repeats(REPEATS)
    if (seconds := _seconds(call, short)) > DEAR:
        return {len(short): seconds}
    if _seconds(call, attack.of_length(LONG[-1])) < QUICK:
        return None
    by_length = {length: min(_seconds(call, attack.of_length(length)) for _ in range(3)) for length in LONG}
    growth = min(by_length[longer] / max(by_length[length], 1e-9) for length, longer in itertools.pairwise(LONG))
    longest = by_length[LONG[-1]]
    return by_length if longest > DEAR or (growth > GROWTH and longest > QUICK) else None


def _call(compiled: re.Pattern[Any], method: str, in_bytes: bool) -> Callable[[Any], object]:
    function = getattr(compiled, method)
    if method in {"sub", "subn"}:
        return lambda text: function(b"" if in_bytes else "", text)
    return (lambda text: list(function(text))) if method == "finditer" else function


def _seconds(call: Callable[[Any], object], text: str | bytes) -> float:
    """CPU that a call takes; ``LIMIT`` where it was ended there."""
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    started = time.thread_time()
    try:
        call(text)
    except _OvertimeError:
        return LIMIT
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.thread_time() - started


def main() -> None:
    """Measure the patterns of standard input; one JSON line for each that is slow, after a line that names it."""
    for line in sys.stdin:
        pattern = Pattern(**json.loads(line))
        print(json.dumps({"measuring": pattern.where}), flush=True)
        if (slow := measure(pattern)) is not None:
            print(json.dumps(attrs.asdict(slow)), flush=True)


if __name__ == "__main__":
    main()
