"""Tells twistd of ``crowdd``."""

from twisted.application.service import ServiceMaker

crowdd = ServiceMaker("crowdd", "crowdd.tap", "A crowdsourcing server", "crowdd")
