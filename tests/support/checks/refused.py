"""Addresses that lead where crowdd must not go, and a word of the reason that its owner has to read.

``PORT`` stands for a port on which a listener waits that must never hear from us. Names end in .example and resolve as
``NAMES`` says; a list of lists is what a name resolves to at its first, second … look-up.
"""

from __future__ import annotations

PORT = "65001"

NAMES: dict[str, list[list[str]]] = {
    "private.example": [["10.1.2.3"]],
    "loopback.example": [["127.0.0.1"]],
    "both.example": [["93.184.216.34", "127.0.0.1"]],
    "six.example": [["::1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "nat64.example": [["64:ff9b::7f00:1"]],
    "metadata.example": [["169.254.169.254"]],
    "nowhere.example": [[]],
    # Public when it is checked, ours when it is asked again.
    "rebinding.example": [["192.0.2.1"], ["127.0.0.1"]],
    "public.example": [["93.184.216.34"]],
}

REFUSED: dict[str, str] = {
    f"http://127.0.0.1:{PORT}/": "loopback",
    f"http://127.8.9.10:{PORT}/": "loopback",
    f"http://0.0.0.0:{PORT}/": "this host",
    f"http://10.0.0.7:{PORT}/": "private",
    f"http://172.16.3.4:{PORT}/": "private",
    f"http://192.168.1.1:{PORT}/": "private",
    f"http://100.64.0.1:{PORT}/": "provider",
    "http://169.254.169.254/latest/meta-data/": "link-local",
    f"http://224.0.0.1:{PORT}/": "multicast",
    f"http://255.255.255.255:{PORT}/": "broadcast",
    f"http://[::1]:{PORT}/": "loopback",
    f"http://[::]:{PORT}/": "this host",
    f"http://[fe80::1]:{PORT}/": "link-local",
    f"http://[fe80::1%25lo]:{PORT}/": "one network interface",
    f"http://[fd00::1]:{PORT}/": "private",
    f"http://[ff02::1]:{PORT}/": "multicast",
    f"http://[::ffff:127.0.0.1]:{PORT}/": "127.0.0.1 in another form, a loopback",
    f"http://[::ffff:7f00:1]:{PORT}/": "127.0.0.1 in another form, a loopback",
    f"http://[::127.0.0.1]:{PORT}/": "127.0.0.1 in another form, a loopback",
    f"http://[2002:7f00:1::]:{PORT}/": "127.0.0.1 in another form, a loopback",
    f"http://[64:ff9b::a00:1]:{PORT}/": "10.0.0.1 in another form, a private",
    f"http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]:{PORT}/": "Teredo",
    f"http://[2a00:1450::5efe:7f00:1]:{PORT}/": "127.0.0.1 in another form, a loopback",
    f"http://2130706433:{PORT}/": "stands for 127.0.0.1",
    f"http://0x7f000001:{PORT}/": "stands for 127.0.0.1",
    f"http://0x7f.1:{PORT}/": "stands for 127.0.0.1",
    f"http://0177.0.0.1:{PORT}/": "stands for 127.0.0.1",
    f"http://127.1:{PORT}/": "stands for 127.0.0.1",
    f"http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460:{PORT}/": "loopback",
    f"http://127%2e0.0.1:{PORT}/": "no host",
    f"http://localhost:{PORT}/": "loopback",
    f"http://localhost.:{PORT}/": "loopback",
    f"http://private.example:{PORT}/": "private",
    f"http://loopback.example:{PORT}/": "loopback",
    f"http://both.example:{PORT}/": "loopback",
    f"http://six.example:{PORT}/": "loopback",
    f"http://mapped.example:{PORT}/": "loopback",
    f"http://nat64.example:{PORT}/": "127.0.0.1 in another form, a loopback",
    "http://metadata.example/": "link-local",
    f"http://rebinding.example:{PORT}/": "reserved",
    "http://public.example:25/": "web port",
    "http://public.example:22/": "web port",
    "http://public.example:6379/": "web port",
    "http://public.example:70000/": "port",
    "file:///etc/passwd": "http",
    "gopher://127.0.0.1/": "http",
    f"//127.0.0.1:{PORT}/": "http",
    f"http://public.example@127.0.0.1:{PORT}/": "user",
    f"http://user:secret@public.example:{PORT}/": "user",
    f"http://127.0.0.1:{PORT}\\@public.example/": "backslash",
    f"http://public.example\t@127.0.0.1:{PORT}/": "control",
    "http://public.example/a\r\nHost: other/": "control",
    "http:///path": "no host",
    "http://[::1/": "not valid",
    f"http://{'a' * 2000}.example/": "longer",
}
