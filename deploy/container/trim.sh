#!/bin/sh
# Takes out of a virtual environment what no server reads, and writes byte code of the rest: the Dockerfile calls it, because
# the user of the image can write neither. It leaves two thirds of what pip installs.
#
#     trim.sh /crowdd
set -eu
cd "$1"

# Tests of packages, the part of Twisted that speaks SSH, and what compilers read.
find . -type d \( -name test -o -name tests -o -path '*/twisted/conch' \) -prune -exec rm -r {} +
find . -path ./include -prune -o -type f \( -name '*.[ach]' -o -name '*.pyx' -o -name '*.pyi' -o -name ecpg \) -exec rm {} +

# How other languages than those of the pages write dates and numbers, and how to colour source code.
find . -path '*/babel/locale-data/*' ! -name 'root.dat' ! -name 'en*.dat' ! -name 'ar*.dat' ! -name 'de*.dat' \
  ! -name 'es*.dat' ! -name 'fr*.dat' -type f -delete
find . -path '*/pygments/lexers/[a-z]*' -type f -delete

# Names of functions, for debuggers. Libraries that auditwheel changed (*.libs) are left as they are.
find . -type f \( -name '*.cpython-*.so' -o -name '*.abi3.so' -o -path '*/pginstall/bin/*' \) -exec strip --strip-unneeded {} +

# Of modules that a server may import, and not of all that there are.
find . -name __pycache__ -prune -exec rm -r {} +
bin/python - <<'END'
import contextlib
import importlib
import pkgutil

import crowdd
from crowdd.kernel.lazy import load_all

for module in pkgutil.walk_packages(crowdd.__path__, "crowdd."):
    with contextlib.suppress(ModuleNotFoundError):  # of an extra that the image does not have
        importlib.import_module(module.name)
load_all(seldom=True)
END
