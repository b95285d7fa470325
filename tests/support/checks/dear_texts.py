"""Texts in Markdown that would take long to lay out if there were no limits."""

FINDING = ("|a" * 1500 + "\n" + "|-" * 1500 + "\n" + "x\n" * 60 + "\n") * 150
DEAR = {
    "hyphens": "a|b\n" + "-" * 49_980 + "x",
    "brackets": "[" * 16_000,
    "pictures": "![" * 25_000,
    "links": "[a](" * 12_000,
    "emphasis": "**a*b_c__" * 5_500,
    "references": "[a]: " + "x" * 25_000 + "\n\n" + "[a] " * 6_000,
    "narrow tables": "a|\n-|\n" + "x\n" * 24_000,
    "wide tables": FINDING[:49_000],
    "open elements": "".join(f"<b x={n}>" for n in range(1_900)) + "\n\na" * 10_000,
    "open links": f"<a href='{'x' * 1900}'>" + "\n\na" * 15_000,
    "lines": "x\n" * 25_000,
}
